//! Shapes that can touch, and which of their features meet.
//!
//! A pair of shapes becomes a list of couples. In each a feature of one shape (a point with a radius around
//! it, a capsule's axis with its radius, the edge of a cylinder) meets a surface of the other. Axes of
//! revolution are z; a plane is z = 0 of its frame with matter below.

use crate::lie::Vector3;

/// A shape that can touch another; lengths in m, centred in its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Surface {
    /// Everything below z = 0.
    Plane,
    /// A sphere; a point if the radius is zero.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A cylinder along z with half a sphere on each end.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half the length of its axis, without the half spheres.
        half_length: f64,
    },
    /// A box.
    Box {
        /// Half its edges along x, y and z.
        half_size: Vector3,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half its length.
        half_length: f64,
    },
}

impl Surface {
    /// Word for messages.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::Sphere { radius: 0.0 } => "point",
            Self::Sphere { .. } => "sphere",
            Self::Capsule { .. } => "capsule",
            Self::Box { .. } => "box",
            Self::Cylinder { .. } => "cylinder",
        }
    }

    /// Radius of curvature for Hertz's law: infinite for flat sides, none for corners and edges.
    fn curvature_radius(&self) -> Option<f64> {
        match *self {
            Self::Plane | Self::Box { .. } => Some(f64::INFINITY),
            Self::Sphere { radius } | Self::Capsule { radius, .. } | Self::Cylinder { radius, .. } => {
                (radius > 0.0).then_some(radius)
            }
        }
    }

    /// Radius of a sphere about the shape's origin that holds the shape; infinite for a plane.
    pub fn extent(&self) -> f64 {
        match *self {
            Self::Plane => f64::INFINITY,
            Self::Sphere { radius } => radius,
            Self::Capsule { radius, half_length } => radius + half_length,
            Self::Box { half_size } => half_size.norm(),
            Self::Cylinder { radius, half_length } => radius.hypot(half_length),
        }
    }
}

/// What of a shape meets the surface of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feature {
    /// A point of the frame with a radius around it.
    Point {
        /// The point.
        at: Vector3,
        /// The radius.
        radius: f64,
    },
    /// The axis of a capsule.
    Axis {
        /// Half its length.
        half_length: f64,
        /// The radius around it.
        radius: f64,
    },
    /// The edge of one end of a cylinder, against planes.
    Edge {
        /// Height of the end on the axis.
        height: f64,
        /// Radius of the cylinder.
        radius: f64,
    },
}

/// A feature of one shape against the surface of the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Couple {
    /// Which of the two shapes has the feature; the other one has the surface.
    pub side: usize,
    /// The feature.
    pub feature: Feature,
    /// The surface.
    pub surface: Surface,
    /// Effective radius R of Hertz's law: 1/R = 1/R₁ + 1/R₂; infinite where both are flat or sharp.
    pub radius: f64,
}

/// Points that stand for the edge of one end of a cylinder against anything but a plane or a sphere.
const EDGE_POINTS: usize = 16;

/// The couples of two shapes; empty if they cannot touch (two planes).
pub fn couples(shapes: [&Surface; 2]) -> Vec<Couple> {
    let mut couples = Vec::new();
    for side in 0..2 {
        let (own, other) = (shapes[side], shapes[1 - side]);
        for feature in features(own, other, side) {
            couples.push(Couple {
                side,
                feature,
                surface: *other,
                radius: effective_radius(&feature, other),
            });
        }
    }
    couples
}

/// Features of a shape against another; of two that are alike the first has the feature.
fn features(own: &Surface, other: &Surface, side: usize) -> Vec<Feature> {
    use Surface::{Box, Capsule, Cylinder, Plane, Sphere};
    match (*own, *other) {
        (Plane, _) => Vec::new(),
        (Sphere { .. }, Sphere { .. }) if side == 1 => Vec::new(),
        (Sphere { radius }, _) => vec![Feature::Point { at: Vector3::zeros(), radius }],
        // Spheres and corners meet the others' surfaces instead.
        (_, Sphere { .. }) => Vec::new(),
        (Capsule { .. }, Capsule { .. }) if side == 1 => Vec::new(),
        (Capsule { radius, half_length }, Capsule { .. } | Box { .. } | Cylinder { .. }) => {
            vec![Feature::Axis { half_length, radius }]
        }
        // The capsule's axis meets the whole of a box or cylinder: sides, edges and corners.
        (Box { .. } | Cylinder { .. }, Capsule { .. }) => Vec::new(),
        (Capsule { radius, half_length }, _) => {
            let ends = [-half_length, half_length];
            ends.map(|z| Feature::Point { at: Vector3::new(0.0, 0.0, z), radius }).to_vec()
        }
        (Box { half_size }, _) => corners(&half_size),
        (Cylinder { radius, half_length }, Plane) => {
            [-half_length, half_length].map(|height| Feature::Edge { height, radius }).to_vec()
        }
        (Cylinder { radius, half_length }, _) => edge_points(radius, half_length),
    }
}

fn corners(half_size: &Vector3) -> Vec<Feature> {
    let sign = |corner: usize, axis: usize| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 };
    let corner = |index: usize| Vector3::from_fn(|axis, _| sign(index, axis) * half_size[axis]);
    (0..8).map(|index| Feature::Point { at: corner(index), radius: 0.0 }).collect()
}

fn edge_points(radius: f64, half_length: f64) -> Vec<Feature> {
    let point = |index: usize, height: f64| {
        let (sin, cos) = (std::f64::consts::TAU * index as f64 / EDGE_POINTS as f64).sin_cos();
        Feature::Point { at: Vector3::new(radius * cos, radius * sin, height), radius: 0.0 }
    };
    let ends = [-half_length, half_length].into_iter();
    ends.flat_map(|height| (0..EDGE_POINTS).map(move |index| point(index, height))).collect()
}

fn effective_radius(feature: &Feature, surface: &Surface) -> f64 {
    let own = match *feature {
        Feature::Point { radius, .. } | Feature::Axis { radius, .. } if radius > 0.0 => radius,
        _ => return f64::INFINITY,
    };
    surface.curvature_radius().map_or(f64::INFINITY, |other| 1.0 / (1.0 / own + 1.0 / other))
}
