//! What `trajectory.vtkhdf` draws of a machine, and at which of the output times.
//!
//! Poses and signals are kept at every output time; shapes, which take most room, at a thousand of them or up to
//! twice as many, evenly over the run. A run does not know how many output times it will have, so every one is
//! drawn at first. When there are too many drawings every other one is given up, and of the output times to
//! come only half as many are drawn. The last one always is.

use super::mesh::rotated;
use super::scene::{SceneElement, SceneFrame};
use super::vtkhdf::NodeState;
use crate::bytes::{Damaged, Reader, Writer};
use crate::lie::{Pose, UnitQuaternion, Vector3, se3};
use nalgebra::Quaternion;

/// Output times that are drawn, at least, if there are as many: half a minute of a smooth film.
pub const MIN_FRAMES: usize = 1000;
/// Most drawings, but for the last: of one more every other one would be given up.
const MAX_FRAMES: usize = 2 * MIN_FRAMES - 1;

/// One drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FilmFrame {
    /// Its time in s.
    pub time: f64,
    /// The number of its output time.
    pub record: i64,
    /// The number of its drawing among all that were made.
    pub place: i64,
}

/// Which output times are drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Film {
    /// One of so many output times is drawn.
    stride: i64,
    frames: Vec<FilmFrame>,
    /// Drawings that were made, those that were given up included.
    drawn: i64,
}

impl Film {
    /// Nothing drawn yet, of a run with about so many output times, if that is known.
    pub fn new(expected: Option<u64>) -> Self {
        let stride = expected.map_or(1, |count| count / MIN_FRAMES as u64).clamp(1, 1 << 40);
        Self { stride: stride.cast_signed(), frames: Vec::new(), drawn: 0 }
    }

    /// Whether the output time of a number is to be drawn.
    pub fn wants(&self, record: i64) -> bool {
        record % self.stride == 0
    }

    /// Gives up every other drawing if there is no room for one more; tells whether it did. Perhaps that one is
    /// not wanted any more.
    pub fn make_room(&mut self) -> bool {
        if self.frames.len() < MAX_FRAMES {
            return false;
        }
        self.stride *= 2;
        self.frames.retain(|frame| frame.record % self.stride == 0);
        true
    }

    /// Takes a drawing.
    pub fn push(&mut self, time: f64, record: i64) -> FilmFrame {
        let frame = FilmFrame { time, record, place: self.drawn };
        self.frames.push(frame);
        self.drawn += 1;
        frame
    }

    /// All drawings that count, in order.
    pub fn frames(&self) -> &[FilmFrame] {
        &self.frames
    }

    pub fn save(&self, out: &mut Writer) {
        [self.stride, self.drawn, self.frames.len() as i64]
            .into_iter()
            .for_each(|number| out.whole(number.cast_unsigned()));
        for frame in &self.frames {
            out.number(frame.time);
            out.whole(frame.record.cast_unsigned());
            out.whole(frame.place.cast_unsigned());
        }
    }

    pub fn restore(reader: &mut Reader) -> Result<Self, Damaged> {
        let mut whole = || Ok(reader.whole()?.cast_signed());
        let (stride, drawn) = (whole()?, whole()?);
        let count = reader.count(24)?;
        let frame = |_| {
            let time = reader.number()?;
            let [record, place] = [reader.whole()?, reader.whole()?].map(u64::cast_signed);
            Ok(FilmFrame { time, record, place })
        };
        let frames = (0..count).map(frame).collect::<Result<_, _>>()?;
        if stride < 1 || drawn < 0 { Err(Damaged) } else { Ok(Self { stride, frames, drawn }) }
    }
}

impl SceneElement {
    /// Strain (κ, γ) = (log(H_A⁻¹ H_B) − d₀)/L, with its bow, and its section forces; zero where the screw
    /// turns by half a turn.
    pub(super) fn strain(&self, nodes: &[NodeState]) -> [[f64; 6]; 2] {
        let section = |side: usize| {
            let frame = pose(&self.frames[side]);
            self.nodes[side].map_or(frame, |node| {
                let NodeState { position, rotation, .. } = nodes[node];
                pose(&SceneFrame { position, rotation }).compose(&frame)
            })
        };
        let Ok(screw) = se3::log(&section(0).inverse().compose(&section(1))) else { return [[0.0; 6]; 2] };
        let mut strain: [f64; 6] =
            std::array::from_fn(|row| (screw[row] - self.reference[row]) / self.length);
        let times =
            |row: &[f64; 6], strain: &[f64; 6]| -> f64 { row.iter().zip(strain).map(|(a, b)| a * b).sum() };
        let mut bow: f64 = self.bow.iter().zip(&strain).map(|(row, e)| 0.5 * e * times(row, &strain)).sum();
        // The axis of the initial shape has the length of the element.
        let along = |turn: &[f64]| -> f64 {
            turn.iter().zip(&self.reference[3..]).map(|(a, b)| a * b).sum::<f64>() / self.length
        };
        let [now, initial] = [along(&screw.as_slice()[..3]), along(&self.reference[..3])];
        for (axis, row) in self.twisted_bow.iter().enumerate() {
            bow += times(row, &strain) * (now * screw[axis] - initial * self.reference[axis]);
        }
        (3..6).for_each(|row| strain[row] += bow * self.reference[row] / self.length);
        let force = self.stiffness.map(|row| times(&row, &strain));
        [strain, force]
    }
}

fn pose(frame: &SceneFrame) -> Pose {
    let [w, x, y, z] = frame.rotation;
    Pose::new(UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)), Vector3::from(frame.position))
}

/// Position and velocity v + ω × r of a point given in body axes.
pub(super) fn point_motion(node: &NodeState, point: [f64; 3]) -> ([f64; 3], [f64; 3]) {
    let arm = rotated(node.rotation, point);
    let [a, b, c] = node.angular_velocity;
    let swing = [b * arm[2] - c * arm[1], c * arm[0] - a * arm[2], a * arm[1] - b * arm[0]];
    let sum = |p: [f64; 3], q: [f64; 3]| std::array::from_fn(|axis| p[axis] + q[axis]);
    (sum(node.position, arm), sum(node.velocity, swing))
}

impl NodeState {
    pub(super) fn save(&self, out: &mut Writer) {
        let Self { position, rotation, velocity, angular_velocity } = self;
        let all = position.iter().chain(rotation).chain(velocity).chain(angular_velocity);
        all.for_each(|number| out.number(*number));
    }

    pub(super) fn restore(reader: &mut Reader) -> Result<Self, Damaged> {
        Ok(Self {
            position: reader.some_numbers()?,
            rotation: reader.some_numbers()?,
            velocity: reader.some_numbers()?,
            angular_velocity: reader.some_numbers()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(film: &mut Film, record: i64) {
        if film.wants(record) {
            film.make_room();
        }
        if film.wants(record) {
            film.push(0.5, record);
        }
    }

    #[test]
    fn frames_are_evenly_spread_and_neither_few_nor_many() {
        for expected in [None, Some(0), Some(1001), Some(40_000), Some(10_000_000)] {
            let mut film = Film::new(expected);
            for record in 0..50_001 {
                add(&mut film, record);
                let frames = film.frames();
                let known = expected.unwrap_or(0).min(50_000);
                assert!(frames.len() <= MAX_FRAMES, "{expected:?}, {record}");
                assert!(frames.len() >= MIN_FRAMES.min(record as usize + 1) || known > record as u64 / 2);
            }
            let distances = film.frames().windows(2).map(|pair| pair[1].record - pair[0].record);
            assert!(distances.clone().all(|distance| distance == film.stride), "{expected:?}");
            assert_eq!(film.frames()[0].record, 0);
        }
    }

    #[test]
    fn a_film_that_was_saved_goes_on_alike() {
        let mut film = Film::new(None);
        (0..2500).for_each(|record| add(&mut film, record));
        let mut saved = Writer::default();
        film.save(&mut saved);
        let mut restored = Film::restore(&mut Reader(&saved.0)).unwrap();
        for film in [&mut film, &mut restored] {
            (2500..9000).for_each(|record| add(film, record));
        }
        assert_eq!(film, restored);
        assert!(Film::restore(&mut Reader(&saved.0[..20])).is_err());
    }
}
