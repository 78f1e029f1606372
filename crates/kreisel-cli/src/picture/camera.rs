//! From where a machine is looked at: without perspective, with everything in sight at all times.

use super::Size;
use kreisel::lie::Vector3;
use kreisel::report::Recording;
use kreisel::results::mesh::Mesh;
use kreisel::results::scene::bytes_of_colour;

/// From which side a machine is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum View {
    /// From above and aside
    #[default]
    Oblique,
    /// Along the depth
    Front,
    /// Along the width
    Side,
    /// From above
    Top,
}

/// Distance of the picture's edge from the machine, as part of its radius.
const MARGIN: f64 = 0.06;
/// Light that comes from everywhere, as in the page: with that of the lamp a face that is turned to it has its own colour.
const AMBIENT: f64 = 0.45;

/// An orthographic camera.
pub struct Camera {
    right: Vector3,
    above: Vector3,
    towards: Vector3,
    centre: Vector3,
    radius: f64,
    scale: f64,
    size: Size,
}

impl Camera {
    /// Sees all bodies at all times of the recording.
    pub fn around(recording: &Recording, view: View, size: Size) -> Self {
        let up = Vector3::from(recording.scene.up).try_normalize(1e-12).unwrap_or_else(Vector3::z);
        let helper = if up.y.abs() < 0.9 { Vector3::y() } else { -Vector3::z() };
        let right = helper.cross(&up).normalize();
        // Where the width is x and up is z, the depth is −y: the viewer stands in front.
        let front = right.cross(&up);
        let towards = match view {
            View::Oblique => 0.75 * right + front + 0.55 * up,
            View::Front => front,
            View::Side => right,
            View::Top => up,
        }
        .normalize();
        let above = if view == View::Top { -front } else { up - up.dot(&towards) * towards }.normalize();
        let right = above.cross(&towards);
        let mut camera =
            Self { right, above, towards, centre: Vector3::zeros(), radius: 1.0, scale: 1.0, size };
        camera.fit(&extent(recording));
        camera
    }

    fn fit(&mut self, points: &[Vector3]) {
        let range = |axis: Vector3| {
            let along = points.iter().map(|point| point.dot(&axis));
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        let axes = [self.right, self.above, self.towards];
        let ranges = axes.map(range);
        if !ranges.iter().all(|(low, high)| low.is_finite() && high.is_finite()) {
            return;
        }
        self.centre = axes.iter().zip(ranges).map(|(axis, (low, high))| 0.5 * (low + high) * axis).sum();
        let half = ranges.map(|(low, high)| 0.5 * (high - low));
        let radius = half.iter().fold(0.0_f64, |sum, part| sum.hypot(*part));
        self.radius = if radius > 0.0 { radius } else { 1.0 };
        let edge = MARGIN * self.radius;
        let room = [self.size.width, self.size.height].map(|pixels| 0.5 * f64::from(pixels));
        self.scale = (room[0] / (half[0] + edge)).min(room[1] / (half[1] + edge));
    }

    /// The middle of what is seen.
    pub fn centre(&self) -> Vector3 {
        self.centre
    }

    /// Whether a side with this normal is seen.
    pub fn sees(&self, normal: &Vector3) -> bool {
        normal.dot(&self.towards) > 1e-3
    }

    /// Half the diagonal of what is seen, in m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Pixels from the upper left corner, and nearness in parts of the radius.
    pub fn project(&self, corners: [Vector3; 3]) -> [[f64; 3]; 3] {
        corners.map(|corner| {
            let offset = corner - self.centre;
            let [x, y] = [self.right, self.above].map(|axis| self.scale * axis.dot(&offset));
            let [width, height] = [self.size.width, self.size.height].map(f64::from);
            [0.5 * width + x, 0.5 * height - y, self.towards.dot(&offset) / self.radius]
        })
    }

    /// The colour of a face in the light of a lamp to the upper left, as sRGB.
    pub fn shade(&self, corners: &[Vector3; 3], colour: [f64; 3]) -> [u8; 3] {
        let [a, b, c] = corners;
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or(self.towards);
        let lamp = (self.towards + 0.6 * self.above - 0.4 * self.right).normalize();
        // A sheet has two sides.
        let facing = if normal.dot(&self.towards) < 0.0 { -normal } else { normal };
        let light = AMBIENT + (1.0 - AMBIENT) * facing.dot(&lamp).max(0.0);
        bytes_of_colour(colour.map(|part| light * part))
    }
}

/// Corners of the boxes around all shapes, at all times.
fn extent(recording: &Recording) -> Vec<Vector3> {
    let scene = &recording.scene;
    let on_ground = |node: &Option<usize>| node.is_none();
    let mut points: Vec<Vector3> = Vec::new();
    for joint in &scene.joints {
        let ends = joint.nodes.iter().zip(&joint.frames).filter(|(node, _)| on_ground(node));
        points.extend(ends.map(|(_, frame)| Vector3::from(frame.position)));
    }
    for body in &scene.bodies {
        let boxes = body.shapes.iter().map(|shape| Mesh::from_shape(shape, 8).bounding_box());
        let corners: Vec<[f64; 3]> = boxes.flat_map(|mesh| mesh.points).collect();
        for pose in recording.motion.node_poses(body.node) {
            points.extend(corners.iter().map(|corner| pose.transform_point(&Vector3::from(*corner))));
        }
    }
    // A beam's thickness is less than the margin.
    points.extend(recording.motion.poses.iter().map(|pose| pose.position));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use kreisel::report::COLOURS;
    use kreisel::results::scene::linear_colour;

    #[test]
    fn a_face_in_the_light_has_the_colour_of_its_swatch() {
        let size = Size { width: 10, height: 10 };
        let (right, above, towards) = (Vector3::x(), Vector3::y(), Vector3::z());
        let camera =
            Camera { right, above, towards, centre: Vector3::zeros(), radius: 1.0, scale: 1.0, size };
        let lamp = (towards + 0.6 * above - 0.4 * right).normalize();
        let across = lamp.cross(&right).normalize();
        let face = [Vector3::zeros(), across, lamp.cross(&across)];
        for code in COLOURS {
            let shown = camera.shade(&face, linear_colour(code).unwrap());
            for (part, place) in shown.into_iter().zip([1, 3, 5]) {
                let swatch = f64::from(u8::from_str_radix(&code[place..place + 2], 16).unwrap());
                assert!((f64::from(part) - swatch).abs() <= 0.1 * swatch, "{shown:?} for {code}");
            }
        }
        // From the other side it is the same sheet, and aslant it is darker.
        let aslant =
            camera.shade(&[Vector3::zeros(), Vector3::y(), Vector3::z()], linear_colour(COLOURS[0]).unwrap());
        let lit = camera.shade(&face, linear_colour(COLOURS[0]).unwrap());
        assert!(aslant.iter().zip(lit).all(|(dark, light)| *dark < light), "{aslant:?} {lit:?}");
    }
}
