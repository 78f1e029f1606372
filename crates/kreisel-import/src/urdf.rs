//! URDF, the format of ROS: links, and joints that each move one of them.

use crate::Request;
use crate::mesh;
use crate::robot::{Actuator, Coupling, Joint, Link, Look, Motion, Robot, Solid};
use crate::xml::{self, Element, Left, pose};
use kreisel::model::{ModelError, ModelErrors};
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::collections::HashMap;

/// Reads a robot.
pub fn read(request: &Request<'_>) -> Result<Robot, ModelErrors> {
    let document = xml::parse(request.file)?;
    let root = Element::root(&document, request.file);
    if root.tag() != "robot" {
        return Err(root.mistake(format!("a URDF file holds a `<robot>`, not `<{}>`", root.tag())).into());
    }
    let mut reader = Reader { request, colours: HashMap::new(), left: Left::default() };
    reader.colours(root)?;
    let mut errors = ModelErrors::new();
    let mut links: Vec<Link> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for element in root.all("link") {
        let Some((name, link)) = errors.keep(reader.link(element)) else { continue };
        if let Some(first) = known.insert(name, links.len()) {
            let error = element.mistake(format!("the link `{name}` is there twice"));
            errors.push(error.with_related(links[first].place.clone(), "the first one"));
        }
        links.push(link);
    }
    errors.into_result()?;
    if links.is_empty() {
        let error = root.mistake("the robot has no links");
        let is_macro = request.file.text().contains("xacro:");
        return Err(if is_macro { error.with_hint("expand it by `xacro` first") } else { error }.into());
    }
    let mut errors = ModelErrors::new();
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    for element in root.all("joint") {
        let Some(draft) = errors.keep(reader.joint(element, &known)) else { continue };
        if let Some(first) = drafts.iter().find(|first| first.joint.name == draft.joint.name) {
            let error = element.mistake(format!("the joint `{}` is there twice", draft.joint.name));
            errors.push(error.with_related(first.joint.place.clone(), "the first one"));
        }
        drafts.push(draft);
    }
    errors.into_result()?;
    let base = place_links(root, &mut links, &mut drafts)?;
    let couplings = couplings(&drafts, &mut reader.left)?;
    let actuators = reader.actuators(root, &drafts)?;
    let mut joints: Vec<Joint> = drafts.into_iter().map(|draft| draft.joint).collect();
    if !request.choices.floating {
        let place = links[base].place.clone();
        let name = format!("{}_base", links[base].name);
        joints.push(Joint::new(name, place, Motion::Fixed, None, base));
    }
    for element in root.elements() {
        if !matches!(element.tag(), "link" | "joint" | "transmission" | "material") {
            reader.left.count(format!("`<{}>`", element.tag()));
        }
    }
    let name = root.word("name").unwrap_or("robot").to_owned();
    let gravity = Vector3::new(0.0, 0.0, -9.80665);
    Ok(Robot { name, gravity, links, joints, couplings, actuators, left: reader.left.sentences() })
}

/// A joint before it is known where it stands.
struct Draft<'a> {
    joint: Joint,
    element: Element<'a>,
    parent: usize,
    origin: Isometry3<f64>,
    axis: Vector3<f64>,
}

struct Reader<'a> {
    request: &'a Request<'a>,
    /// Colours of materials by their names.
    colours: HashMap<String, [f64; 4]>,
    left: Left,
}

impl<'a> Reader<'a> {
    /// Reads the materials that the robot names.
    fn colours(&mut self, root: Element<'_>) -> Result<(), ModelError> {
        for material in root.all("material") {
            if let Some((name, colour)) = material.word("name").zip(own_colour(material)?) {
                self.colours.insert(name.to_owned(), colour);
            }
        }
        Ok(())
    }

    /// Counts what nobody here knows in an element of a kind.
    fn count_unknown(&mut self, element: Element<'_>, kind: &str, known: &[&str]) {
        for unknown in element.elements().filter(|each| !known.contains(&each.tag())) {
            self.left.count(format!("`<{}>` of a {kind}", unknown.tag()));
        }
    }

    fn link<'e>(&mut self, element: Element<'e>) -> Result<(&'e str, Link), ModelError> {
        let name = element.needed("name")?;
        let mut link = Link::new(name.to_owned(), element.place());
        if let Some(inertial) = element.first("inertial") {
            let frame = origin(inertial)?;
            let mass = inertial.needed_element("mass")?;
            link.mass = mass.needed_number("value")?;
            if link.mass < 0.0 {
                return Err(mass.mistake(format!("the mass of `{name}` is negative")));
            }
            let given = inertial.needed_element("inertia")?;
            let [xx, xy, xz] = [given.needed_number("ixx")?, entry(given, "ixy")?, entry(given, "ixz")?];
            let [yy, yz, zz] =
                [given.needed_number("iyy")?, entry(given, "iyz")?, given.needed_number("izz")?];
            let turn = frame.rotation.to_rotation_matrix();
            link.inertia = turn * Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) * turn.transpose();
            link.centre = frame.translation.vector;
            if link.mass == 0.0 && link.inertia.amax() > 0.0 {
                self.left.say(format!("line {}: the inertia of `{name}`, which has no mass", given.line()));
            }
        }
        for visual in element.all("visual") {
            link.looks.extend(self.look(visual)?);
        }
        if element.first("collision").is_some() {
            self.left.count("shapes for collisions of a link");
        }
        self.count_unknown(element, "link", &["inertial", "visual", "collision"]);
        Ok((name, link))
    }

    /// A shape, if it can be shown.
    fn look(&mut self, visual: Element<'_>) -> Result<Option<Look>, ModelError> {
        let Some(geometry) = visual.first("geometry").and_then(|geometry| geometry.elements().next()) else {
            return Ok(None);
        };
        let solid = match geometry.tag() {
            "box" => Solid::Box(size(geometry, "size")?),
            "cylinder" => Solid::Cylinder(length(geometry, "radius")?, length(geometry, "length")?),
            "capsule" => Solid::Capsule(length(geometry, "radius")?, length(geometry, "length")?),
            "sphere" => Solid::Sphere(length(geometry, "radius")?),
            "mesh" => match self.mesh(geometry)? {
                Some(triangles) => Solid::Mesh(triangles),
                None => return Ok(None),
            },
            other => {
                self.left.say(format!("line {}: a shape `<{other}>`, which is not known", geometry.line()));
                return Ok(None);
            }
        };
        let colour = match visual.first("material") {
            None => None,
            Some(material) => {
                let named = material.word("name").and_then(|name| self.colours.get(name)).copied();
                own_colour(material)?.or(named)
            }
        };
        Ok(Some(Look::new(origin(visual)?, solid).with_colour(colour)))
    }

    fn mesh(&mut self, geometry: Element<'_>) -> Result<Option<Vec<mesh::Triangle>>, ModelError> {
        let written = geometry.needed("filename")?;
        let scale = geometry.vector("scale")?.unwrap_or_else(|| Vector3::repeat(1.0));
        let Some(folder) = self.request.beside else { return Ok(None) };
        let found = mesh::find(folder, written).ok_or_else(|| "the file is not found".to_owned());
        match found.and_then(|path| mesh::read(&path)) {
            Ok(triangles) => Ok(Some(mesh::scaled(triangles, &scale))),
            Err(reason) => {
                self.left.say(format!("line {}: the surface `{written}`: {reason}", geometry.line()));
                Ok(None)
            }
        }
    }

    fn joint<'e>(
        &mut self,
        element: Element<'e>,
        known: &HashMap<&str, usize>,
    ) -> Result<Draft<'e>, ModelError> {
        let name = element.needed("name")?;
        let written = element.needed("type")?;
        let motion = match written {
            "fixed" => Motion::Fixed,
            "revolute" | "continuous" => Motion::Revolute,
            "prismatic" => Motion::Prismatic,
            "planar" => Motion::Planar,
            "floating" => Motion::Floating,
            "spherical" => Motion::Spherical,
            other => {
                let known = "fixed, revolute, continuous, prismatic, planar, floating, spherical";
                let message = format!("the joint `{name}` is of the unknown type `{other}`");
                return Err(element.mistake(message).with_hint(format!("known: {known}")));
            }
        };
        let link = |tag: &str| {
            let end = element.needed_element(tag)?;
            let name = end.needed("link")?;
            known.get(name).copied().ok_or_else(|| {
                end.mistake(format!("there is no link `{name}`")).with_nearest(name, known.keys().copied())
            })
        };
        let (parent, child) = (link("parent")?, link("child")?);
        let given = element.first("axis").map(|axis| axis.vector("xyz")).transpose()?.flatten();
        let axis = given.unwrap_or_else(Vector3::x);
        let axis = axis
            .try_normalize(1e-12)
            .ok_or_else(|| element.mistake(format!("the axis of the joint `{name}` has no direction")));
        let mut joint = Joint::new(name.to_owned(), element.place(), motion, Some(parent), child);
        let one = matches!(motion, Motion::Revolute | Motion::Prismatic);
        if let Some(limit) = element.first("limit") {
            joint.effort = limit.number("effort")?.unwrap_or(0.0).abs();
            // A joint that turns for ever has no bounds, whatever is written.
            if one && written != "continuous" {
                let bounds = [limit.number("lower")?.unwrap_or(0.0), limit.number("upper")?.unwrap_or(0.0)];
                if bounds[0] < bounds[1] {
                    [joint.lower, joint.upper] = bounds.map(Some);
                } else {
                    let [lower, upper] = bounds;
                    let line = limit.line();
                    self.left.say(format!(
                        "line {line}: bounds of `{name}`: {lower} to {upper} leaves no way to go"
                    ));
                }
            }
            let several = matches!(motion, Motion::Planar | Motion::Floating | Motion::Spherical);
            if several && (limit.word("lower").is_some() || limit.word("upper").is_some()) {
                self.left
                    .say(format!("line {}: bounds of `{name}`, which has several coordinates", limit.line()));
            }
            if limit.word("velocity").is_some() {
                self.left.count("largest speed of a joint");
            }
        } else if one && written != "continuous" {
            return Err(element.mistake(format!("the joint `{name}` needs an element `<limit>`")));
        }
        if let Some(dynamics) = element.first("dynamics") {
            let loss = |key: &str| {
                let value = dynamics.number(key)?.unwrap_or(0.0);
                let message = || format!("the {key} of the joint `{name}` is negative: it would drive it");
                if value < 0.0 { Err(dynamics.mistake(message())) } else { Ok(value) }
            };
            (joint.damping, joint.friction) = (loss("damping")?, loss("friction")?);
            if motion == Motion::Floating && (joint.damping > 0.0 || joint.friction > 0.0) {
                self.left.say(format!(
                    "line {}: damping and friction of `{name}`, which holds nothing",
                    dynamics.line()
                ));
            }
        }
        let known = ["parent", "child", "origin", "axis", "limit", "dynamics", "mimic"];
        self.count_unknown(element, "joint", &known);
        let axis = if motion == Motion::Fixed { axis.unwrap_or_else(|_| Vector3::z()) } else { axis? };
        Ok(Draft { joint, element, parent, origin: origin(element)?, axis })
    }

    /// A joint is driven if a transmission or a largest effort says so.
    fn actuators(&mut self, root: Element<'_>, drafts: &[Draft<'_>]) -> Result<Vec<Actuator>, ModelError> {
        let mut gears: HashMap<usize, f64> = HashMap::new();
        for transmission in root.all("transmission") {
            let joints: Vec<_> = transmission.all("joint").collect();
            let actuators: Vec<_> = transmission.all("actuator").collect();
            let ([joint], [actuator]) = (joints.as_slice(), actuators.as_slice()) else {
                self.left.say(format!(
                    "line {}: a transmission of several joints or actuators",
                    transmission.line()
                ));
                continue;
            };
            let name = joint.needed("name")?;
            let Some(index) = drafts.iter().position(|draft| draft.joint.name == name) else {
                self.left
                    .say(format!("line {}: a transmission of `{name}`, which is no joint", joint.line()));
                continue;
            };
            let written =
                actuator.first("mechanicalReduction").or_else(|| joint.first("mechanicalReduction"));
            let gear = written.map(|gear| gear.read("the text", gear.text())).transpose()?;
            let gear = gear.and_then(|gear| gear.first().copied()).filter(|gear| *gear != 0.0);
            gears.insert(index, gear.unwrap_or(1.0));
        }
        let driven = drafts.iter().enumerate().filter_map(|(joint, draft)| {
            let one = matches!(draft.joint.motion, Motion::Revolute | Motion::Prismatic);
            let follows = draft.element.first("mimic").is_some();
            let gear = gears.get(&joint).copied().or((draft.joint.effort > 0.0 && !follows).then_some(1.0))?;
            one.then(|| Actuator { name: draft.joint.name.clone(), joint, gear })
        });
        Ok(driven.collect())
    }
}

/// The colour that a material itself has.
fn own_colour(material: Element<'_>) -> Result<Option<[f64; 4]>, ModelError> {
    material.first("color").map_or(Ok(None), |colour| colour.array::<4>("rgba"))
}

/// An entry of an inertia that may be left out.
fn entry(element: Element<'_>, name: &str) -> Result<f64, ModelError> {
    Ok(element.number(name)?.unwrap_or(0.0))
}

/// A length of a shape.
fn length(element: Element<'_>, name: &str) -> Result<f64, ModelError> {
    let value = element.needed_number(name)?;
    if value > 0.0 {
        Ok(value)
    } else {
        Err(element.mistake(format!("`{name}` must be positive, not {value}")))
    }
}

fn size(element: Element<'_>, name: &str) -> Result<Vector3<f64>, ModelError> {
    element.needed(name)?;
    let value = element.vector(name)?.unwrap_or_default();
    if value.min() > 0.0 {
        Ok(value)
    } else {
        Err(element.mistake(format!("`{name}` must be positive lengths")))
    }
}

/// The `<origin>` of an element.
fn origin(element: Element<'_>) -> Result<Isometry3<f64>, ModelError> {
    let Some(origin) = element.first("origin") else { return Ok(Isometry3::identity()) };
    let position = origin.vector("xyz")?.unwrap_or_default();
    Ok(pose(position, origin.array("rpy")?.unwrap_or_default()))
}

/// Puts links and joints into the world, from the first link on, which is given back.
fn place_links(
    root: Element<'_>,
    links: &mut [Link],
    drafts: &mut [Draft<'_>],
) -> Result<usize, ModelErrors> {
    let mut above: Vec<Option<usize>> = vec![None; links.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    let mut errors = ModelErrors::new();
    for (index, draft) in drafts.iter().enumerate() {
        let child = draft.joint.child;
        if let Some(first) = above[child].replace(index) {
            let message = format!(
                "the link `{}` is moved by two joints, which no URDF file can mean",
                links[child].name
            );
            let first = drafts[first].joint.place.clone();
            errors.push(draft.element.mistake(message).with_related(first, "the first one"));
        }
        below[draft.parent].push(index);
    }
    errors.into_result()?;
    let first: Vec<usize> = (0..links.len()).filter(|link| above[*link].is_none()).collect();
    let [base] = first[..] else {
        return Err(match first.get(1) {
            None => root.mistake("the joints form a cycle: every link is moved by one"),
            Some(second) => {
                let [one, two] = [&links[first[0]], &links[*second]];
                let message = format!("no joint connects the links `{}` and `{}`", one.name, two.name);
                xml::mistake(message, two.place.clone()).with_related(one.place.clone(), "the other one")
            }
        }
        .into());
    };
    let mut waiting = vec![base];
    let mut reached = vec![false; links.len()];
    while let Some(link) = waiting.pop() {
        reached[link] = true;
        for &index in &below[link] {
            let draft = &mut drafts[index];
            let frame = links[link].frame * draft.origin;
            draft.joint.point = frame.translation.vector;
            draft.joint.axis = frame.rotation * draft.axis;
            links[draft.joint.child].frame = frame;
            waiting.push(draft.joint.child);
        }
    }
    if let Some(lost) = reached.iter().position(|reached| !reached) {
        let message = format!("the link `{}` is part of a cycle of joints", links[lost].name);
        return Err(xml::mistake(message, links[lost].place.clone()).into());
    }
    Ok(base)
}

/// Joints that follow others.
fn couplings(drafts: &[Draft<'_>], left: &mut Left) -> Result<Vec<Coupling>, ModelErrors> {
    let mut couplings = Vec::new();
    for (joint, draft) in drafts.iter().enumerate() {
        let Some(mimic) = draft.element.first("mimic") else { continue };
        let name = mimic.needed("joint")?;
        let one = |joint: &Joint| matches!(joint.motion, Motion::Revolute | Motion::Prismatic);
        let leader = drafts.iter().position(|draft| draft.joint.name == name).ok_or_else(|| {
            let names = drafts.iter().map(|draft| draft.joint.name.as_str());
            mimic.mistake(format!("there is no joint `{name}`")).with_nearest(name, names)
        })?;
        if leader == joint {
            return Err(mimic.mistake(format!("the joint `{name}` follows itself")).into());
        }
        if !one(&draft.joint)
            || matches!(drafts[leader].joint.motion, Motion::Planar | Motion::Floating | Motion::Spherical)
        {
            left.say(format!(
                "line {}: `{}` follows `{name}`: not both have one coordinate",
                mimic.line(),
                draft.joint.name
            ));
            continue;
        }
        // One that leads and is fixed stays at zero.
        let leader = one(&drafts[leader].joint).then_some(leader);
        let multiplier = mimic.number("multiplier")?.unwrap_or(1.0);
        let offset = mimic.number("offset")?.unwrap_or(0.0);
        couplings.push(Coupling { joint, leader, multiplier, offset });
    }
    Ok(couplings)
}
