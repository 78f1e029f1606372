//! Writes a robot as a model file with its surfaces beside.
//!
//! Links that fixed joints hold together are one body: its frame stands at their common centre of mass, with
//! the axes of the first of them, and those without mass are markers on it.

use crate::mesh;
use crate::name::{Names, plain};
use crate::number::{inertia, is_identity, list, number, orientation, vector};
use crate::robot::{Joint, Link, Look, Motion, Robot, Solid};
use crate::xml::mistake;
use kreisel::model::{ModelError, ModelErrors, is_printable};
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::collections::HashSet;
use std::fmt::{self, Write};

/// A model and the files beside it.
#[derive(Debug)]
pub struct Folder {
    /// What the robot is called, as the name of a folder and of a model file.
    pub name: String,
    /// Text of the model file.
    pub model: String,
    /// Surfaces: paths below the folder, and bytes.
    pub surfaces: Vec<(String, Vec<u8>)>,
    /// What is not taken over.
    pub left: Vec<String>,
    /// Number of bodies and of joints.
    pub counts: [usize; 2],
}

/// Folder of the surfaces.
const SURFACES: &str = "meshes";

/// Writes it down.
pub fn write(robot: &Robot, format: &str) -> Result<Folder, ModelErrors> {
    let bodies = bodies(robot)?;
    let mut writer = Writer {
        robot,
        groups: bodies.0,
        bodies: bodies.1,
        names: Names::default(),
        text: String::new(),
        surfaces: Vec::new(),
        left: robot.left.clone(),
        counts: [0; 2],
    };
    // A text takes whatever is written.
    let _ = writer.all();
    let head = head(robot, format, &writer.left);
    let Writer { text, surfaces, left, counts, .. } = writer;
    Ok(Folder { name: plain(&robot.name), model: head + &text, surfaces, left, counts })
}

/// Links that move together.
struct Body {
    /// The first of them.
    first: usize,
    links: Vec<usize>,
    mass: f64,
    /// Centre of mass in the world.
    centre: Vector3<f64>,
    /// Inertia about it in the axes of the first link.
    inertia: Matrix3<f64>,
    /// Held by the ground.
    held: bool,
    /// Its name, unless it is the ground itself.
    name: Option<String>,
}

/// The bodies, and before them for each link its body.
fn bodies(robot: &Robot) -> Result<(Vec<usize>, Vec<Body>), ModelErrors> {
    let mut up: Vec<Option<Option<usize>>> = vec![None; robot.links.len()];
    for joint in robot.joints.iter().filter(|joint| joint.motion == Motion::Fixed && !joint.closes) {
        up[joint.child].get_or_insert(joint.parent);
    }
    let first = |mut link: usize| {
        // Fixed joints in a circle end the search.
        for _ in 0..robot.links.len() {
            match up[link] {
                Some(Some(parent)) => link = parent,
                _ => break,
            }
        }
        link
    };
    let mut groups = vec![usize::MAX; robot.links.len()];
    let mut bodies: Vec<Body> = Vec::new();
    let firsts: Vec<usize> = (0..robot.links.len()).map(first).collect();
    for (link, &first) in firsts.iter().enumerate() {
        if groups[first] == usize::MAX {
            groups[first] = bodies.len();
            bodies.push(Body::new(first, up[first] == Some(None)));
        }
        groups[link] = groups[first];
        let links = &mut bodies[groups[first]].links;
        if link != first {
            links.push(link);
        }
    }
    let mut errors = ModelErrors::new();
    for (index, body) in bodies.iter_mut().enumerate() {
        body.weigh(&robot.links);
        if let Err(error) = body.check(robot, index, &groups) {
            errors.push(error);
        }
    }
    errors.into_result()?;
    Ok((groups, bodies))
}

impl Body {
    fn new(first: usize, held: bool) -> Self {
        let (centre, inertia) = (Vector3::zeros(), Matrix3::zeros());
        Self { first, links: vec![first], mass: 0.0, centre, inertia, held, name: None }
    }

    /// Adds up the masses of its links.
    fn weigh(&mut self, links: &[Link]) {
        let parts: Vec<&Link> = self.links.iter().map(|link| &links[*link]).collect();
        let at = |link: &Link| link.frame.transform_point(&link.centre.into()).coords;
        self.mass = parts.iter().map(|link| link.mass).sum();
        let first = &links[self.first];
        self.centre = first.frame.translation.vector;
        if self.mass > 0.0 {
            self.centre = parts.iter().map(|link| link.mass * at(link)).sum::<Vector3<f64>>() / self.mass;
        }
        if let [link] = parts.as_slice() {
            // To the last bit.
            (self.centre, self.inertia) = (at(link), link.inertia);
            return;
        }
        let mut sum = Matrix3::zeros();
        for link in parts {
            let turn = link.frame.rotation.to_rotation_matrix();
            let arm = at(link) - self.centre;
            let moved = Matrix3::identity() * arm.norm_squared() - arm * arm.transpose();
            sum += turn * link.inertia * turn.transpose() + link.mass * moved;
        }
        let turn = first.frame.rotation.to_rotation_matrix();
        let sum = turn.transpose() * sum * turn;
        self.inertia = 0.5 * (sum + sum.transpose());
    }

    /// What is wrong with its inertia, in the words of a model file.
    fn fault(&self) -> Option<String> {
        let moments = self.inertia.symmetric_eigenvalues();
        let (sum, largest, least) = (moments.sum(), moments.max(), moments.min());
        if self.inertia.amax() == 0.0 {
            Some("a mass but no inertia".to_owned())
        } else if !(self.mass.is_finite()
            && sum.is_finite()
            && self.centre.iter().all(|value| value.is_finite()))
        {
            Some("a mass or inertia that is not finite".to_owned())
        } else if least <= 0.0 {
            Some(format!("a principal moment of inertia of {} kg m²", number(least)))
        } else if largest > (sum - largest) + 1e-9 * sum {
            let others = number(sum - largest);
            Some(format!(
                "an inertia that no body has: its largest principal moment, {} kg m², exceeds the sum of the others, {others}",
                number(largest)
            ))
        } else {
            None
        }
    }

    /// Whether it can move as it is asked to.
    fn check(&self, robot: &Robot, index: usize, groups: &[usize]) -> Result<(), ModelError> {
        if self.held {
            return Ok(());
        }
        let link = &robot.links[self.first];
        let others = match self.links.len() {
            1 => String::new(),
            count => format!(" with {} that it holds", count - 1),
        };
        if self.mass == 0.0 {
            let moved = |joint: &&Joint| {
                joint.motion != Motion::Floating && {
                    let parent = joint.parent.map(|parent| groups[parent]);
                    (groups[joint.child] == index) != (parent == Some(index))
                }
            };
            // One joint leaves a part without mass in motion that nothing decides on.
            if robot.joints.iter().filter(moved).count() >= 2 {
                return Ok(());
            }
            let error = mistake(
                format!("the link `{}`{others} moves but has no mass", link.name),
                link.place.clone(),
            );
            return Err(error.with_hint("give it a mass and an inertia, or a joint that is fixed"));
        }
        match self.fault() {
            None => Ok(()),
            Some(fault) => {
                let error =
                    mistake(format!("the link `{}`{others} has {fault}", link.name), link.place.clone());
                Err(error.with_hint("correct its inertia: about the centre of mass, in kg m²"))
            }
        }
    }
}

/// Comments on top of the file.
fn head(robot: &Robot, format: &str, left: &[String]) -> String {
    let mut text = format!("# {}, imported from {format}.\n", line(&robot.name));
    if left.is_empty() {
        text.push_str("# Everything is taken over.\n");
    } else {
        text.push_str("#\n# Not taken over:\n");
        left.iter().for_each(|what| text.push_str(&format!("# - {}\n", line(what))));
    }
    text
}

/// A text of the robot's file as part of a comment.
fn line(text: &str) -> String {
    text.chars()
        .map(|letter| if is_printable(letter) { letter } else { char::REPLACEMENT_CHARACTER })
        .take(300)
        .collect()
}

/// Frequency of what hits an end stop, in Hz, if its largest effort does not ask for more.
const STOP_FREQUENCY: f64 = 20.0;
/// What an end stop yields to the largest effort, in rad and in m.
const STOP_YIELD: [f64; 2] = [0.01, 0.001];

struct Writer<'a> {
    robot: &'a Robot,
    groups: Vec<usize>,
    bodies: Vec<Body>,
    names: Names,
    text: String,
    surfaces: Vec<(String, Vec<u8>)>,
    left: Vec<String>,
    counts: [usize; 2],
}

impl Writer<'_> {
    fn all(&mut self) -> fmt::Result {
        let robot = self.robot;
        let any = |has: fn(&Joint) -> bool| robot.joints.iter().any(has);
        let stops = any(|joint| joint.one() && (joint.lower.is_some() || joint.upper.is_some()));
        let losses = any(|joint| joint.one() && (joint.damping > 0.0 || joint.friction > 0.0));
        if stops || losses {
            writeln!(self.text, "\n[parameters]")?;
            if stops {
                writeln!(self.text, "stops = 1     # 0: joints without end stops")?;
            }
            if losses {
                writeln!(self.text, "losses = 1    # 0: joints without damping and friction")?;
            }
        }
        writeln!(
            self.text,
            "\n[simulation]\nend-time = 1\n\n[gravity]\nacceleration = {}",
            vector(&robot.gravity)
        )?;
        for index in 0..self.bodies.len() {
            self.body(index)?;
        }
        // Joints lead to others in couplings and forces by their index.
        let mut names: Vec<Option<String>> = Vec::new();
        for joint in &robot.joints {
            let name = self.joint(joint)?;
            names.push(name);
        }
        for coupling in &robot.couplings {
            let (Some(Some(follower)), leader) = (names.get(coupling.joint), coupling.leader) else {
                continue;
            };
            let leader = leader.and_then(|leader| names.get(leader)).and_then(Option::as_ref);
            let name = self.names.give(&format!("{follower}_coupling"), "part");
            let (joints, factors) = match leader {
                Some(leader) => {
                    (format!("[\"{follower}\", \"{leader}\"]"), list([1.0, -coupling.multiplier]))
                }
                None => (format!("[\"{follower}\"]"), list([1.0])),
            };
            writeln!(self.text, "\n[[coupling]]\nname = \"{name}\"\njoints = {joints}")?;
            writeln!(self.text, "factors = {factors}\noffset = {}", number(coupling.offset))?;
        }
        for actuator in &robot.actuators {
            let Some(Some(joint)) = names.get(actuator.joint) else { continue };
            let kind = effort_key(&robot.joints[actuator.joint]);
            // Dashes would be signs in the expression.
            let wanted = format!("{}_{kind}", plain(&actuator.name).replace('-', "_"));
            let input = self.names.give(&wanted, "input");
            let name = self.names.give(&format!("{joint}_motor"), "part");
            let factor =
                if actuator.gear == 1.0 { String::new() } else { format!("{}*", number(actuator.gear)) };
            writeln!(self.text, "\n[[input]]\nname = \"{input}\"")?;
            writeln!(
                self.text,
                "\n[[joint-force]]\nname = \"{name}\"\njoint = \"{joint}\"\n{kind} = \"{factor}{input}\""
            )?;
        }
        Ok(())
    }

    fn body(&mut self, index: usize) -> fmt::Result {
        let robot = self.robot;
        let body = &self.bodies[index];
        let first = &robot.links[body.first];
        let frame = Isometry3::from_parts(body.centre.into(), first.frame.rotation);
        let markers = markers(robot, body, &frame);
        if body.held && (body.mass == 0.0 || body.fault().is_some()) {
            // The ground itself: what it weighs makes no difference.
            if body.links.iter().any(|link| !robot.links[*link].looks.is_empty()) {
                self.left.push(format!("the looks of `{}`, which is part of the ground", first.name));
            }
            return Ok(());
        }
        let (mass, held) = (body.mass, body.held);
        let name = self.names.give(&first.name, "link");
        self.counts[0] += 1;
        writeln!(self.text, "\n[[body]]\nname = \"{name}\"")?;
        for link in self.bodies[index].links.iter().map(|link| &robot.links[*link]) {
            if link.mass > 0.0 || std::ptr::eq(link, first) {
                let origin = frame.inverse() * nalgebra::Point3::from(link.frame.translation.vector);
                writeln!(
                    self.text,
                    "# the frame of {} stands at {}",
                    line(&link.name),
                    vector(&origin.coords)
                )?;
            }
        }
        if mass == 0.0 {
            writeln!(self.text, "massless = true")?;
        } else {
            let body = &self.bodies[index];
            writeln!(self.text, "mass = {}\ninertia = {}", number(mass), inertia(&body.inertia))?;
        }
        placed(&mut self.text, &frame)?;
        if mass > 0.0 {
            self.look(index, &name, &frame)?;
        }
        if !markers.is_empty() {
            writeln!(self.text, "markers = [")?;
            for (name, pose) in &markers {
                write!(
                    self.text,
                    "    {{ name = \"{name}\", position = {}",
                    vector(&pose.translation.vector)
                )?;
                if !is_identity(&pose.rotation) {
                    write!(self.text, ", orientation = {}", orientation(&pose.rotation))?;
                }
                writeln!(self.text, " }},")?;
            }
            writeln!(self.text, "]")?;
        }
        for (marker, _) in markers {
            writeln!(self.text, "\n[[sensor]]\nquantity = \"position\"\nof = \"{name}.{marker}\"")?;
        }
        if held {
            let weld = self.names.give(&format!("{name}_base"), "joint");
            writeln!(self.text, "\n[[fixed]]\nname = \"{weld}\"\nbodies = [\"ground\", \"{name}\"]")?;
        }
        self.bodies[index].name = Some(name);
        Ok(())
    }

    /// What a body looks like, in axes of the body.
    fn look(&mut self, index: usize, name: &str, frame: &Isometry3<f64>) -> fmt::Result {
        let robot = self.robot;
        let links = self.bodies[index].links.iter().map(|link| &robot.links[*link]);
        let to_body = |link: &Link| frame.inverse() * link.frame;
        let looks: Vec<(Isometry3<f64>, &Look)> = links
            .flat_map(|link| link.looks.iter().map(move |look| (to_body(link) * look.frame, look)))
            .collect();
        let (mut words, mut surfaces) = (Vec::new(), 0);
        for (pose, look) in &looks {
            let alone = looks.len() == 1;
            match self.piece(name, pose, look, alone, &mut surfaces) {
                Ok(text) => words.push(text),
                Err(reason) => self.left.push(format!("the looks of `{name}`: {reason}")),
            }
        }
        match words.as_slice() {
            [] => Ok(()),
            [only] if looks.len() == 1 => writeln!(self.text, "shape = {{ {only} }}"),
            several => {
                writeln!(self.text, "shapes = [")?;
                several.iter().try_for_each(|piece| writeln!(self.text, "    {{ {piece} }},"))?;
                writeln!(self.text, "]")
            }
        }
    }

    /// The words for a shape, alone or among others, in axes of its body. Surfaces become files.
    fn piece(
        &mut self,
        name: &str,
        pose: &Isometry3<f64>,
        look: &Look,
        alone: bool,
        surfaces: &mut usize,
    ) -> Result<String, String> {
        let colour = look.colour.as_ref().map_or_else(String::new, |code| format!(", colour = \"{code}\""));
        if let Some(words) = words(&look.solid) {
            let turn = match is_identity(&pose.rotation) {
                true => String::new(),
                false => format!(", orientation = {}", orientation(&pose.rotation)),
            };
            return Ok(format!("{words}, position = {}{turn}{colour}", vector(&pose.translation.vector)));
        }
        let moved = |corner: Vector3<f64>| pose.transform_point(&corner.into()).coords;
        let triangles: Vec<_> =
            mesh::triangles(&look.solid).into_iter().map(|triangle| triangle.map(moved)).collect();
        let (bytes, centroid) = mesh::stl(&triangles)?;
        *surfaces += 1;
        let number = if *surfaces == 1 { String::new() } else { format!("_{surfaces}") };
        let file = format!("{SURFACES}/{name}{number}.stl");
        // One shape is placed by its centroid, each of several by the origin of its file.
        let place = if alone { format!(", position = {}", vector(&centroid)) } else { String::new() };
        let words = format!("kind = \"stl\", file = \"{file}\"{place}{colour}");
        self.surfaces.push((file, bytes));
        Ok(words)
    }

    /// Writes a joint with its forces; its name, if it is there.
    fn joint(&mut self, joint: &Joint) -> Result<Option<String>, fmt::Error> {
        let child = self.groups[joint.child];
        let parent = joint.parent.map(|parent| self.groups[parent]);
        let inside = parent == Some(child) || (parent.is_none() && self.bodies[child].held);
        if inside && joint.motion == Motion::Fixed || joint.motion == Motion::Floating {
            return Ok(None);
        }
        let name = self.names.give(&joint.name, "joint");
        self.counts[1] += 1;
        let of = |group: Option<usize>| {
            group.and_then(|group| self.bodies[group].name.as_deref()).unwrap_or("ground")
        };
        let bodies = format!("[\"{}\", \"{}\"]", of(parent), of(Some(child)));
        let kind = match joint.motion {
            Motion::Revolute => "revolute",
            Motion::Prismatic => "prismatic",
            Motion::Spherical => "spherical",
            Motion::Planar => "planar",
            Motion::Fixed | Motion::Floating => "fixed",
        };
        writeln!(
            self.text,
            "\n[[{kind}]]\nname = \"{name}\"\nbodies = {bodies}\npoint = {}",
            vector(&joint.point)
        )?;
        if !matches!(joint.motion, Motion::Spherical | Motion::Fixed) {
            writeln!(self.text, "axis = {}", vector(&joint.axis))?;
        }
        if !joint.one() {
            if joint.damping > 0.0 || joint.friction > 0.0 || joint.stiffness > 0.0 {
                self.left.push(format!("damping, friction and stiffness of the {kind} joint `{name}`"));
            }
            return Ok(Some(name));
        }
        let (spring, stop, free, effort) = match joint.motion {
            Motion::Prismatic => ("spring-damper", "end-stop", "free-length", "force"),
            _ => ("torsional-spring-damper", "torsional-end-stop", "free-angle", "torque"),
        };
        if joint.stiffness > 0.0 {
            let part = self.names.give(&format!("{name}_spring"), "part");
            writeln!(self.text, "\n[[{spring}]]\nname = \"{part}\"\njoint = \"{name}\"")?;
            writeln!(self.text, "stiffness = {}\n{free} = {}", number(joint.stiffness), number(joint.rest))?;
        }
        if joint.damping > 0.0 {
            let part = self.names.give(&format!("{name}_damper"), "part");
            writeln!(self.text, "\n[[{spring}]]\nname = \"{part}\"\nwhen = \"losses\"\njoint = \"{name}\"")?;
            writeln!(self.text, "damping = {}", number(joint.damping))?;
        }
        if joint.friction > 0.0 {
            let part = self.names.give(&format!("{name}_friction"), "part");
            writeln!(
                self.text,
                "\n[[joint-friction]]\nname = \"{part}\"\nwhen = \"losses\"\njoint = \"{name}\""
            )?;
            writeln!(self.text, "{effort} = {}", number(joint.friction))?;
        }
        if joint.lower.is_some() || joint.upper.is_some() {
            let moved = self.moved(joint);
            let allowed = STOP_YIELD[usize::from(joint.motion == Motion::Prismatic)];
            let stiffness =
                (moved * (std::f64::consts::TAU * STOP_FREQUENCY).powi(2)).max(joint.effort / allowed);
            if stiffness > 0.0 && stiffness.is_finite() {
                let part = self.names.give(&format!("{name}_stop"), "part");
                writeln!(self.text, "\n[[{stop}]]\nname = \"{part}\"\nwhen = \"stops\"\njoint = \"{name}\"")?;
                for (key, bound) in [("lower", joint.lower), ("upper", joint.upper)] {
                    if let Some(bound) = bound {
                        writeln!(self.text, "{key} = {}", number(bound))?;
                    }
                }
                let [stiffness, damping] = [stiffness, 2.0 * (stiffness * moved).sqrt()].map(rounded);
                writeln!(self.text, "stiffness = {}\ndamping = {}", number(stiffness), number(damping))?;
            }
        }
        Ok(Some(name))
    }

    /// Inertia about the axis, or mass, of all that a joint moves where the robot is drawn.
    fn moved(&self, joint: &Joint) -> f64 {
        let mut waiting = vec![self.groups[joint.child]];
        let mut seen = HashSet::new();
        let mut sum = 0.0;
        while let Some(group) = waiting.pop() {
            if !seen.insert(group) || joint.parent.map(|parent| self.groups[parent]) == Some(group) {
                continue;
            }
            let body = &self.bodies[group];
            if joint.motion == Motion::Prismatic {
                sum += body.mass;
            } else {
                let turned = self.robot.links[body.first].frame.rotation.inverse() * joint.axis;
                let arm = (body.centre - joint.point).cross(&joint.axis);
                sum += turned.dot(&(body.inertia * turned)) + body.mass * arm.norm_squared();
            }
            let beyond =
                self.robot.joints.iter().filter(|next| next.motion != Motion::Floating && !next.closes);
            let beyond = beyond.filter(|next| next.parent.map(|parent| self.groups[parent]) == Some(group));
            waiting.extend(beyond.map(|next| self.groups[next.child]));
        }
        sum
    }
}

/// Three digits: more would say more than is known.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

impl Joint {
    /// Whether it has one coordinate.
    fn one(&self) -> bool {
        matches!(self.motion, Motion::Revolute | Motion::Prismatic)
    }
}

/// What acts along the coordinate of a joint.
fn effort_key(joint: &Joint) -> &'static str {
    if joint.motion == Motion::Prismatic { "force" } else { "torque" }
}

/// Links of a body that are nothing but frames, such as tools, and what else is marked on it, seen from the
/// body; frames on the ground do not move.
fn markers(robot: &Robot, body: &Body, frame: &Isometry3<f64>) -> Vec<(String, Isometry3<f64>)> {
    let mut names = Names::default();
    let mut markers = Vec::new();
    for link in body.links.iter().filter(|_| !body.held) {
        let is_frame = *link != body.first && robot.links[*link].mass == 0.0;
        let link = &robot.links[*link];
        let own = frame.inverse() * link.frame;
        if is_frame {
            markers.push((names.give(&link.name, "link"), own));
        }
        for (name, pose) in &link.markers {
            markers.push((names.give(name, "marker"), own * pose));
        }
    }
    markers
}

/// Position and orientation.
fn placed(text: &mut String, pose: &Isometry3<f64>) -> fmt::Result {
    writeln!(text, "position = {}", vector(&pose.translation.vector))?;
    if is_identity(&pose.rotation) {
        Ok(())
    } else {
        writeln!(text, "orientation = {}", orientation(&pose.rotation))
    }
}

/// A shape that model files know.
fn words(solid: &Solid) -> Option<String> {
    let round = |kind, radius: &f64, length: &f64| {
        format!("kind = \"{kind}\", radius = {}, length = {}", number(*radius), number(*length))
    };
    match solid {
        Solid::Box(size) => Some(format!("kind = \"box\", size = {}", vector(size))),
        Solid::Cylinder(radius, length) => Some(round("cylinder", radius, length)),
        Solid::Capsule(radius, length) => Some(round("capsule", radius, length)),
        Solid::Sphere(radius) => Some(format!("kind = \"sphere\", radius = {}", number(*radius))),
        Solid::Ellipsoid(_) | Solid::Mesh(_) => None,
    }
}
