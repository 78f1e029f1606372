//! Shapes of bodies: what they weigh and how they are drawn.
//!
//! A shape has a frame of its own, in which [`Geometry`] says what it is. Spheres, boxes, cylinders and
//! capsules are centred in it; a cone or frustum stands with its base in the plane z = 0; a mesh lies as in
//! its file. Axes of revolution are z.

use std::f64::consts::PI;
use std::sync::Arc;

use crate::lie::{Matrix3, Pose, Vector3};
pub use crate::results::scene::Geometry;

/// A shape on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// What it is.
    pub geometry: Geometry<Triangles>,
    /// Its frame in body axes.
    pub frame: Pose,
}

/// A shape on a body with how it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenShape {
    /// The shape.
    pub solid: Solid,
    /// Its colour as `#rrggbb`, if the model names one.
    pub colour: Option<String>,
    /// Whether it is drawn.
    pub visible: bool,
}

/// How a body is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyLook {
    /// Its shapes; a body without any is drawn by its inertia.
    pub shapes: Vec<SeenShape>,
    /// The colour of what has none of its own, as `#rrggbb`.
    pub colour: Option<String>,
    /// Whether it is drawn.
    pub visible: bool,
}

impl Default for BodyLook {
    fn default() -> Self {
        Self { shapes: Vec::new(), colour: None, visible: true }
    }
}

/// A closed surface of triangles, as it is weighed.
pub type Triangles = Arc<Vec<[Vector3; 3]>>;

/// Volume integrals of a geometry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume in m³.
    pub volume: f64,
    /// Centroid in the frame of the shape, in m.
    pub centroid: Vector3,
    /// Inertia about the centroid for density one, in axes of the shape, in m⁵.
    pub inertia: Matrix3,
}

impl Geometry<Triangles> {
    /// Volume, centroid and inertia.
    pub fn properties(&self) -> MassProperties {
        match self {
            Self::Sphere { radius } => {
                let volume = 4.0 / 3.0 * PI * radius.powi(3);
                centred(volume, Vector3::repeat(0.4 * volume * radius * radius))
            }
            Self::Box { size } => {
                let volume = size.iter().product();
                let square = Vector3::from(*size).map(|edge| edge * edge);
                centred(volume, Vector3::repeat(volume / 12.0 * square.sum()) - volume / 12.0 * square)
            }
            Self::Cylinder { radius, length } => {
                let volume = PI * radius * radius * length;
                let across = volume * (radius * radius / 4.0 + length * length / 12.0);
                centred(volume, Vector3::new(across, across, volume * radius * radius / 2.0))
            }
            Self::Capsule { radius, length } => capsule(*radius, *length),
            Self::Frustum { radii, length } => frustum(*radii, *length),
            Self::Mesh(triangles) => mesh(triangles),
        }
    }
}

fn centred(volume: f64, moments: Vector3) -> MassProperties {
    MassProperties { volume, centroid: Vector3::zeros(), inertia: Matrix3::from_diagonal(&moments) }
}

/// The centroid of half a sphere lies 3r/8 from its flat side.
fn capsule(radius: f64, length: f64) -> MassProperties {
    let square = radius * radius;
    let (middle, ends) = (PI * square * length, 4.0 / 3.0 * PI * radius * square);
    let along = middle * square / 2.0 + ends * 0.4 * square;
    let across = middle * (square / 4.0 + length * length / 12.0)
        + ends * (0.4 * square + length * length / 4.0 + 3.0 / 8.0 * radius * length);
    centred(middle + ends, Vector3::new(across, across, along))
}

/// Integrals over discs of radius r(z) = a + (b − a) z/l: volume π r², moments π r⁴/2 and π (r⁴/4 + r² z²).
fn frustum([a, b]: [f64; 2], length: f64) -> MassProperties {
    let squares = a * a + a * b + b * b;
    let fourths = a.powi(4) + a.powi(3) * b + a * a * b * b + a * b.powi(3) + b.powi(4);
    let volume = PI * length / 3.0 * squares;
    let centre = length / 4.0 * (a * a + 2.0 * a * b + 3.0 * b * b) / squares;
    let about_base =
        PI * length / 20.0 * fourths + PI * length.powi(3) / 30.0 * (a * a + 3.0 * a * b + 6.0 * b * b);
    let across = about_base - volume * centre * centre;
    MassProperties {
        volume,
        centroid: Vector3::new(0.0, 0.0, centre),
        inertia: Matrix3::from_diagonal(&Vector3::new(across, across, PI * length / 10.0 * fourths)),
    }
}

/// Sums over the tetrahedra between the triangles and a point.
///
/// A tetrahedron with one corner at the origin and the others at a, b, c has the sixfold volume δ = a·(b ×
/// c), the first moment δ (a + b + c)/24 and the second moment δ (aaᵀ + bbᵀ + ccᵀ + ssᵀ)/120 with s = a + b +
/// c.
fn mesh(triangles: &[[Vector3; 3]]) -> MassProperties {
    // The first corner as origin keeps the digits of a small body far away from the frame.
    let origin = triangles.first().map_or_else(Vector3::zeros, |triangle| triangle[0]);
    let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for triangle in triangles {
        let [a, b, c] = triangle.map(|corner| corner - origin);
        let sixfold = a.dot(&b.cross(&c));
        let sum = a + b + c;
        volume += sixfold / 6.0;
        first += sixfold / 24.0 * sum;
        second += sixfold / 120.0
            * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
    }
    if volume == 0.0 {
        return MassProperties { volume, centroid: origin, inertia: Matrix3::zeros() };
    }
    let centre = first / volume;
    let second = second - volume * centre * centre.transpose();
    let inertia = second.trace() * Matrix3::identity() - second;
    // Triangles seen from inside count everything negative.
    MassProperties { volume: volume.abs(), centroid: origin + centre, inertia: volume.signum() * inertia }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangles of a body of revolution about z with a given profile (z, r), by many slices.
    fn revolution(profile: &[(f64, f64)], slices: usize) -> Vec<[Vector3; 3]> {
        let point = |(z, r): (f64, f64), slice: usize| {
            let angle = 2.0 * PI * slice as f64 / slices as f64;
            Vector3::new(r * angle.cos(), r * angle.sin(), z)
        };
        let mut triangles = Vec::new();
        for pair in profile.windows(2) {
            for slice in 0..slices {
                let [a, b] = [point(pair[0], slice), point(pair[0], slice + 1)];
                let [c, d] = [point(pair[1], slice), point(pair[1], slice + 1)];
                triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
        triangles
    }

    fn assert_same(name: &str, geometry: &Geometry<Triangles>, triangles: Vec<[Vector3; 3]>, tolerance: f64) {
        let exact = geometry.properties();
        let summed = Geometry::Mesh(Arc::new(triangles)).properties();
        assert!((exact.volume / summed.volume - 1.0).abs() < tolerance, "{name}: volume");
        assert!((exact.centroid - summed.centroid).norm() < tolerance, "{name}: centroid");
        let error = (exact.inertia - summed.inertia).amax() / exact.inertia.amax();
        assert!(error < tolerance, "{name}: inertia {error}");
    }

    // An inscribed prism of n slices misses the circle's area by (2π/n)²/6, and the fourth moments twice
    // that: 1.3e-4 for n = 300; arcs of the meridian in 300 pieces add as much.
    const SLICED: f64 = 5e-4;

    #[test]
    fn bodies_of_revolution_weigh_what_their_volume_integrals_say() {
        let arc = |centre: f64, radius: f64, from: f64, to: f64| {
            (0..=300).map(move |k| {
                let angle = from + (to - from) * f64::from(k) / 300.0;
                (centre - radius * angle.cos(), radius * angle.sin().max(0.0))
            })
        };
        let sphere: Vec<_> = arc(0.0, 0.7, 0.0, PI).collect();
        assert_same("sphere", &Geometry::Sphere { radius: 0.7 }, revolution(&sphere, 300), SLICED);
        let capsule: Vec<_> = arc(-0.4, 0.3, 0.0, PI / 2.0).chain(arc(0.4, 0.3, PI / 2.0, PI)).collect();
        let geometry = Geometry::Capsule { radius: 0.3, length: 0.8 };
        assert_same("capsule", &geometry, revolution(&capsule, 300), SLICED);
        let cylinder = [(-0.5, 0.0), (-0.5, 0.2), (0.5, 0.2), (0.5, 0.0)];
        let geometry = Geometry::Cylinder { radius: 0.2, length: 1.0 };
        assert_same("cylinder", &geometry, revolution(&cylinder, 300), SLICED);
        let frustum = [(0.0, 0.0), (0.0, 0.5), (0.9, 0.2), (0.9, 0.0)];
        let geometry = Geometry::Frustum { radii: [0.5, 0.2], length: 0.9 };
        assert_same("frustum", &geometry, revolution(&frustum, 300), SLICED);
        let cone = [(0.0, 0.0), (0.0, 0.5), (0.9, 0.0)];
        let geometry = Geometry::Frustum { radii: [0.5, 0.0], length: 0.9 };
        assert_same("cone", &geometry, revolution(&cone, 300), SLICED);
    }

    #[test]
    fn a_cone_has_the_textbook_centroid_and_moments() {
        let (r, h) = (0.3, 0.8);
        let cone = Geometry::Frustum { radii: [r, 0.0], length: h }.properties();
        let mass = PI * r * r * h / 3.0;
        // A few roundings.
        assert!((cone.volume - mass).abs() < 1e-15);
        assert!((cone.centroid.z - h / 4.0).abs() < 1e-15);
        assert!((cone.inertia[(2, 2)] - 0.3 * mass * r * r).abs() < 1e-16);
        let across = 3.0 / 20.0 * mass * r * r + 3.0 / 80.0 * mass * h * h;
        assert!((cone.inertia[(0, 0)] - across).abs() < 1e-16);
    }

    #[test]
    fn a_mesh_of_a_box_is_the_box_whichever_way_its_triangles_look() {
        let size = Vector3::new(0.2, 0.5, 1.1);
        let corner = |index: usize| {
            let sign = |bit: usize| if index >> bit & 1 == 1 { 0.5 } else { -0.5 };
            Vector3::new(sign(0) * size.x, sign(1) * size.y, sign(2) * size.z) + Vector3::new(3.0, -2.0, 1.0)
        };
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles: Vec<[Vector3; 3]> = (faces.iter())
            .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
            .map(|corners| corners.map(corner))
            .collect();
        let inside_out: Vec<[Vector3; 3]> = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        let exact = Geometry::Box { size: size.into() }.properties();
        for triangles in [triangles, inside_out] {
            let summed = Geometry::Mesh(Arc::new(triangles)).properties();
            // Roundings of numbers of order one.
            assert!((summed.volume - exact.volume).abs() < 1e-15);
            assert!((summed.centroid - Vector3::new(3.0, -2.0, 1.0)).norm() < 1e-14);
            assert!((summed.inertia - exact.inertia).amax() < 1e-15);
        }
    }
}
