//! What every format is read into: links in the world where all joints are at zero, and what holds and moves them.

use crate::mesh::Triangle;
use kreisel::model::Place;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// A robot, or several.
pub struct Robot {
    /// What it is called.
    pub name: String,
    /// Acceleration of gravity.
    pub gravity: Vector3<f64>,
    /// Its links; joints name them by their index.
    pub links: Vec<Link>,
    /// Its joints.
    pub joints: Vec<Joint>,
    /// Joints that follow others.
    pub couplings: Vec<Coupling>,
    /// What drives joints.
    pub actuators: Vec<Actuator>,
    /// What is not taken over, a sentence each.
    pub left: Vec<String>,
}

/// A rigid part.
pub struct Link {
    /// Name.
    pub name: String,
    /// Where it stands in its file.
    pub place: Place,
    /// Its frame in the world, all joints at zero.
    pub frame: Isometry3<f64>,
    /// Mass, or 0.
    pub mass: f64,
    /// Centre of mass in its frame.
    pub centre: Vector3<f64>,
    /// Inertia about the centre of mass in the axes of its frame.
    pub inertia: Matrix3<f64>,
    /// What it looks like.
    pub looks: Vec<Look>,
    /// Frames on it, by name.
    pub markers: Vec<(String, Isometry3<f64>)>,
}

/// A shape on a link.
pub struct Look {
    /// Its frame on the link.
    pub frame: Isometry3<f64>,
    /// What it is.
    pub solid: Solid,
    /// Its colour as `#rrggbb`, if the file names one.
    pub colour: Option<String>,
}

/// A shape about the origin; axes are z.
pub enum Solid {
    /// Full edge lengths.
    Box(Vector3<f64>),
    /// Radius and length.
    Cylinder(f64, f64),
    /// Radius, and length between the half spheres.
    Capsule(f64, f64),
    /// Radius.
    Sphere(f64),
    /// Half axes.
    Ellipsoid(Vector3<f64>),
    /// A surface.
    Mesh(Vec<Triangle>),
}

/// What a joint lets its links do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Nothing.
    Fixed,
    /// Turn about the axis.
    Revolute,
    /// Move along the axis.
    Prismatic,
    /// Turn about a point.
    Spherical,
    /// Move in the plane across the axis, and turn about it.
    Planar,
    /// Everything.
    Floating,
}

/// A joint between two links.
pub struct Joint {
    /// Name.
    pub name: String,
    /// Where it stands in its file.
    pub place: Place,
    /// What it allows.
    pub motion: Motion,
    /// The link before it; none for the ground.
    pub parent: Option<usize>,
    /// The link that it moves.
    pub child: usize,
    /// Where it stands in the world.
    pub point: Vector3<f64>,
    /// Its axis in the world, of length 1.
    pub axis: Vector3<f64>,
    /// Bounds of its coordinate.
    pub lower: Option<f64>,
    /// The same above.
    pub upper: Option<f64>,
    /// Largest force or torque, or 0.
    pub effort: f64,
    /// Damping of its coordinate.
    pub damping: f64,
    /// Force or torque of dry friction.
    pub friction: f64,
    /// Stiffness of a spring in it.
    pub stiffness: f64,
    /// Coordinate at which the spring is free.
    pub rest: f64,
    /// Whether it closes a loop: other joints say already where its links stand.
    pub closes: bool,
}

/// coordinate = multiplier × coordinate of the leader + offset.
pub struct Coupling {
    /// The joint that follows.
    pub joint: usize,
    /// The joint that leads, or none for a fixed value.
    pub leader: Option<usize>,
    /// Ratio.
    pub multiplier: f64,
    /// Value where the leader is at zero.
    pub offset: f64,
}

/// A force or torque in a joint, set from outside.
pub struct Actuator {
    /// Name.
    pub name: String,
    /// The joint.
    pub joint: usize,
    /// Force in the joint over that which is set.
    pub gear: f64,
}

impl Look {
    /// A shape without a colour.
    pub fn new(frame: Isometry3<f64>, solid: Solid) -> Self {
        Self { frame, solid, colour: None }
    }

    /// The same with red, green, blue and opacity from 0 to 1, if they are known.
    #[must_use]
    pub fn with_colour(self, colour: Option<[f64; 4]>) -> Self {
        let part = |part: f64| (255.0 * part.clamp(0.0, 1.0)).round() as u8;
        let code = colour
            .map(|[red, green, blue, _]| format!("#{:02x}{:02x}{:02x}", part(red), part(green), part(blue)));
        Self { colour: code, ..self }
    }
}

impl Link {
    /// A link without mass at the origin.
    pub fn new(name: String, place: Place) -> Self {
        let (frame, centre) = (Isometry3::identity(), Vector3::zeros());
        let inertia = Matrix3::zeros();
        Self { name, place, frame, mass: 0.0, centre, inertia, looks: Vec::new(), markers: Vec::new() }
    }
}

impl Joint {
    /// A joint at the origin without bounds and forces.
    pub fn new(name: String, place: Place, motion: Motion, parent: Option<usize>, child: usize) -> Self {
        Self {
            name,
            place,
            motion,
            parent,
            child,
            point: Vector3::zeros(),
            axis: Vector3::z(),
            lower: None,
            upper: None,
            effort: 0.0,
            damping: 0.0,
            friction: 0.0,
            stiffness: 0.0,
            rest: 0.0,
            closes: false,
        }
    }
}
