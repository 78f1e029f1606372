//! MJCF, the format of MuJoCo: bodies inside of bodies, each moved by the joints that stand in it.
//!
//! A body with several joints hangs on a chain of links without mass, one joint each. Constraints of MuJoCo give
//! way a little; here they hold.

mod attributes;
mod geom;
mod included;

use crate::Request;
use crate::robot::{Actuator, Coupling, Joint, Link, Motion, Robot};
use crate::xml::{Element, Left};
use attributes::{Attributes, Classes};
use geom::{Meshes, Weight};
use included::Files;
use kreisel::model::{ModelError, ModelErrors, Place};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use std::collections::HashMap;

/// Reads a robot.
pub fn read(request: &Request<'_>) -> Result<Robot, ModelErrors> {
    let files = Files::gather(request)?;
    let documents = files.parse()?;
    let tree = documents.tree();
    let root = tree.root();
    if root.tag() != "mujoco" {
        return Err(root.mistake(format!("an MJCF file holds a `<mujoco>`, not `<{}>`", root.tag())).into());
    }
    let settings = Settings::read(&tree.sections("compiler"))?;
    let classes = Classes::read(&tree, &tree.sections("default"))?;
    let mut reader = Reader {
        request,
        tree: &tree,
        meshes: Meshes::default(),
        colours: HashMap::new(),
        classes,
        settings,
        links: Vec::new(),
        joints: Vec::new(),
        bodies: HashMap::new(),
        named: HashMap::new(),
        sites: HashMap::new(),
        left: Left::default(),
    };
    reader.settings_left(&tree.sections("compiler"));
    reader.assets()?;
    let mut errors = ModelErrors::new();
    for world in tree.sections("worldbody") {
        let above = Above { body: None, frame: Isometry3::identity(), class: None, depth: 0 };
        let mut none = OwnParts::default();
        errors.keep(reader.inside(world, &above, &mut none));
        for (body, above) in std::mem::take(&mut none.bodies) {
            errors.keep(reader.body(body, &above));
        }
        if none.weights.iter().any(|weight| weight.mass > 0.0) || !none.looks.is_empty() {
            reader.left.count("shape of the world");
        }
    }
    errors.into_result()?;
    if reader.links.is_empty() {
        return Err(root.mistake("the file has no bodies").into());
    }
    reader.scale_masses();
    let couplings = reader.equalities()?;
    let actuators = reader.actuators()?;
    let gravity = reader.options()?;
    reader.rest();
    let name = root.word("model").unwrap_or("robot").to_owned();
    let Reader { links, joints, left, .. } = reader;
    Ok(Robot { name, gravity, links, joints, couplings, actuators, left: left.sentences() })
}

/// What `<compiler>` says.
struct Settings {
    /// A unit of angles in rad.
    angle: f64,
    /// Letters of the axes of Euler angles.
    sequence: String,
    /// Whether a range alone makes a bound.
    autolimits: bool,
    /// Folder of surfaces below that of the file.
    meshdir: String,
    inertia: FromGeoms,
    /// Least mass and inertia of bodies.
    least: [f64; 2],
    /// Mass of all bodies, to which their own are scaled.
    total: Option<f64>,
}

/// When masses come from shapes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FromGeoms {
    Never,
    Always,
    WhereMissing,
}

impl Settings {
    fn read(sections: &[Element<'_>]) -> Result<Self, ModelError> {
        let mut settings = Self {
            angle: 1.0_f64.to_radians(),
            sequence: "xyz".to_owned(),
            autolimits: true,
            meshdir: String::new(),
            inertia: FromGeoms::WhereMissing,
            least: [0.0; 2],
            total: None,
        };
        for compiler in sections {
            let word = |name| compiler.word(name);
            match word("angle") {
                Some("radian") => settings.angle = 1.0,
                Some("degree") => settings.angle = 1.0_f64.to_radians(),
                Some(other) => return Err(unknown(*compiler, "angle", other, "degree, radian")),
                None => {}
            }
            if let Some(sequence) = word("eulerseq") {
                if sequence.len() != 3 || !sequence.chars().all(|axis| "xyzXYZ".contains(axis)) {
                    return Err(unknown(
                        *compiler,
                        "eulerseq",
                        sequence,
                        "three of x, y, z (turning) and X, Y, Z (fixed)",
                    ));
                }
                sequence.clone_into(&mut settings.sequence);
            }
            if let Some(flag) = compiler.flag("autolimits")? {
                settings.autolimits = flag;
            }
            if word("coordinate") == Some("global") {
                return Err(compiler.mistake(
                    "global coordinates are not read: no MuJoCo since 2.3.3 does either; save the file with an older one",
                ));
            }
            for name in ["assetdir", "meshdir"] {
                if let Some(folder) = word(name) {
                    folder.clone_into(&mut settings.meshdir);
                }
            }
            settings.inertia = match word("inertiafromgeom") {
                Some("true") => FromGeoms::Always,
                Some("false") => FromGeoms::Never,
                Some("auto") => FromGeoms::WhereMissing,
                Some(other) => return Err(unknown(*compiler, "inertiafromgeom", other, "true, false, auto")),
                None => settings.inertia,
            };
            if let Some(total) = compiler.number("settotalmass")? {
                settings.total = (total > 0.0).then_some(total);
            }
            for (place, name) in ["boundmass", "boundinertia"].into_iter().enumerate() {
                settings.least[place] = compiler.number(name)?.unwrap_or(settings.least[place]);
            }
        }
        Ok(settings)
    }
}

fn unknown(element: Element<'_>, name: &str, found: &str, known: &str) -> ModelError {
    element.mistake(format!("`{name}` of `<{}>` cannot be `{found}`; known: {known}", element.tag()))
}

struct Reader<'a, 'd> {
    request: &'a Request<'a>,
    tree: &'a included::Tree<'d>,
    meshes: Meshes,
    /// Colours of materials.
    colours: HashMap<&'d str, [f64; 4]>,
    classes: Classes<'d>,
    settings: Settings,
    links: Vec<Link>,
    joints: Vec<Joint>,
    /// Links of bodies by their names.
    bodies: HashMap<&'d str, usize>,
    /// Joints by their names.
    named: HashMap<&'d str, usize>,
    /// Sites by their names: link, none for the world, and frame in the world.
    sites: HashMap<&'d str, (Option<usize>, Isometry3<f64>)>,
    left: Left,
}

/// Where a body hangs.
#[derive(Clone)]
struct Above<'d> {
    /// Link of the body; none for the world.
    body: Option<usize>,
    /// Frame in the world.
    frame: Isometry3<f64>,
    /// Class of elements that name none.
    class: Option<&'d str>,
    depth: usize,
}

/// What stands in a body itself.
#[derive(Default)]
struct OwnParts<'d> {
    weights: Vec<Weight>,
    looks: Vec<crate::robot::Look>,
    joints: Vec<JointDraft>,
    markers: Vec<(String, Isometry3<f64>)>,
    inertial: Option<Weight>,
    /// Bodies inside, and where they hang: they come after the joints of this one.
    bodies: Vec<(Element<'d>, Above<'d>)>,
}

/// A joint before its links are known.
struct JointDraft {
    joint: Joint,
    name: Option<usize>,
}

impl<'d> Reader<'_, 'd> {
    fn attributes(&self, element: Element<'d>, above: &Above<'d>) -> Result<Attributes<'d>, ModelError> {
        self.classes.attributes(element, above.class)
    }

    /// Reads what stands in a body, a frame or the world.
    fn inside(
        &mut self,
        element: Element<'d>,
        above: &Above<'d>,
        own: &mut OwnParts<'d>,
    ) -> Result<(), ModelErrors> {
        let mut errors = ModelErrors::new();
        for part in self.tree.elements(element) {
            match part.tag() {
                "body" => own.bodies.push((part, above.clone())),
                "frame" => {
                    let here = self.attributes(part, above).and_then(|given| self.pose(&given));
                    let Some(here) = errors.keep(here) else { continue };
                    let class = part.word("childclass").or(above.class);
                    let inner = Above { frame: above.frame * here, class, depth: above.depth + 1, ..*above };
                    errors.keep(self.inside(part, &inner, own));
                }
                "geom" => {
                    let read = self.attributes(part, above).and_then(|given| self.geom(&given));
                    let Some((weight, look)) = errors.keep(read) else { continue };
                    let to_world = |pose: Isometry3<f64>| above.frame * pose;
                    own.weights.extend(weight.map(|weight| weight.moved(&to_world)));
                    own.looks.extend(look.map(|mut look| {
                        look.frame = to_world(look.frame);
                        look
                    }));
                }
                "joint" | "freejoint" => {
                    let read = self.attributes(part, above).and_then(|given| self.joint(&given, above));
                    own.joints.extend(errors.keep(read));
                }
                "inertial" => {
                    let weight = self.inertial(part);
                    own.inertial = errors.keep(weight).map(|weight| weight.moved(&|pose| above.frame * pose));
                }
                "site" => {
                    let pose = self.attributes(part, above).and_then(|given| self.pose_of_line(&given));
                    let Some(pose) = errors.keep(pose) else { continue };
                    let pose = above.frame * pose;
                    let name = part.word("name").unwrap_or("site");
                    self.sites.insert(name, (above.body, pose));
                    own.markers.push((name.to_owned(), pose));
                }
                "camera" | "light" => {}
                "replicate" | "attach" => {
                    let message = format!(
                        "`<{}>` is not read: let MuJoCo write the file with all bodies (`mj_saveLastXML`)",
                        part.tag()
                    );
                    errors.push(part.mistake(message));
                }
                other => self.left.count(format!("`<{other}>` of a body")),
            }
        }
        errors.into_result()
    }

    fn body(&mut self, element: Element<'d>, above: &Above<'d>) -> Result<(), ModelErrors> {
        /// Bodies inside of each other; files are as deep, but frames of included ones may be added.
        const MAX_DEPTH: usize = 1000;
        if above.depth > MAX_DEPTH {
            return Err(element.mistake(format!("bodies are nested more than {MAX_DEPTH} deep")).into());
        }
        let class = element.word("childclass").or(above.class);
        let here = self.pose(&Attributes::own(element))?;
        let frame = above.frame * here;
        let index = self.links.len();
        let name = match element.word("name") {
            Some(name) => {
                if let Some(first) = self.bodies.insert(name, index) {
                    let error = element.mistake(format!("the body `{name}` is there twice"));
                    let first = self.links[first].place.clone();
                    return Err(error.with_related(first, "the first one").into());
                }
                name.to_owned()
            }
            None => format!("body_{}", index + 1),
        };
        let mut link = Link::new(name.clone(), element.place());
        link.frame = frame;
        self.links.push(link);
        for (key, what) in [("gravcomp", "gravity taken off"), ("mocap", "motion set from outside")] {
            if element.word(key).is_some_and(|value| !["0", "false"].contains(&value)) {
                self.left.tell(element, format!("{what} of `{name}` (`{key}`)"));
            }
        }
        let mut own = OwnParts::default();
        let inner = Above { body: Some(index), frame, class, depth: above.depth + 1 };
        self.inside(element, &inner, &mut own)?;
        let to_link = frame.inverse();
        let weight = match (self.settings.inertia, own.inertial) {
            (FromGeoms::Never | FromGeoms::WhereMissing, Some(given)) => given,
            (FromGeoms::Never, None) => Weight::none(),
            _ => Weight::sum(&own.weights),
        };
        let mut weight = weight.moved(&|pose| to_link * pose).in_axes();
        let [mass, inertia] = self.settings.least;
        weight.mass = weight.mass.max(mass);
        if inertia > 0.0 {
            let mut moments = weight.inertia.symmetric_eigen();
            moments.eigenvalues.iter_mut().for_each(|moment| *moment = moment.max(inertia));
            weight.inertia = moments.recompose();
        }
        let link = &mut self.links[index];
        (link.mass, link.centre, link.inertia) =
            (weight.mass, weight.pose.translation.vector, weight.inertia);
        link.looks = own.looks;
        link.looks.iter_mut().for_each(|look| look.frame = to_link * look.frame);
        link.markers = own.markers.into_iter().map(|(name, pose)| (name, to_link * pose)).collect();
        self.hang(index, above.body, own.joints, &name, &element.place());
        let mut errors = ModelErrors::new();
        for (inside, here) in own.bodies {
            errors.keep(self.body(inside, &here));
        }
        errors.into_result()
    }

    /// Joins a body to the one above: by its joints, one after the other, with links without mass between them.
    fn hang(
        &mut self,
        body: usize,
        above: Option<usize>,
        drafts: Vec<JointDraft>,
        name: &str,
        place: &Place,
    ) {
        if drafts.is_empty() {
            self.joints.push(Joint::new(format!("{name}_weld"), place.clone(), Motion::Fixed, above, body));
            return;
        }
        let count = drafts.len();
        let mut parent = above;
        for (number, JointDraft { mut joint, name: key }) in drafts.into_iter().enumerate() {
            let child = if number + 1 == count {
                body
            } else {
                let mut link = Link::new(format!("{name}_between_{}", number + 1), place.clone());
                link.frame = self.links[body].frame;
                self.links.push(link);
                self.links.len() - 1
            };
            (joint.parent, joint.child) = (parent, child);
            if let Some(key) = key {
                // Its place among the joints was not known before.
                let index = self.joints.len();
                self.named.values_mut().filter(|value| **value == key).for_each(|value| *value = index);
            }
            self.joints.push(joint);
            parent = Some(child);
        }
    }

    fn inertial(&self, element: Element<'d>) -> Result<Weight, ModelError> {
        element.needed("pos")?;
        let pose = self.pose(&Attributes::own(element))?;
        let mass = element.needed_number("mass")?;
        let inertia = match (element.array::<6>("fullinertia")?, element.vector("diaginertia")?) {
            (Some([xx, yy, zz, xy, xz, yz]), None) => Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
            (None, Some(moments)) => Matrix3::from_diagonal(&moments),
            (None, None) => Matrix3::zeros(),
            _ => return Err(element.mistake("both `fullinertia` and `diaginertia` are given")),
        };
        if mass < 0.0 {
            return Err(element.mistake("the mass is negative"));
        }
        Ok(Weight { mass, pose, inertia })
    }

    fn joint(&mut self, given: &Attributes<'d>, above: &Above<'d>) -> Result<JointDraft, ModelError> {
        let element = given.element();
        let free = element.tag() == "freejoint";
        let motion = match given.word("type").filter(|_| !free).unwrap_or(if free { "free" } else { "hinge" })
        {
            "free" => Motion::Floating,
            "ball" => Motion::Spherical,
            "slide" => Motion::Prismatic,
            "hinge" => Motion::Revolute,
            other => return Err(unknown(element, "type", other, "free, ball, slide, hinge")),
        };
        let body = above.body.map_or("world", |body| self.links[body].name.as_str()).to_owned();
        if above.body.is_none() {
            return Err(element.mistake("the world itself cannot move: a joint stands in a body"));
        }
        // Places of joints are known when their body is complete.
        let key = usize::MAX - self.named.len();
        let name = match element.word("name") {
            Some(name) => {
                if self.named.insert(name, key).is_some() {
                    return Err(element.mistake(format!("the joint `{name}` is there twice")));
                }
                name.to_owned()
            }
            None => format!("{body}_joint"),
        };
        let mut joint = Joint::new(name.clone(), element.place(), motion, None, 0);
        let position = given.vector("pos")?.unwrap_or_default();
        joint.point = above.frame.transform_point(&position.into()).coords;
        let axis = given.vector("axis")?.unwrap_or_else(Vector3::z);
        let axis = axis.try_normalize(1e-12);
        let direction = || element.mistake(format!("the axis of the joint `{name}` has no direction"));
        joint.axis = above.frame.rotation * axis.ok_or_else(direction)?;
        let loss = |key: &str| {
            let value = given.first("joint", key)?.unwrap_or(0.0);
            let message = || format!("the {key} of the joint `{name}` is negative: it would drive it");
            if value < 0.0 { Err(element.mistake(message())) } else { Ok(value) }
        };
        (joint.damping, joint.friction, joint.stiffness) =
            (loss("damping")?, loss("frictionloss")?, loss("stiffness")?);
        let unit = if motion == Motion::Prismatic { 1.0 } else { self.settings.angle };
        let drawn = given.number("ref")?.unwrap_or(0.0) * unit;
        joint.rest = given.number("springref")?.unwrap_or(0.0) * unit - drawn;
        if drawn != 0.0 {
            self.left.tell(element, format!("`ref` of `{name}`: its coordinate is 0 where the file draws it; bounds and spring are moved by as much"));
        }
        let bounds = given.array::<2>("range")?;
        let limited = match given.word("limited") {
            None | Some("auto") => self.settings.autolimits && bounds.is_some(),
            Some("true") => true,
            Some("false") => false,
            Some(other) => return Err(unknown(element, "limited", other, "true, false, auto")),
        };
        if limited {
            let [lower, upper] = bounds.unwrap_or_default().map(|bound| bound * unit - drawn);
            if !matches!(motion, Motion::Revolute | Motion::Prismatic) {
                self.left.tell(element, format!("bounds of `{name}`, which has several coordinates"));
            } else if lower < upper {
                (joint.lower, joint.upper) = (Some(lower), Some(upper));
            } else {
                self.left
                    .tell(element, format!("bounds of `{name}`: {lower} to {upper} leaves no way to go"));
            }
        }
        if motion == Motion::Floating && (joint.damping > 0.0 || joint.friction > 0.0) {
            self.left.tell(element, format!("damping and friction of `{name}`, which holds nothing"));
        }
        if given.first("joint", "armature")?.is_some_and(|armature| armature != 0.0) {
            self.left.tell(element, format!("inertia of a rotor (`armature`) of `{name}`"));
        }
        if given.word("springdamper").is_some() {
            self.left.tell(element, format!("`springdamper` of `{name}`"));
        }
        if given.word("actuatorfrcrange").is_some() {
            self.left.count("largest force of actuators of a joint");
        }
        Ok(JointDraft { joint, name: Some(key) })
    }

    /// Joints that hold between bodies beside the tree, and coordinates that follow others.
    fn equalities(&mut self) -> Result<Vec<Coupling>, ModelErrors> {
        let mut couplings = Vec::new();
        let mut errors = ModelErrors::new();
        let world = Above { body: None, frame: Isometry3::identity(), class: None, depth: 0 };
        for section in self.tree.sections("equality") {
            for element in self.tree.elements(section) {
                let Some(given) = errors.keep(self.classes.attributes_of(element, world.class, "equality"))
                else {
                    continue;
                };
                let name = element.word("name").map_or_else(|| element.tag().to_owned(), str::to_owned);
                if given.word("active") == Some("false") {
                    self.left.tell(element, format!("the constraint `{name}`, which is not active"));
                    continue;
                }
                match element.tag() {
                    "connect" | "weld" => {
                        let joint = self.loop_joint(&given, name);
                        self.joints.extend(errors.keep(joint).flatten());
                    }
                    "joint" => {
                        let coupling = self.coupling(&given);
                        couplings.extend(errors.keep(coupling).flatten());
                    }
                    other => self.left.tell(element, format!("a constraint `<{other}>`")),
                }
            }
        }
        errors.into_result()?;
        Ok(couplings)
    }

    /// The link that an attribute names; none for the world.
    fn end(&self, given: &Attributes<'d>, key: &str) -> Result<Option<usize>, ModelError> {
        let Some(name) = given.word(key).filter(|name| *name != "world") else { return Ok(None) };
        let found = self.bodies.get(name).copied();
        let error = || {
            let names = self.bodies.keys().copied();
            given.element().mistake(format!("there is no body `{name}`")).with_nearest(name, names)
        };
        found.map(Some).ok_or_else(error)
    }

    fn loop_joint(&mut self, given: &Attributes<'d>, name: String) -> Result<Option<Joint>, ModelError> {
        let element = given.element();
        let weld = element.tag() == "weld";
        let (ends, point) = if let Some(first) = given.word("site1") {
            let second = given.word("site2").unwrap_or_default();
            let site = |name: &str| {
                self.sites.get(name).copied().ok_or_else(|| {
                    let error = element.mistake(format!("there is no site `{name}`"));
                    error.with_nearest(name, self.sites.keys().copied())
                })
            };
            let ((one, at), (two, there)) = (site(first)?, site(second)?);
            let apart = (at.translation.vector - there.translation.vector).norm();
            let turned = at.rotation.angle_to(&there.rotation);
            // As far as numbers of six digits reach.
            if apart > 1e-5 || (weld && turned > 1e-5) {
                self.left.tell(element, format!("the constraint `{name}`: its sites are {apart} m and {turned} rad apart where the robot is drawn"));
                return Ok(None);
            }
            ([one, two], at.translation.vector)
        } else {
            let ends = [self.end(given, "body1")?, self.end(given, "body2")?];
            let frame = |end: Option<usize>| {
                end.map_or_else(Isometry3::identity, |link: usize| self.links[link].frame)
            };
            if weld && given.array::<7>("relpose")?.is_some_and(|pose| pose[3..] != [0.0; 4]) {
                self.left.tell(element, format!("`relpose` of `{name}`: it holds what is drawn"));
            }
            // The anchor of a weld counts in the second body and makes no difference.
            let anchor = if weld { None } else { given.vector("anchor")? };
            (ends, frame(ends[0]).transform_point(&anchor.unwrap_or_default().into()).coords)
        };
        let (parent, child) = match ends {
            [parent, Some(child)] => (parent, child),
            [Some(child), None] => (None, child),
            [None, None] => return Err(element.mistake("the constraint names no body")),
        };
        if parent == Some(child) {
            return Err(element.mistake("the constraint holds a body to itself"));
        }
        let motion = if weld { Motion::Fixed } else { Motion::Spherical };
        let mut joint = Joint::new(name, element.place(), motion, parent, child);
        (joint.point, joint.closes) = (point, true);
        Ok(Some(joint))
    }

    /// The joint that an attribute names.
    fn joint_named(&self, given: &Attributes<'d>, key: &str) -> Result<Option<usize>, ModelError> {
        let Some(name) = given.word(key) else { return Ok(None) };
        let error = || {
            let names = self.named.keys().copied();
            given.element().mistake(format!("there is no joint `{name}`")).with_nearest(name, names)
        };
        self.named.get(name).copied().map(Some).ok_or_else(error)
    }

    fn coupling(&mut self, given: &Attributes<'d>) -> Result<Option<Coupling>, ModelError> {
        let element = given.element();
        let joint = self.joint_named(given, "joint1")?;
        let joint = joint.ok_or_else(|| element.mistake("`<joint>` needs the attribute `joint1`"))?;
        let leader = self.joint_named(given, "joint2")?;
        let one = |index: usize| matches!(self.joints[index].motion, Motion::Revolute | Motion::Prismatic);
        let mut factors = given.numbers("polycoef")?.unwrap_or_else(|| vec![0.0, 1.0]);
        factors.resize(5, 0.0);
        if !one(joint) || leader.is_some_and(|leader| !one(leader) || leader == joint) {
            self.left.tell(element, "a constraint between joints that have not one coordinate each");
            return Ok(None);
        }
        if leader.is_some() && factors[2..].iter().any(|factor| *factor != 0.0) {
            let name = &self.joints[joint].name;
            self.left.tell(element, format!("`{name}` follows by a curve, not by a straight line"));
            return Ok(None);
        }
        Ok(Some(Coupling { joint, leader, multiplier: factors[1], offset: factors[0] }))
    }

    fn actuators(&mut self) -> Result<Vec<Actuator>, ModelErrors> {
        let mut actuators = Vec::new();
        let mut errors = ModelErrors::new();
        for section in self.tree.sections("actuator") {
            for element in self.tree.elements(section) {
                let given = errors.keep(self.classes.attributes(element, None));
                let read = given.map(|given| self.actuator(&given));
                actuators.extend(read.and_then(|read| errors.keep(read)).flatten());
            }
        }
        errors.into_result()?;
        Ok(actuators)
    }

    fn actuator(&mut self, given: &Attributes<'d>) -> Result<Option<Actuator>, ModelError> {
        let element = given.element();
        let name = element.word("name").unwrap_or(element.tag());
        let own = |key: &str, plain: &[&str]| given.word(key).is_none_or(|word| plain.contains(&word));
        let is_plain = match element.tag() {
            "motor" => true,
            "general" => {
                own("dyntype", &["none"]) && own("gaintype", &["fixed"]) && own("biastype", &["none"])
            }
            _ => false,
        };
        if !is_plain {
            let message =
                format!("the actuator `{name}`: `<{}>` sets more than a force in a joint", element.tag());
            self.left.tell(element, message);
            return Ok(None);
        }
        let key = if given.word("joint").is_some() { "joint" } else { "jointinparent" };
        let Some(joint) = self.joint_named(given, key)? else {
            self.left.tell(element, format!("the actuator `{name}`, which drives no joint"));
            return Ok(None);
        };
        if !matches!(self.joints[joint].motion, Motion::Revolute | Motion::Prismatic) {
            self.left.tell(element, format!("the actuator `{name}` of a joint with several coordinates"));
            return Ok(None);
        }
        if given.word("ctrlrange").is_some() || given.word("forcerange").is_some() {
            self.left.count("bounds of what an actuator takes");
        }
        let gear = given.numbers("gear")?.and_then(|gear| gear.first().copied()).unwrap_or(1.0);
        let gain = match element.tag() {
            "general" => given.numbers("gainprm")?.and_then(|gain| gain.first().copied()).unwrap_or(1.0),
            _ => 1.0,
        };
        Ok(Some(Actuator { name: name.to_owned(), joint, gear: gear * gain }))
    }

    /// Acceleration of gravity, and what else acts everywhere.
    fn options(&mut self) -> Result<Vector3<f64>, ModelError> {
        let mut gravity = Vector3::new(0.0, 0.0, -9.81);
        for option in self.tree.sections("option") {
            gravity = option.vector("gravity")?.unwrap_or(gravity);
            for name in ["density", "viscosity"] {
                if option.number(name)?.is_some_and(|value| value != 0.0) {
                    self.left.tell(option, format!("{name} of air or water around"));
                }
            }
            for flag in self.tree.elements(option).into_iter().filter(|inside| inside.tag() == "flag") {
                if flag.word("gravity") == Some("disable") {
                    gravity = Vector3::zeros();
                }
            }
        }
        Ok(gravity)
    }

    /// Gives all bodies together the mass that the compiler asks for.
    fn scale_masses(&mut self) {
        let sum: f64 = self.links.iter().map(|link| link.mass).sum();
        let Some(factor) = self.settings.total.map(|total| total / sum).filter(|factor| factor.is_finite())
        else {
            return;
        };
        for link in &mut self.links {
            link.mass *= factor;
            link.inertia *= factor;
        }
    }

    /// Says what of the compiler's settings is not heeded.
    fn settings_left(&mut self, sections: &[Element<'d>]) {
        for compiler in sections {
            for name in ["inertiagrouprange", "balanceinertia"] {
                if let Some(value) = compiler.word(name).filter(|value| !["false", "0 5"].contains(value)) {
                    self.left.tell(*compiler, format!("`{name}` = {value} of `<compiler>`"));
                }
            }
        }
    }

    /// Says which sections are not read.
    fn rest(&mut self) {
        let read = ["compiler", "default", "worldbody", "equality", "actuator", "option", "asset"];
        let looks = ["visual", "statistic", "size", "custom"];
        for section in self.tree.elements(self.tree.root()) {
            let tag = section.tag();
            if read.contains(&tag) || looks.contains(&tag) {
                continue;
            }
            let count = self.tree.elements(section).len().max(1);
            (0..count).for_each(|_| self.left.count(format!("entry of `<{tag}>`")));
        }
    }

    /// Position and orientation.
    fn pose(&self, given: &Attributes<'d>) -> Result<Isometry3<f64>, ModelError> {
        let position = given.vector("pos")?.unwrap_or_default();
        Ok(Isometry3::from_parts(Translation3::from(position), self.orientation(given)?))
    }

    /// The same of what may lie along a line between two points.
    fn pose_of_line(&self, given: &Attributes<'d>) -> Result<Isometry3<f64>, ModelError> {
        Ok(match given.array::<6>("fromto")? {
            Some(ends) => geom::along(&ends).0,
            None => self.pose(given)?,
        })
    }

    fn orientation(&self, given: &Attributes<'d>) -> Result<UnitQuaternion<f64>, ModelError> {
        let element = given.element();
        let none =
            |name: &str| element.mistake(format!("`{name}` of `<{}>` has no direction", element.tag()));
        let unit = |name: &str, vector: Vector3<f64>| {
            vector.try_normalize(1e-12).map(nalgebra::Unit::new_unchecked).ok_or_else(|| none(name))
        };
        if let Some([x, y, z, angle]) = given.array::<4>("axisangle")? {
            let axis = unit("axisangle", Vector3::new(x, y, z))?;
            return Ok(UnitQuaternion::from_axis_angle(&axis, angle * self.settings.angle));
        }
        if let Some(angles) = given.array::<3>("euler")? {
            let mut turn = UnitQuaternion::identity();
            for (letter, angle) in self.settings.sequence.chars().zip(angles) {
                let axis = match letter.to_ascii_lowercase() {
                    'x' => Vector3::x_axis(),
                    'y' => Vector3::y_axis(),
                    _ => Vector3::z_axis(),
                };
                let step = UnitQuaternion::from_axis_angle(&axis, angle * self.settings.angle);
                turn = if letter.is_lowercase() { turn * step } else { step * turn };
            }
            return Ok(turn);
        }
        if let Some([a, b, c, d, e, f]) = given.array::<6>("xyaxes")? {
            let x = unit("xyaxes", Vector3::new(a, b, c))?;
            let y = Vector3::new(d, e, f);
            let y = unit("xyaxes", y - x.into_inner() * x.dot(&y))?;
            let turn = Matrix3::from_columns(&[x.into_inner(), y.into_inner(), x.cross(&y)]);
            return Ok(UnitQuaternion::from_matrix(&turn));
        }
        if let Some(z) = given.vector("zaxis")? {
            return Ok(geom::turned_to(unit("zaxis", z)?.into_inner()));
        }
        if let Some([w, i, j, k]) = given.array::<4>("quat")? {
            let given = nalgebra::Quaternion::new(w, i, j, k);
            return UnitQuaternion::try_new(given, 1e-12).ok_or_else(|| none("quat"));
        }
        Ok(UnitQuaternion::identity())
    }
}
