//! Machines as URDF: trees of bodies on hinges and slides.
//!
//! The frame of a link is that of the joint that moves it, at its second frame; that of the first link is the
//! ground's or its body's. What URDF has no words for is a mistake with its line where the robot would move
//! otherwise, and is listed where it would not.

use crate::mesh;
use kreisel::lie::Pose;
use kreisel::machine::{BodyEntry, JointEntry, Machine};
use kreisel::model::{Characteristic, Document, ModelErrors, Part, PartReader};
use kreisel::results::scene::Geometry;
use nalgebra::{UnitQuaternion, Vector3};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// A robot in the words of another program.
pub struct Exported {
    /// The file.
    pub text: String,
    /// Surfaces: paths beside the file, and bytes.
    pub surfaces: Vec<(String, Vec<u8>)>,
    /// What is not in it, a sentence each.
    pub left: Vec<String>,
}

/// Kinds that say how a robot is run, moved and looked at: they are left out.
const LEFT_OUT: &[&str] =
    &["simulation", "gravity", "input", "table", "function", "joint-force", "sensor", "event"];

/// What a joint has beside its motion.
#[derive(Default)]
struct Extras {
    bounds: [Option<f64>; 2],
    damping: Option<f64>,
    friction: Option<f64>,
    /// Name of the joint that it follows, ratio and offset.
    mimic: Option<(String, f64, f64)>,
}

/// Writes a machine as URDF; `document` is what it was read from, `name` what the robot is called.
pub fn to_urdf(name: &str, document: &Document, machine: &Machine) -> Result<Exported, ModelErrors> {
    let mut errors = ModelErrors::new();
    let (mut extras, mut left) = (HashMap::<String, Extras>::new(), Vec::new());
    for part in document.parts() {
        errors.keep(look_at(part, machine, &mut extras, &mut left));
    }
    errors.into_result()?;
    let mut writer = Writer {
        machine,
        extras,
        text: String::new(),
        surfaces: Vec::new(),
        left,
        names: HashSet::new(),
        reached: HashSet::new(),
    };
    writer.robot(name, document)?;
    Ok(Exported { text: writer.text, surfaces: writer.surfaces, left: writer.left })
}

/// Takes what a part adds to a joint, and refuses parts that URDF does not know.
fn look_at(
    part: &Part,
    machine: &Machine,
    extras: &mut HashMap<String, Extras>,
    left: &mut Vec<String>,
) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let refuse = |found: &str| Err(reader.unsuitable_part("something that URDF can say", found).into());
    let of = |key: &str| -> Result<String, ModelErrors> {
        Ok(machine.frames().joint(&reader.reference(key)?)?.name.clone())
    };
    match part.kind().name {
        "body" | "marker" | "fixed" => Ok(()),
        "revolute" | "prismatic" => {
            if ["angle", "displacement", "angle-rate", "displacement-rate", "rate"]
                .iter()
                .any(|key| reader.has(key))
            {
                left.push(format!("initial coordinate or rate of `{}`", part.name()));
            }
            Ok(())
        }
        "end-stop" | "torsional-end-stop" => {
            extras.entry(of("joint")?).or_default().bounds =
                [reader.optional_number("lower")?, reader.optional_number("upper")?];
            left.push(format!("stiffness and damping of the end stop `{}`", part.name()));
            Ok(())
        }
        "spring-damper" | "torsional-spring-damper" => {
            let alone = ["stiffness", "preload", "force", "torque", "damping-force", "damping-torque"];
            if !reader.has("joint") || alone.iter().any(|key| reader.has(key)) {
                return refuse("a spring, or one between points; dampers in joints can be said");
            }
            extras.entry(of("joint")?).or_default().damping = reader.optional_number("damping")?;
            Ok(())
        }
        "joint-friction" => {
            let law = match ["force", "torque"].into_iter().find(|key| reader.has(key)) {
                Some(key) => reader.characteristic(key)?,
                None => return refuse("friction by what the joint transmits"),
            };
            let at = |speed: f64| match &law {
                Characteristic::Table(table) => table.evaluate(speed)[0],
                Characteristic::Formula(formula) => formula.evaluate([speed]).0,
            };
            if at(0.0) != at(1.0) || at(1.0) != at(100.0) {
                return refuse("friction that depends on the speed");
            }
            extras.entry(of("joint")?).or_default().friction = Some(at(0.0));
            Ok(())
        }
        "coupling" => {
            let (joints, factors) = (reader.references("joints")?, reader.optional_numbers("factors")?);
            let (Some([one, other]), [_, _]) = (factors.as_deref(), joints.as_slice()) else {
                return refuse("a coupling of more than two coordinates");
            };
            let offset = reader.optional_number("offset")?.unwrap_or(0.0);
            let [follower, leader] = [0, 1]
                .map(|place: usize| machine.frames().joint(&joints[place]).map(|joint| joint.name.clone()));
            extras.entry(follower?).or_default().mimic = Some((leader?, -other / one, offset / one));
            Ok(())
        }
        kind if LEFT_OUT.contains(&kind) => {
            if kind == "joint-force" {
                left.push(format!("the joint-force `{}`", part.name()));
            }
            Ok(())
        }
        kind => refuse(&format!("a `[[{kind}]]`")),
    }
}

struct Writer<'a> {
    machine: &'a Machine,
    extras: HashMap<String, Extras>,
    text: String,
    surfaces: Vec<(String, Vec<u8>)>,
    left: Vec<String>,
    /// Of links.
    names: HashSet<String>,
    /// Names of joints that are written.
    reached: HashSet<String>,
}

/// Writing to a text cannot fail.
macro_rules! put {
    ($self:ident, $($words:tt)*) => {
        let _ = writeln!($self.text, $($words)*);
    };
}

impl Writer<'_> {
    fn robot(&mut self, name: &str, document: &Document) -> Result<(), ModelErrors> {
        put!(self, "<?xml version=\"1.0\"?>");
        put!(self, "<robot name=\"{}\">", escaped(name));
        let is_written = |joint: &&JointEntry| ["fixed", "revolute", "prismatic"].contains(&joint.kind);
        let joints: Vec<&JointEntry> = self.machine.frames().joints().iter().filter(is_written).collect();
        let on_ground: Vec<&&JointEntry> =
            joints.iter().filter(|joint| joint.nodes.contains(&None)).collect();
        let bodies = self.machine.frames().bodies();
        // A robot that stands on the ground begins with what stands there, as robots in URDF do.
        let base = match on_ground.as_slice() {
            [] => bodies.first().map(|first| (first, Pose::identity())),
            [joint] if joint.kind == "fixed" => {
                let side = usize::from(joint.nodes[0].is_none());
                self.reached.insert(joint.name.clone());
                let [below, ground] = [side, 1 - side].map(|side| joint.offsets[side]);
                let body = joint.nodes[side].and_then(|node| self.machine.frames().body_of(node));
                body.map(|body| (body, below.compose(&ground.inverse())))
            }
            _ => None,
        };
        let mut links = HashMap::new();
        let first = if let Some((body, frame)) = base {
            self.link(body, frame);
            links.insert(Some(body.node), frame);
            &body.name
        } else {
            self.names.insert("world".to_owned());
            put!(self, "  <link name=\"world\"/>");
            links.insert(None, Pose::identity());
            "world"
        };
        if !on_ground.is_empty() {
            for (name, frame) in self.machine.frames().ground_markers() {
                self.marker(first, name, frame);
            }
        }
        // A joint is written once what it stands on is.
        while let Some((joint, side)) = joints.iter().find_map(|joint| {
            let side = (0..2).find(|&side| links.contains_key(&joint.nodes[side]))?;
            (!self.reached.contains(&joint.name)).then_some((*joint, side))
        }) {
            self.reached.insert(joint.name.clone());
            let child = joint.nodes[1 - side];
            let Some(body) =
                bodies.iter().find(|body| Some(body.node) == child && !links.contains_key(&child))
            else {
                return Err(refused(
                    document,
                    &joint.name,
                    "a joint of a tree, as URDF has no loops",
                    "one that closes a loop",
                ));
            };
            let frame = joint.offsets[1 - side];
            let parent = links[&joint.nodes[side]];
            self.joint(joint, side, &parent);
            links.insert(child, frame);
            self.link(body, frame);
        }
        if let Some(loose) = bodies.iter().find(|body| !links.contains_key(&Some(body.node))) {
            return Err(refused(
                document,
                &loose.name,
                "held by joints to the others",
                "a body that moves apart from them",
            ));
        }
        put!(self, "</robot>");
        Ok(())
    }

    /// A body with the frame of its link in body axes.
    fn link(&mut self, body: &BodyEntry, frame: Pose) {
        let name = escaped(&body.name);
        self.names.insert(body.name.clone());
        let within = frame.inverse();
        put!(self, "  <link name=\"{name}\">");
        if body.mass > 0.0 {
            let i = body.inertia;
            put!(self, "    <inertial>");
            put!(self, "      {}", origin(&within));
            put!(self, "      <mass value=\"{}\"/>", body.mass);
            put!(
                self,
                "      <inertia ixx=\"{}\" ixy=\"{}\" ixz=\"{}\" iyy=\"{}\" iyz=\"{}\" izz=\"{}\"/>",
                i.m11,
                i.m12,
                i.m13,
                i.m22,
                i.m23,
                i.m33
            );
            put!(self, "    </inertial>");
        }
        let look = self.machine.look_of(body.node).cloned().unwrap_or_default();
        for (place, shape) in look.shapes.iter().filter(|shape| shape.visible).enumerate() {
            let words = match &shape.solid.geometry {
                Geometry::Box { size: [x, y, z] } => format!("<box size=\"{x} {y} {z}\"/>"),
                Geometry::Cylinder { radius, length } => {
                    format!("<cylinder radius=\"{radius}\" length=\"{length}\"/>")
                }
                Geometry::Sphere { radius } => format!("<sphere radius=\"{radius}\"/>"),
                Geometry::Mesh(triangles) => match mesh::stl(triangles) {
                    Ok((bytes, _)) => {
                        let file = format!("meshes/{}-{place}.stl", body.name);
                        self.surfaces.push((file.clone(), bytes));
                        format!("<mesh filename=\"{}\"/>", escaped(&file))
                    }
                    Err(reason) => {
                        self.left.push(format!("a surface of `{}`: {reason}", body.name));
                        continue;
                    }
                },
                _ => {
                    self.left.push(format!("a shape of `{}`, which URDF does not have", body.name));
                    continue;
                }
            };
            put!(self, "    <visual>");
            put!(self, "      {}", origin(&within.compose(&shape.solid.frame)));
            put!(self, "      <geometry>{words}</geometry>");
            if let Some([r, g, b]) =
                shape.colour.as_ref().or(look.colour.as_ref()).and_then(|code| parts(code))
            {
                put!(self, "      <material name=\"{r} {g} {b}\"><color rgba=\"{r} {g} {b} 1\"/></material>");
            }
            put!(self, "    </visual>");
        }
        put!(self, "  </link>");
        for (marker, pose) in &body.markers {
            self.marker(&body.name, marker, &within.compose(pose));
        }
    }

    /// A frame on a link: a link without mass.
    fn marker(&mut self, link: &str, marker: &str, frame: &Pose) {
        let alone = !self.names.contains(marker) && !self.machine.frames().has_body(marker);
        let name = if alone { marker.to_owned() } else { format!("{link}_{marker}") };
        self.names.insert(name.clone());
        let (name, link) = (escaped(&name), escaped(link));
        put!(self, "  <link name=\"{name}\"/>");
        put!(self, "  <joint name=\"{name}_place\" type=\"fixed\">");
        put!(self, "    {}", origin(frame));
        put!(self, "    <parent link=\"{link}\"/>");
        put!(self, "    <child link=\"{name}\"/>");
        put!(self, "  </joint>");
    }

    /// A joint that stands on its first or second body, whose link has this frame.
    fn joint(&mut self, joint: &JointEntry, side: usize, parent: &Pose) {
        let name_of = |side: usize| {
            let body = joint.nodes[side].and_then(|node| self.machine.frames().body_of(node));
            escaped(body.map_or("world", |body| &body.name))
        };
        let (above, below) = (name_of(side), name_of(1 - side));
        let extras = self.extras.remove(&joint.name).unwrap_or_default();
        let [lower, upper] = extras.bounds;
        let kind = match (joint.kind, lower.is_some() || upper.is_some()) {
            ("revolute", false) => "continuous",
            (kind, _) => kind,
        };
        put!(self, "  <joint name=\"{}\" type=\"{kind}\">", escaped(&joint.name));
        put!(self, "    {}", origin(&parent.inverse().compose(&joint.offsets[side])));
        put!(self, "    <parent link=\"{above}\"/>");
        put!(self, "    <child link=\"{below}\"/>");
        if kind != "fixed" {
            // The coordinate is that of the second body; seen from there the first one goes the other way.
            put!(self, "    <axis xyz=\"0 0 {}\"/>", if side == 0 { "1" } else { "-1" });
            if kind != "continuous" {
                let bound =
                    |bound: Option<f64>, none: &str| bound.map_or(none.to_owned(), |bound| bound.to_string());
                let (lower, upper) = (bound(lower, "-1e9"), bound(upper, "1e9"));
                put!(self, "    <limit lower=\"{lower}\" upper=\"{upper}\" effort=\"0\" velocity=\"0\"/>");
            }
            if extras.damping.is_some() || extras.friction.is_some() {
                let [damping, friction] = [extras.damping, extras.friction].map(Option::unwrap_or_default);
                put!(self, "    <dynamics damping=\"{damping}\" friction=\"{friction}\"/>");
            }
            if let Some((leader, ratio, offset)) = extras.mimic {
                put!(
                    self,
                    "    <mimic joint=\"{}\" multiplier=\"{ratio}\" offset=\"{offset}\"/>",
                    escaped(&leader)
                );
            }
        }
        put!(self, "  </joint>");
    }
}

/// The mistake of a part of a name.
fn refused(document: &Document, name: &str, requirement: &str, found: &str) -> ModelErrors {
    let part =
        document.parts().iter().find(|part| part.name() == name).expect("it was read from the document");
    match PartReader::new(part) {
        Ok(reader) => reader.unsuitable_part(requirement, found).into(),
        Err(errors) => errors,
    }
}

/// Place and turn of a frame: about x, then y, then z of the frame around it.
fn origin(frame: &Pose) -> String {
    let [roll, pitch, yaw] = angles(&frame.rotation);
    let [x, y, z]: [f64; 3] = frame.position.into();
    format!("<origin xyz=\"{x} {y} {z}\" rpy=\"{roll} {pitch} {yaw}\"/>")
}

/// Angles about x, y and z, exact where the middle one is a quarter turn, too: what the last leaves is turned back
/// before the others are found.
fn angles(rotation: &UnitQuaternion<f64>) -> [f64; 3] {
    let matrix = rotation.to_rotation_matrix();
    let yaw = matrix[(1, 0)].atan2(matrix[(0, 0)]);
    let back = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -yaw) * rotation;
    let rest = back.to_rotation_matrix();
    [(-rest[(1, 2)]).atan2(rest[(1, 1)]), (-rest[(2, 0)]).atan2(rest[(0, 0)]), yaw]
}

/// Red, green and blue from 0 to 1.
fn parts(code: &str) -> Option<[f64; 3]> {
    let part = |at: usize| Some(f64::from(u8::from_str_radix(code.get(at..at + 2)?, 16).ok()?) / 255.0);
    Some([part(1)?, part(3)?, part(5)?])
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
