//! SDF, the format of Gazebo: models of links and joints whose poses count from any of their frames.
//!
//! A joint whose links others hold together already closes a loop. Universal and screw joints are two joints with
//! a link without mass between them.

mod frames;

use crate::Request;
use crate::mesh;
use crate::robot::{Actuator, Coupling, Joint, Link, Look, Motion, Robot, Solid};
use crate::xml::{self, Element, Left};
use frames::{Frames, WORLD};
use kreisel::model::{ModelError, ModelErrors};
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::collections::HashMap;

/// Reads the models of a file.
pub fn read(request: &Request<'_>) -> Result<Robot, ModelErrors> {
    let document = xml::parse(request.file)?;
    let root = Element::root(&document, request.file);
    if root.tag() != "sdf" {
        return Err(root.mistake(format!("an SDF file holds an `<sdf>`, not `<{}>`", root.tag())).into());
    }
    let world = root.first("world");
    let models: Vec<Element<'_>> =
        root.all("model").chain(world.iter().flat_map(|world| world.all("model"))).collect();
    let mut reader = Reader {
        request,
        old_axes: version(root)? < (1, 7),
        links: Vec::new(),
        known: HashMap::new(),
        joints: Vec::new(),
        couplings: Vec::new(),
        actuators: Vec::new(),
        left: Left::default(),
    };
    let Some(first) = models.first() else {
        return Err(root.mistake("the file has no models").into());
    };
    let mut frames = Frames::default();
    let outer = world.unwrap_or(root);
    for model in &models {
        let scope = if models.len() == 1 { String::new() } else { format!("{}::", model.needed("name")?) };
        frames.add_model(*model, &scope, WORLD)?;
    }
    outer.all("frame").try_for_each(|frame| frames.add_frame(frame, "", WORLD))?;
    let mut errors = ModelErrors::new();
    for model in &models {
        let scope = if models.len() == 1 { String::new() } else { format!("{}::", model.needed("name")?) };
        errors.keep(reader.model(*model, &scope, &frames));
    }
    for joint in outer.all("joint") {
        errors.keep(reader.joint(joint, "", &frames));
    }
    errors.into_result()?;
    if reader.links.is_empty() {
        return Err(root.mistake("the models have no links").into());
    }
    for inside in outer.elements() {
        let known = [
            "model",
            "frame",
            "joint",
            "gravity",
            "world",
            "physics",
            "scene",
            "gui",
            "spherical_coordinates",
        ];
        if !known.contains(&inside.tag()) {
            reader.left.count(format!("`<{}>` beside the models", inside.tag()));
        }
    }
    reader.close_loops();
    let gravity =
        world.and_then(|world| world.first("gravity")).map(|gravity| triple(gravity)).transpose()?;
    let gravity = gravity.unwrap_or_else(|| Vector3::new(0.0, 0.0, -9.8));
    let name = world.filter(|_| models.len() > 1).and_then(|world| world.word("name"));
    let name = name.unwrap_or(first.needed("name")?).to_owned();
    let Reader { links, joints, couplings, actuators, left, .. } = reader;
    Ok(Robot { name, gravity, links, joints, couplings, actuators, left: left.sentences() })
}

/// Version of the format, as two numbers.
fn version(root: Element<'_>) -> Result<(u32, u32), ModelError> {
    let written = root.needed("version")?;
    let parts =
        written.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parts.ok_or_else(|| root.mistake(format!("`{written}` is no version of SDF")))
}

/// Numbers in the text of an element.
fn numbers(element: Element<'_>) -> Result<Vec<f64>, ModelError> {
    element.read("the text", element.text())
}

fn triple(element: Element<'_>) -> Result<Vector3<f64>, ModelError> {
    let found = numbers(element)?;
    let array: Result<[f64; 3], _> = found.try_into();
    let error = |found: Vec<f64>| {
        element.mistake(format!("`<{}>` must be 3 numbers, not {}", element.tag(), found.len()))
    };
    array.map(Vector3::from).map_err(error)
}

/// The number in an element inside.
fn number(element: Element<'_>, tag: &str) -> Result<Option<f64>, ModelError> {
    let Some(inside) = element.first(tag) else { return Ok(None) };
    match numbers(inside)?[..] {
        [number] => Ok(Some(number)),
        ref found => Err(inside.mistake(format!("`<{tag}>` must be one number, not {}", found.len()))),
    }
}

/// The same of a bound, which may be infinite.
fn bound(element: Element<'_>, tag: &str) -> Result<Option<f64>, ModelError> {
    /// What stands for no bound.
    const NONE: f64 = 1e16;
    let endless = ["inf", "+inf", "-inf", "infinity", "-infinity"];
    if element.first(tag).is_some_and(|inside| endless.contains(&inside.text().to_lowercase().as_str())) {
        return Ok(None);
    }
    Ok(number(element, tag)?.filter(|bound| bound.abs() < NONE))
}

struct Reader<'a> {
    request: &'a Request<'a>,
    /// Whether axes count in the frame of the model where the file says so, as before version 1.7.
    old_axes: bool,
    links: Vec<Link>,
    /// Links by their names with scopes.
    known: HashMap<String, usize>,
    joints: Vec<Joint>,
    couplings: Vec<Coupling>,
    actuators: Vec<Actuator>,
    left: Left,
}

impl Reader<'_> {
    fn model(&mut self, model: Element<'_>, scope: &str, frames: &Frames) -> Result<(), ModelErrors> {
        let mut errors = ModelErrors::new();
        let is_static = model.first("static").is_some_and(|word| ["true", "1"].contains(&word.text()));
        for element in model.all("link") {
            let Some(link) = errors.keep(self.link(element, scope, frames)) else { continue };
            if is_static {
                let (name, child) = (format!("{}_base", link.name), self.links.len());
                self.joints.push(Joint::new(name, element.place(), Motion::Fixed, None, child));
            }
            self.links.push(link);
        }
        for inner in model.all("model") {
            let scope = format!("{scope}{}::", inner.needed("name")?);
            errors.keep(self.model(inner, &scope, frames));
        }
        errors.into_result()?;
        let mut errors = ModelErrors::new();
        for element in model.all("joint") {
            errors.keep(self.joint(element, scope, frames));
        }
        let known =
            ["link", "joint", "model", "frame", "pose", "static", "self_collide", "allow_auto_disable"];
        for unknown in model.elements().filter(|inside| !known.contains(&inside.tag())) {
            match unknown.tag() {
                "include" => errors.push(
                    unknown.mistake("models in other files are not read: write them into one by `gz sdf -p`"),
                ),
                other => self.left.count(format!("`<{other}>` of a model")),
            }
        }
        errors.into_result()
    }

    fn link(&mut self, element: Element<'_>, scope: &str, frames: &Frames) -> Result<Link, ModelError> {
        let name = element.needed("name")?;
        let full = format!("{scope}{name}");
        if let Some(first) = self.known.insert(full.clone(), self.links.len()) {
            let error = element.mistake(format!("the link `{name}` is there twice"));
            return Err(error.with_related(self.links[first].place.clone(), "the first one"));
        }
        let mut link = Link::new(full.clone(), element.place());
        link.frame = frames.pose(&full, element)?;
        let inertial = element.first("inertial");
        // Where nothing is said a link has 1 kg and 1 kg m².
        (link.mass, link.inertia) = (1.0, Matrix3::identity());
        if let Some(inertial) = inertial {
            if inertial.word("auto") == Some("true") {
                return Err(inertial.mistake(format!(
                    "the inertia of `{name}` is to follow from its shapes, which is not read: write it out by `gz sdf -p --expand-auto-inertials`"
                )));
            }
            let pose = frames::raw(inertial)?;
            link.mass = number(inertial, "mass")?.unwrap_or(1.0);
            if link.mass <= 0.0 {
                return Err(inertial.mistake(format!("the mass of `{name}` must be positive")));
            }
            if let Some(given) = inertial.first("inertia") {
                let entry =
                    |tag: &str, missing: f64| Ok::<f64, ModelError>(number(given, tag)?.unwrap_or(missing));
                let [xx, yy, zz] = [entry("ixx", 1.0)?, entry("iyy", 1.0)?, entry("izz", 1.0)?];
                let [xy, xz, yz] = [entry("ixy", 0.0)?, entry("ixz", 0.0)?, entry("iyz", 0.0)?];
                link.inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
            }
            if inertial.first("fluid_added_mass").is_some() {
                self.left.tell(inertial, format!("added mass of water of `{name}`"));
            }
            let turn = pose.rotation.to_rotation_matrix();
            link.inertia = turn * link.inertia * turn.transpose();
            link.centre = pose.translation.vector;
        }
        for visual in element.all("visual") {
            let look = self.look(visual)?;
            link.looks.extend(look.map(|look| look_at(look, frames, &full, visual)).transpose()?);
        }
        if element.first("collision").is_some() {
            self.left.count("shapes for collisions of a link");
        }
        if element.first("gravity").is_some_and(|word| ["false", "0"].contains(&word.text())) {
            self.left.tell(element, format!("that `{name}` has no weight"));
        }
        let known = [
            "pose",
            "inertial",
            "visual",
            "collision",
            "gravity",
            "self_collide",
            "kinematic",
            "must_be_base_link",
        ];
        for unknown in element.elements().filter(|inside| !known.contains(&inside.tag())) {
            self.left.count(format!("`<{}>` of a link", unknown.tag()));
        }
        Ok(link)
    }

    /// A shape, if it can be shown.
    fn look(&mut self, visual: Element<'_>) -> Result<Option<Look>, ModelError> {
        let Some(geometry) = visual.first("geometry").and_then(|geometry| geometry.elements().next()) else {
            return Ok(None);
        };
        let length = |tag: &str| match number(geometry, tag)? {
            Some(value) if value > 0.0 => Ok(value),
            _ => Err(geometry.mistake(format!("`<{}>` needs a positive `<{tag}>`", geometry.tag()))),
        };
        let lengths = |tag: &str| {
            let inside = geometry.needed_element(tag)?;
            let size = triple(inside)?;
            if size.min() > 0.0 { Ok(size) } else { Err(inside.mistake("lengths must be positive")) }
        };
        let solid = match geometry.tag() {
            "box" => Solid::Box(lengths("size")?),
            "cylinder" => Solid::Cylinder(length("radius")?, length("length")?),
            "capsule" => Solid::Capsule(length("radius")?, length("length")?),
            "sphere" => Solid::Sphere(length("radius")?),
            "ellipsoid" => Solid::Ellipsoid(lengths("radii")?),
            "mesh" => match self.mesh(geometry)? {
                Some(triangles) => Solid::Mesh(triangles),
                None => return Ok(None),
            },
            other => {
                self.left.count(format!("a shape `<{other}>`"));
                return Ok(None);
            }
        };
        let colour = visual.first("material").and_then(|material| material.first("diffuse"));
        let colour: Option<[f64; 4]> = match colour.map(numbers).transpose()?.as_deref() {
            Some([red, green, blue, ..]) => Some([*red, *green, *blue, 1.0]),
            _ => None,
        };
        Ok(Some(Look::new(Isometry3::identity(), solid).with_colour(colour)))
    }

    fn mesh(&mut self, geometry: Element<'_>) -> Result<Option<Vec<mesh::Triangle>>, ModelError> {
        let written = geometry.needed_element("uri")?.text();
        let scale = geometry.first("scale").map(triple).transpose()?.unwrap_or_else(|| Vector3::repeat(1.0));
        let Some(folder) = self.request.beside else { return Ok(None) };
        let found = mesh::find(folder, written).ok_or_else(|| "the file is not found".to_owned());
        match found.and_then(|path| mesh::read(&path)) {
            Ok(triangles) => Ok(Some(mesh::scaled(triangles, &scale))),
            Err(reason) => {
                self.left.tell(geometry, format!("the surface `{written}`: {reason}"));
                Ok(None)
            }
        }
    }

    /// The link that a joint names by a frame; none for the world.
    fn end(
        &self,
        element: Element<'_>,
        tag: &str,
        scope: &str,
        frames: &Frames,
    ) -> Result<Option<usize>, ModelError> {
        let inside = element.needed_element(tag)?;
        // Old files name it in an attribute.
        let written = inside.word("link").unwrap_or(inside.text());
        if written == WORLD {
            return Ok(None);
        }
        let missing = || {
            let names = self.known.keys().filter_map(|name| name.strip_prefix(scope));
            inside.mistake(format!("there is no link `{written}`")).with_nearest(written, names)
        };
        let full = format!("{scope}{written}");
        let link = frames.link_of(&full).unwrap_or(full);
        if link == WORLD {
            return Ok(None);
        }
        self.known.get(&link).copied().map(Some).ok_or_else(missing)
    }

    fn joint(&mut self, element: Element<'_>, scope: &str, frames: &Frames) -> Result<(), ModelError> {
        let name = element.needed("name")?;
        let full = format!("{scope}{name}");
        let written = element.needed("type")?;
        let ends = [self.end(element, "parent", scope, frames)?, self.end(element, "child", scope, frames)?];
        let (parent, child) = match ends {
            [parent, Some(child)] => (parent, child),
            [Some(_), None] => {
                return Err(element.mistake(format!("the world cannot be moved by the joint `{name}`")));
            }
            [None, None] => {
                return Err(element.mistake(format!("the joint `{name}` holds the world to itself")));
            }
        };
        if parent == Some(child) {
            return Err(element.mistake(format!("the joint `{name}` holds a link to itself")));
        }
        let frame = frames.pose(&full, element)?;
        let motions: &[Motion] = match written {
            "fixed" => &[Motion::Fixed],
            "revolute" | "continuous" => &[Motion::Revolute],
            "prismatic" => &[Motion::Prismatic],
            "ball" => &[Motion::Spherical],
            "universal" | "revolute2" => &[Motion::Revolute, Motion::Revolute],
            "screw" => &[Motion::Revolute, Motion::Prismatic],
            "gearbox" => {
                self.left.tell(element, format!("the gearbox `{name}`"));
                return Ok(());
            }
            other => {
                let known = "fixed, revolute, continuous, prismatic, ball, universal, revolute2, screw";
                let message = format!("the joint `{name}` is of the unknown type `{other}`");
                return Err(element.mistake(message).with_hint(format!("known: {known}")));
            }
        };
        let first = self.joints.len();
        let mut above = parent;
        for (place, motion) in motions.iter().enumerate() {
            let is_last = place + 1 == motions.len();
            let below = if is_last {
                child
            } else {
                let mut between = Link::new(format!("{full}_between"), element.place());
                between.frame = frame;
                self.links.push(between);
                self.links.len() - 1
            };
            let own = if motions.len() == 1 { full.clone() } else { format!("{full}_{}", place + 1) };
            let mut joint = Joint::new(own, element.place(), *motion, above, below);
            joint.point = frame.translation.vector;
            let tag = if place == 1 && written != "screw" { "axis2" } else { "axis" };
            let is_bound = !(written == "screw" && place == 1);
            if let Some(axis) = element.first(tag) {
                joint.axis = self.direction(axis, name, scope, &frame, frames)?;
                if is_bound {
                    self.losses(axis, &mut joint, written)?;
                }
            } else if !matches!(motion, Motion::Fixed | Motion::Spherical) {
                return Err(element.mistake(format!("the joint `{name}` needs an element `<{tag}>`")));
            }
            let index = self.joints.len();
            if joint.effort > 0.0 {
                let name = joint.name.clone();
                self.actuators.push(Actuator { name, joint: index, gear: 1.0 });
            }
            self.joints.push(joint);
            above = Some(below);
        }
        if written == "screw" {
            let advance = match (number(element, "screw_thread_pitch")?, number(element, "thread_pitch")?) {
                (Some(pitch), _) => pitch / std::f64::consts::TAU,
                // Turns over way, with the other sign, as old files say it.
                (None, Some(pitch)) if pitch != 0.0 => -1.0 / pitch,
                _ => return Err(element.mistake(format!("the screw `{name}` needs `<screw_thread_pitch>`"))),
            };
            let (joint, leader) = (first + 1, Some(first));
            self.couplings.push(Coupling { joint, leader, multiplier: advance, offset: 0.0 });
        }
        if let Some(mimic) = element.first("axis").and_then(|axis| axis.first("mimic")) {
            let leader = mimic.needed("joint")?;
            let full = format!("{scope}{leader}");
            // Those that follow stand behind those that lead.
            let one = |joint: &Joint| matches!(joint.motion, Motion::Revolute | Motion::Prismatic);
            match self.joints.iter().position(|joint| joint.name == full && one(joint)) {
                Some(leader) if leader != first => {
                    let multiplier = number(mimic, "multiplier")?.unwrap_or(1.0);
                    let offset = number(mimic, "offset")?.unwrap_or(0.0);
                    let reference = number(mimic, "reference")?.unwrap_or(0.0);
                    let offset = offset - multiplier * reference;
                    self.couplings.push(Coupling { joint: first, leader: Some(leader), multiplier, offset });
                }
                _ => self.left.tell(
                    mimic,
                    format!("`{name}` follows `{leader}`, which is no joint with one coordinate before it"),
                ),
            }
        }
        let known = ["parent", "child", "axis", "axis2", "pose", "thread_pitch", "screw_thread_pitch"];
        for unknown in element.elements().filter(|inside| !known.contains(&inside.tag())) {
            self.left.count(format!("`<{}>` of a joint", unknown.tag()));
        }
        Ok(())
    }

    /// The axis of a joint in the world.
    fn direction(
        &self,
        axis: Element<'_>,
        name: &str,
        scope: &str,
        frame: &Isometry3<f64>,
        frames: &Frames,
    ) -> Result<Vector3<f64>, ModelError> {
        let given = axis.first("xyz");
        let direction = given.map(triple).transpose()?.unwrap_or_else(Vector3::z).try_normalize(1e-12);
        let direction = direction
            .ok_or_else(|| axis.mistake(format!("the axis of the joint `{name}` has no direction")))?;
        let turn = match given.and_then(|given| given.word("expressed_in")).filter(|word| !word.is_empty()) {
            Some(word) => frames.named(word, scope, axis)?.rotation,
            None if self.old_axes
                && axis
                    .first("use_parent_model_frame")
                    .is_some_and(|word| ["true", "1"].contains(&word.text())) =>
            {
                frames.model(scope).rotation
            }
            None => frame.rotation,
        };
        Ok(turn * direction)
    }

    /// Bounds, damping, friction and spring of an axis.
    fn losses(&mut self, axis: Element<'_>, joint: &mut Joint, written: &str) -> Result<(), ModelError> {
        if let Some(limit) = axis.first("limit") {
            let bounds = [bound(limit, "lower")?, bound(limit, "upper")?];
            if let [Some(lower), Some(upper)] = bounds
                && lower >= upper
            {
                let message = format!("bounds of `{}`: {lower} to {upper} leaves no way to go", joint.name);
                self.left.tell(limit, message);
            } else if written != "continuous" {
                [joint.lower, joint.upper] = bounds;
            }
            joint.effort = bound(limit, "effort")?.unwrap_or(0.0).max(0.0);
            if bound(limit, "velocity")?.is_some_and(|speed| speed >= 0.0) {
                self.left.count("largest speed of a joint");
            }
        }
        if let Some(dynamics) = axis.first("dynamics") {
            let name = joint.name.clone();
            let loss = |tag: &str| {
                let value = number(dynamics, tag)?.unwrap_or(0.0);
                let message = || format!("the {tag} of the joint `{name}` is negative: it would drive it");
                if value < 0.0 { Err(dynamics.mistake(message())) } else { Ok(value) }
            };
            (joint.damping, joint.friction) = (loss("damping")?, loss("friction")?);
            joint.stiffness = loss("spring_stiffness")?;
            joint.rest = number(dynamics, "spring_reference")?.unwrap_or(0.0);
        }
        Ok(())
    }

    /// Marks the joints between links that others hold together already.
    fn close_loops(&mut self) {
        // The last is the ground.
        let mut above: Vec<usize> = (0..=self.links.len()).collect();
        fn top(above: &mut [usize], mut link: usize) -> usize {
            while above[link] != link {
                above[link] = above[above[link]];
                link = above[link];
            }
            link
        }
        let ground = self.links.len();
        for joint in &mut self.joints {
            let [one, two] = [joint.parent.unwrap_or(ground), joint.child].map(|link| top(&mut above, link));
            joint.closes = one == two;
            above[one] = two;
        }
    }
}

/// A shape in its place on a link.
fn look_at(mut look: Look, frames: &Frames, link: &str, visual: Element<'_>) -> Result<Look, ModelError> {
    let raw = frames::raw(visual)?;
    let relative =
        visual.first("pose").and_then(|pose| pose.word("relative_to")).filter(|word| !word.is_empty());
    look.frame = match relative {
        None => raw,
        Some(word) => {
            let scope = link.rsplit_once("::").map_or(String::new(), |(scope, _)| format!("{scope}::"));
            let from = frames.named(word, &scope, visual)?;
            frames.pose(link, visual)?.inverse() * from * raw
        }
    };
    Ok(look)
}
