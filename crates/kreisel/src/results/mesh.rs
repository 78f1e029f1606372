//! Shapes as triangles, for programs that know nothing else.

use super::scene::{Geometry, SceneFrame, SceneMesh, SceneShape};
use std::collections::HashMap;
use std::f64::consts::PI;

/// A surface of triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners.
    pub points: Vec<[f64; 3]>,
    /// Three corners each, anticlockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
}

impl Mesh {
    /// The surface of a shape in the axes of its body; a circle becomes a polygon of `slices` corners.
    pub fn from_shape(shape: &SceneShape, slices: usize) -> Self {
        let half_sphere = |centre: f64, radius: f64, sign: f64| {
            let steps = (slices / 4).max(1);
            (0..=steps).map(move |step| {
                let angle = 0.5 * PI * step as f64 / steps as f64;
                // From the pole towards the equator below, from the equator to the pole above.
                let (sin, cos) = if sign < 0.0 { angle.sin_cos() } else { (angle.cos(), angle.sin()) };
                (centre + sign * radius * cos, radius * sin)
            })
        };
        let mut mesh = match &shape.geometry {
            Geometry::Sphere { radius } => {
                let below = half_sphere(0.0, *radius, -1.0);
                let profile: Vec<_> = below.chain(half_sphere(0.0, *radius, 1.0).skip(1)).collect();
                Self::revolution(&profile, slices)
            }
            Geometry::Capsule { radius, length } => {
                let below = half_sphere(-0.5 * length, *radius, -1.0);
                let profile: Vec<_> = below.chain(half_sphere(0.5 * length, *radius, 1.0)).collect();
                Self::revolution(&profile, slices)
            }
            Geometry::Cylinder { radius, length } => {
                let half = 0.5 * length;
                Self::revolution(&[(-half, 0.0), (-half, *radius), (half, *radius), (half, 0.0)], slices)
            }
            Geometry::Frustum { radii: [base, top], length } => {
                Self::revolution(&[(0.0, 0.0), (0.0, *base), (*length, *top), (*length, 0.0)], slices)
            }
            Geometry::Box { size } => Self::cuboid(size.map(|edge| -0.5 * edge), size.map(|edge| 0.5 * edge)),
            Geometry::Mesh(SceneMesh { points, triangles }) => Self {
                points: points.iter().map(|point| point.map(f64::from)).collect(),
                triangles: triangles.iter().map(|corners| corners.map(|corner| corner as usize)).collect(),
            },
        };
        mesh.points.iter_mut().for_each(|point| *point = placed(&shape.frame, *point));
        mesh
    }

    /// The box around the points.
    pub fn bounding_box(&self) -> Self {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for point in &self.points {
            for axis in 0..3 {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
        if self.points.is_empty() { Self::default() } else { Self::cuboid(low, high) }
    }

    fn cuboid(low: [f64; 3], high: [f64; 3]) -> Self {
        let corner = |index: usize| {
            std::array::from_fn(|axis| if index >> axis & 1 == 1 { high[axis] } else { low[axis] })
        };
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        Self { points: (0..8).map(corner).collect(), triangles }
    }

    /// The surface that a profile (z, r), from below, sweeps about z; a point on the axis is one corner.
    fn revolution(profile: &[(f64, f64)], slices: usize) -> Self {
        let mut mesh = Self::default();
        let mut last: Vec<usize> = Vec::new();
        for &(z, radius) in profile {
            // The rounded end of a profile on the axis: one point.
            let ring: Vec<usize> = if radius < 1e-12 {
                mesh.points.push([0.0, 0.0, z]);
                vec![mesh.points.len() - 1; slices]
            } else {
                (0..slices)
                    .map(|slice| {
                        let (sin, cos) = (2.0 * PI * slice as f64 / slices as f64).sin_cos();
                        mesh.points.push([radius * cos, radius * sin, z]);
                        mesh.points.len() - 1
                    })
                    .collect()
            };
            if !last.is_empty() {
                mesh.join(&last, &ring);
            }
            last = ring;
        }
        mesh
    }

    fn join(&mut self, below: &[usize], above: &[usize]) {
        for slice in 0..below.len() {
            let next = (slice + 1) % below.len();
            let [a, b, c, d] = [below[slice], below[next], above[next], above[slice]];
            self.triangles
                .extend([[a, b, c], [a, c, d]].into_iter().filter(|[p, q, r]| p != q && q != r && r != p));
        }
    }

    /// Corners that share a cell of a grid become one: the whole keeps its look at a size that can be drawn.
    pub fn clustered(&self, cells: usize) -> Self {
        let bounds = self.bounding_box();
        let (Some(low), Some(high)) = (bounds.points.first(), bounds.points.last()) else {
            return self.clone();
        };
        let size = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        if size <= 0.0 {
            return self.clone();
        }
        let cell = size / cells as f64;
        let mut mesh = Self::default();
        let mut numbers = HashMap::new();
        let mut counts: Vec<f64> = Vec::new();
        let corners: Vec<usize> = (self.points.iter())
            .map(|point| {
                let key: [i64; 3] = std::array::from_fn(|axis| ((point[axis] - low[axis]) / cell) as i64);
                let number = *numbers.entry(key).or_insert_with(|| {
                    mesh.points.push([0.0; 3]);
                    counts.push(0.0);
                    counts.len() - 1
                });
                counts[number] += 1.0;
                (0..3).for_each(|axis| mesh.points[number][axis] += point[axis]);
                number
            })
            .collect();
        for (point, count) in mesh.points.iter_mut().zip(&counts) {
            *point = point.map(|sum| sum / count);
        }
        let moved = self.triangles.iter().map(|triangle| triangle.map(|corner| corners[corner]));
        mesh.triangles = moved.filter(|[a, b, c]| a != b && b != c && c != a).collect();
        mesh
    }
}

/// A point of a frame in the axes that the frame is given in.
pub fn placed(frame: &SceneFrame, point: [f64; 3]) -> [f64; 3] {
    let turned = rotated(frame.rotation, point);
    std::array::from_fn(|axis| turned[axis] + frame.position[axis])
}

/// A vector turned by a unit quaternion w, x, y, z: v + 2 q × (q × v + w v).
pub fn rotated([w, x, y, z]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let inner = cross([x, y, z], v);
    let outer = cross([x, y, z], std::array::from_fn(|axis| inner[axis] + w * v[axis]));
    std::array::from_fn(|axis| v[axis] + 2.0 * outer[axis])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(geometry: Geometry<SceneMesh>) -> SceneShape {
        let half = 0.5_f64.sqrt();
        let frame = SceneFrame { position: [1.0, 2.0, 3.0], rotation: [half, 0.0, half, 0.0] };
        SceneShape { geometry, frame, default_shape: false, colour: None }
    }

    /// Volume by the divergence theorem; negative if the triangles look inwards.
    fn volume(mesh: &Mesh) -> f64 {
        let sixfold = |[a, b, c]: [[f64; 3]; 3]| {
            a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0])
        };
        mesh.triangles.iter().map(|corners| sixfold(corners.map(|corner| mesh.points[corner]))).sum::<f64>()
            / 6.0
    }

    #[test]
    fn surfaces_enclose_the_volume_of_their_shape_and_look_outwards() {
        let (r, l) = (0.3, 0.8);
        let ball = 4.0 / 3.0 * PI * r * r * r;
        for (geometry, expected) in [
            (Geometry::Sphere { radius: r }, ball),
            (Geometry::Box { size: [r, l, 1.0] }, r * l),
            (Geometry::Cylinder { radius: r, length: l }, PI * r * r * l),
            (Geometry::Capsule { radius: r, length: l }, PI * r * r * l + ball),
            (Geometry::Frustum { radii: [r, 0.0], length: l }, PI * r * r * l / 3.0),
        ] {
            let mesh = Mesh::from_shape(&shape(geometry.clone()), 100);
            // A polygon of 100 corners misses (2π/100)²/6 = 6.6e-4 of the circle, a meridian of 50 sides as
            // much twice.
            assert!((volume(&mesh) / expected - 1.0).abs() < 3e-3, "{geometry:?}: {}", volume(&mesh));
        }
    }

    #[test]
    fn the_frame_of_a_shape_places_its_surface() {
        let mesh = Mesh::from_shape(&shape(Geometry::Cylinder { radius: 0.1, length: 2.0 }), 8);
        let bounds = mesh.bounding_box();
        // The axis z of the shape is turned to x.
        assert!((bounds.points[0][0] - 0.0).abs() < 1e-12 && (bounds.points[7][0] - 2.0).abs() < 1e-12);
    }

    #[test]
    fn clustering_keeps_the_bounds_within_a_cell_and_the_volume_nearly() {
        let mesh = Mesh::from_shape(&shape(Geometry::Sphere { radius: 1.0 }), 200);
        let coarse = mesh.clustered(20);
        assert!(coarse.triangles.len() < mesh.triangles.len() / 5);
        // A corner moves by less than a cell of 0.1, inwards and outwards alike.
        assert!((volume(&coarse) / volume(&mesh) - 1.0).abs() < 0.05);
    }
}
