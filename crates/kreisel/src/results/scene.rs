//! What there is to be seen of a machine: `scene.json`.
//!
//! Everything that does not change while a run lasts: which nodes there are, what hangs on them and how it
//! looks. With the motion of the nodes from `trajectory.vtkhdf` it is a moving picture. Lengths are in m; a
//! frame stands in the axes of its node, or in the world where the node is the ground.

use serde::{Deserialize, Serialize};

/// Name of the file.
pub const FILE: &str = "scene.json";

/// Everything to be seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Scene {
    /// What the machine is called, in one line.
    pub title: String,
    /// What its author says about it.
    pub description: String,
    /// Direction against gravity; zero without gravity.
    pub up: [f64; 3],
    /// Bodies and beam nodes, in the order of the recorded motion.
    pub nodes: Vec<SceneNode>,
    /// Bodies with their shapes.
    pub bodies: Vec<SceneBody>,
    /// Beams.
    pub beams: Vec<SceneBeam>,
    /// Joints.
    pub joints: Vec<SceneJoint>,
    /// Springs and bushings between two points.
    pub springs: Vec<SceneSpring>,
    /// Forces, torques and reactions that are recorded.
    pub arrows: Vec<SceneArrow>,
    /// Named frames on the ground.
    pub ground: Vec<SceneMarker>,
    /// What bodies touch: the ground, roads, and shapes of contacts and tyres that no body has.
    pub surfaces: Vec<SceneSurface>,
}

/// What contacts touch where no body looks like it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneSurface {
    /// Name of the contact or tyre.
    pub name: String,
    /// The node that carries it; the ground if absent.
    pub node: Option<usize>,
    /// What it is; the plane z = 0 if absent.
    pub geometry: Option<Geometry<SceneMesh>>,
    /// Its frame in axes of the node, or in the world.
    pub frame: SceneFrame,
}

/// One node of the scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneNode {
    /// Name of the body, or of the beam with the node's place.
    pub name: String,
}

/// Where something stands, and how it is turned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneFrame {
    /// Position in m.
    pub position: [f64; 3],
    /// Unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
}

impl Default for SceneFrame {
    fn default() -> Self {
        Self { position: [0.0; 3], rotation: [1.0, 0.0, 0.0, 0.0] }
    }
}

/// A body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneBody {
    /// Name.
    pub name: String,
    /// Number of its node.
    pub node: usize,
    /// Mass in kg.
    pub mass: f64,
    /// What it looks like.
    pub shapes: Vec<SceneShape>,
    /// Its named frames.
    pub markers: Vec<SceneMarker>,
}

/// A named frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneMarker {
    /// Name without that of the body.
    pub name: String,
    /// Where it is.
    pub frame: SceneFrame,
}

/// A shape on a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneShape {
    /// What it is.
    #[serde(flatten)]
    pub geometry: Geometry<SceneMesh>,
    /// Its frame in body axes.
    pub frame: SceneFrame,
    /// Whether it was made up because the model gives no shape.
    #[serde(rename = "made_up")]
    pub default_shape: bool,
    /// Its colour as `#rrggbb`; absent if the model names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
}

impl SceneShape {
    /// Its colour in linear red, green and blue, if it has one.
    pub fn linear_colour(&self) -> Option<[f64; 3]> {
        linear_colour(self.colour.as_deref()?)
    }
}

/// A colour of the form `#rrggbb` as linear red, green and blue.
pub fn linear_colour(code: &str) -> Option<[f64; 3]> {
    let digits = code.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    // The curve of sRGB [IEC 61966-2-1].
    let linear = |byte: u32| match f64::from(byte & 0xff) / 255.0 {
        dark if dark <= 0.040_45 => dark / 12.92,
        light => ((light + 0.055) / 1.055).powf(2.4),
    };
    Some([number >> 16, number >> 8, number].map(linear))
}

/// Linear red, green and blue as the bytes of a picture.
pub fn bytes_of_colour(linear: [f64; 3]) -> [u8; 3] {
    // The same curve the other way.
    linear.map(|part| {
        let part = part.clamp(0.0, 1.0);
        let shown = if part <= 0.003_130_8 { 12.92 * part } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 };
        (255.0 * shown).round() as u8
    })
}

/// Geometry in the frame of a shape; lengths in m, axes of revolution are z. Who weighs a surface of
/// triangles keeps it otherwise than who draws it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Geometry<Surface> {
    /// A sphere about the origin.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A box about the origin.
    Box {
        /// Full edge lengths along x, y and z.
        size: [f64; 3],
    },
    /// A cylinder about the origin.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Length.
        length: f64,
    },
    /// A cylinder about the origin with half a sphere on each end.
    Capsule {
        /// Radius.
        radius: f64,
        /// Length of the cylinder, without the half spheres.
        length: f64,
    },
    /// A frustum from the base at z = 0; a cone if the second radius is zero.
    Frustum {
        /// Radius of the base and of the top.
        radii: [f64; 2],
        /// Height.
        length: f64,
    },
    /// A closed surface of triangles.
    Mesh(Surface),
}

/// A surface of triangles, as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneMesh {
    /// Corners.
    pub points: Vec<[f32; 3]>,
    /// Three corners each.
    pub triangles: Vec<[u32; 3]>,
}

impl<Surface> Geometry<Surface> {
    /// The same with another form of a surface of triangles.
    pub fn with_surface<Other>(&self, change: impl FnOnce(&Surface) -> Other) -> Geometry<Other> {
        match *self {
            Self::Sphere { radius } => Geometry::Sphere { radius },
            Self::Box { size } => Geometry::Box { size },
            Self::Cylinder { radius, length } => Geometry::Cylinder { radius, length },
            Self::Capsule { radius, length } => Geometry::Capsule { radius, length },
            Self::Frustum { radii, length } => Geometry::Frustum { radii, length },
            Self::Mesh(ref surface) => Geometry::Mesh(change(surface)),
        }
    }
}

/// A beam: elements one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SceneBeam {
    /// Name.
    pub name: String,
    /// Full size of the section along y and z of its frames.
    pub size: [f64; 2],
    /// Whether the section is an ellipse and not a rectangle.
    pub round: bool,
    /// From start to end.
    pub elements: Vec<SceneElement>,
}

/// A piece of a beam between two sections, on a screw from the first to the second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneElement {
    /// Nodes that carry the sections; absent for the ground.
    pub nodes: [Option<usize>; 2],
    /// Frames of the sections; x is the axis of the beam.
    pub frames: [SceneFrame; 2],
    /// Length in m.
    pub length: f64,
    /// The screw (rotation, translation) between the frames of the initial shape.
    pub reference: [f64; 6],
    /// Section forces (torque, force) per strain (κ, γ), row by row.
    pub stiffness: [[f64; 6]; 6],
    /// Q of the stretch ½ eᵀ Q e that the bow of the element adds to the strain e of the screw.
    #[serde(default)]
    pub bow: [[f64; 6]; 6],
    /// C of the stretch (C e)·w that it adds where the element is twisted, with w = θ_t θ of its turn θ, less
    /// that of the initial shape; row by row.
    #[serde(default, rename = "twisted-bow")]
    pub twisted_bow: [[f64; 6]; 3],
}

/// A joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneJoint {
    /// Name.
    pub name: String,
    /// Kind, as in the model file.
    pub kind: String,
    /// Nodes of its two frames; absent for the ground.
    pub nodes: [Option<usize>; 2],
    /// Its frames; the axis of the joint is z.
    pub frames: [SceneFrame; 2],
}

/// A spring, damper or bushing between two points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneSpring {
    /// Name.
    pub name: String,
    /// Nodes of its ends; absent for the ground.
    pub nodes: [Option<usize>; 2],
    /// Its ends.
    pub points: [[f64; 3]; 2],
}

/// A vector that is recorded and shown as an arrow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SceneArrow {
    /// Name of the part.
    pub name: String,
    /// What it is.
    pub kind: ArrowKind,
    /// Node that its foot moves with; absent for the ground.
    pub node: Option<usize>,
    /// Its foot.
    pub point: [f64; 3],
    /// Name of the three signals without the component, in world axes: `tip.force`.
    pub signal: String,
}

/// What an arrow shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrowKind {
    /// A force that the model applies.
    Force,
    /// A torque that the model applies.
    Torque,
    /// What a joint or a contact exerts on its second body.
    Reaction,
}

impl Scene {
    /// The elements of all beams.
    pub fn elements(&self) -> impl Iterator<Item = &SceneElement> {
        self.beams.iter().flat_map(|beam| &beam.elements)
    }

    /// Whether every part names nodes that there are, and every triangle corners that there are.
    pub fn is_consistent(&self) -> bool {
        let known = |node: &usize| *node < self.nodes.len();
        let whole = |geometry: &Geometry<SceneMesh>| match geometry {
            Geometry::Mesh(SceneMesh { points, triangles }) => {
                triangles.iter().flatten().all(|corner| (*corner as usize) < points.len())
            }
            _ => true,
        };
        let mut shapes = self.bodies.iter().flat_map(|body| &body.shapes);
        self.bodies.iter().all(|body| known(&body.node))
            && shapes.all(|shape| whole(&shape.geometry))
            && self.elements().flat_map(|element| &element.nodes).flatten().all(known)
            && self.joints.iter().flat_map(|joint| &joint.nodes).flatten().all(known)
            && self.springs.iter().flat_map(|spring| &spring.nodes).flatten().all(known)
            && self.arrows.iter().flat_map(|arrow| &arrow.node).all(known)
            && self.surfaces.iter().flat_map(|surface| &surface.node).all(known)
            && self.surfaces.iter().flat_map(|surface| &surface.geometry).all(whole)
    }

    /// The scene as JSON with a final line end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("all keys of a scene are text");
        text.push('\n');
        text
    }
}
