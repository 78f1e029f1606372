//! The motion of the nodes, read back from `trajectory.vtkhdf` at as many times as a picture needs.

use crate::file::read_own;
use crate::lie::{Pose, UnitQuaternion, Vector3, so3};
use crate::results::{Hdf5Reader, ReadFault};
use nalgebra::Quaternion;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Poses of all nodes at some of the output times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedMotion {
    /// Times in s.
    pub times: Vec<f64>,
    /// Number of nodes.
    pub node_count: usize,
    /// Poses, those of one time together.
    pub poses: Vec<Pose>,
    /// Largest distance in m between a node and its path from frame to frame.
    pub position_error: f64,
    /// Largest angle in rad between a node and its turning from frame to frame.
    pub rotation_error: f64,
}

/// Why a motion cannot be read.
#[derive(Error)]
#[non_exhaustive]
pub enum MotionError {
    /// Not an HDF5 file, or not one of ours.
    #[error("`{}` cannot be read: {message}; run the model again", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A pose of which a number is none.
    #[error("`{}` has a pose that is no number, of node {node} at t = {time} s; run the model again", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// When, in s.
        time: f64,
        /// Index of the node.
        node: usize,
    },
    /// More poses than there is memory for.
    #[error("`{}` has too many poses for a picture, {times} times of {nodes} nodes; a larger `output-step` makes fewer", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Output times in the file.
        times: u64,
        /// Nodes of the scene.
        nodes: usize,
    },
    /// Tables of lengths that do not fit each other.
    #[error("`{}` belongs to another scene: it has {rows} poses for {times} times of {nodes} nodes", path.display())]
    OtherScene {
        /// The file.
        path: PathBuf,
        /// Poses in the file.
        rows: u64,
        /// Output times in the file.
        times: usize,
        /// Nodes of the scene.
        nodes: usize,
    },
}

shown_by_message!(MotionError);

impl MotionError {
    pub(super) fn unreadable(path: &Path, message: impl ToString) -> Self {
        Self::Unreadable { path: path.to_owned(), message: message.to_string() }
    }
}

/// Output times that are read, at most.
const MAX_TIMES: u64 = 1 << 26;

/// Poses between two frames, at most: they are compared with the picture all at once, and take 120 bytes each.
const MAX_BETWEEN: u64 = 8_000_000;

/// Frames of a picture, at most, however few nodes there are.
const MAX_FRAMES: usize = 20_000;

impl RecordedMotion {
    /// A pose from a position and a unit quaternion w, x, y, z.
    pub fn pose(position: [f64; 3], [w, x, y, z]: [f64; 4]) -> Pose {
        Pose::new(UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)), Vector3::from(position))
    }

    /// Reads the motion of `node_count` nodes with at most `max_poses` poses, but always the first and last.
    pub fn read(path: &Path, node_count: usize, max_poses: usize) -> Result<Self, MotionError> {
        Self::read_over(path, node_count, max_poses, |times| times)
    }

    /// The same with the number of each frame in place of its time.
    pub(super) fn read_numbered(
        path: &Path,
        node_count: usize,
        max_poses: usize,
    ) -> Result<Self, MotionError> {
        let numbers = |times: Vec<f64>| (0..times.len()).map(|frame| frame as f64).collect();
        Self::read_over(path, node_count, max_poses, numbers)
    }

    fn read_over(
        path: &Path,
        node_count: usize,
        max_poses: usize,
        renamed: impl FnOnce(Vec<f64>) -> Vec<f64>,
    ) -> Result<Self, MotionError> {
        let unreadable = |error: ReadFault| MotionError::unreadable(path, error);
        // Piece by piece: the file of a long run is larger than the memory that a picture is worth.
        let file = read_own(path).map_err(|error| MotionError::unreadable(path, error))?;
        let mut file = Hdf5Reader::new(file).map_err(unreadable)?;
        let table = file.table("signals/time").map_err(unreadable)?;
        let too_large =
            |times: u64| MotionError::TooLarge { path: path.to_owned(), times, nodes: node_count };
        if table.rows > MAX_TIMES || table.columns != 1 {
            return Err(too_large(table.rows));
        }
        let all_times = file.rows(&table, 0, table.rows).map_err(unreadable)?;
        if let Some(time) = all_times.iter().find(|time| !time.is_finite()) {
            return Err(MotionError::unreadable(path, format_args!("the time {time} is none")));
        }
        let all_times = renamed(all_times);
        let positions = file.table("nodes/position").map_err(unreadable)?;
        let rotations = file.table("nodes/rotation").map_err(unreadable)?;
        let rows = positions.rows;
        if rows != all_times.len() as u64 * node_count as u64 {
            let path = path.to_owned();
            return Err(MotionError::OtherScene { path, rows, times: all_times.len(), nodes: node_count });
        }
        let mut motion = Self { node_count, ..Self::default() };
        let most = (max_poses / node_count.max(1)).clamp(2, MAX_FRAMES);
        let last = all_times.len().saturating_sub(1);
        let stride = all_times.len().div_ceil(most - 1).max(1);
        let is_wide = positions.columns != 3 || rotations.columns != 4;
        if (stride as u64 + 1).saturating_mul(node_count as u64) > MAX_BETWEEN || is_wide {
            return Err(too_large(all_times.len() as u64));
        }
        let mut from = 0;
        while from <= last && !all_times.is_empty() {
            // From one frame to the next, both included.
            let to = (from + stride).min(last);
            let (start, count) = ((from * node_count) as u64, ((to - from + 1) * node_count) as u64);
            let position = file.rows(&positions, start, count).map_err(unreadable)?;
            let rotation = file.rows(&rotations, start, count).map_err(unreadable)?;
            let block: Vec<Pose> = (position.as_chunks::<3>().0.iter())
                .zip(rotation.as_chunks::<4>().0)
                .map(|(position, rotation)| Self::pose(*position, *rotation))
                .collect();
            if block.len() as u64 != count {
                return Err(MotionError::unreadable(path, "poses that are not three and four numbers"));
            }
            if let Some(row) = block.iter().position(|pose| !is_finite(pose)) {
                let (time, node) = (all_times[from + row / node_count], row % node_count);
                return Err(MotionError::NotFinite { path: path.to_owned(), time, node });
            }
            motion.push(&all_times[from..=to], &block);
            from = if to == last { last + 1 } else { to };
        }
        Ok(motion)
    }

    /// Adds the frames at both ends of a block and books what lies between.
    fn push(&mut self, times: &[f64], block: &[Pose]) {
        let count = self.node_count;
        let (Some(&start), Some(&end)) = (times.first(), times.last()) else { return };
        if self.times.last() != Some(&start) {
            self.times.push(start);
            self.poses.extend_from_slice(&block[..count]);
        }
        if times.len() == 1 {
            return;
        }
        let (first, last) = (&block[..count], &block[block.len() - count..]);
        for (step, &time) in times.iter().enumerate().take(times.len() - 1).skip(1) {
            let part = (time - start) / (end - start);
            for (node, pose) in block[step * count..(step + 1) * count].iter().enumerate() {
                let drawn = between(&first[node], &last[node], part);
                self.position_error = self.position_error.max((drawn.position - pose.position).norm());
                let turned = so3::log(&so3::compose(&drawn.rotation.inverse(), &pose.rotation));
                self.rotation_error = self.rotation_error.max(turned.norm());
            }
        }
        self.times.push(end);
        self.poses.extend_from_slice(last);
    }

    /// Poses of all nodes at a time: between two frames as a viewer shows them, else those of the nearest
    /// frame.
    pub fn at(&self, time: f64) -> Vec<Pose> {
        let count = self.node_count;
        let after = self.times.partition_point(|frame| *frame <= time);
        let frame = |index: usize| &self.poses[index * count..(index + 1) * count];
        match (after, self.times.len()) {
            (_, 0) => Vec::new(),
            (0, _) => frame(0).to_vec(),
            (after, frames) if after == frames => frame(frames - 1).to_vec(),
            (after, _) => {
                let (start, end) = (self.times[after - 1], self.times[after]);
                let part = (time - start) / (end - start);
                let pairs = frame(after - 1).iter().zip(frame(after));
                pairs.map(|(first, second)| between(first, second, part)).collect()
            }
        }
    }

    /// The frames of one node.
    pub fn node_poses(&self, node: usize) -> impl Iterator<Item = &Pose> {
        self.poses.iter().skip(node).step_by(self.node_count.max(1))
    }
}

fn is_finite(pose: &Pose) -> bool {
    pose.position.iter().chain(pose.rotation.coords.iter()).all(|number| number.is_finite())
}

/// What a viewer shows between two frames: straight paths, rotations at a steady rate.
fn between(first: &Pose, second: &Pose, part: f64) -> Pose {
    let turn = so3::log(&so3::compose(&first.rotation.inverse(), &second.rotation));
    Pose::new(
        so3::compose(&first.rotation, &so3::exp(&(part * turn))),
        first.position + part * (second.position - first.position),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_between_two_frames_lie_on_the_way_and_outside_they_stay() {
        let turned = |x: f64| Pose::new(so3::exp(&Vector3::new(0.0, 0.0, x)), Vector3::new(x, 0.0, 0.0));
        let motion = RecordedMotion {
            times: vec![0.0, 2.0],
            node_count: 1,
            poses: vec![turned(0.0), turned(1.0)],
            ..RecordedMotion::default()
        };
        for (time, x) in [(-1.0, 0.0), (0.0, 0.0), (0.5, 0.25), (2.0, 1.0), (3.0, 1.0)] {
            let [pose] = motion.at(time)[..] else { panic!("one node") };
            // A few roundings of numbers of size one.
            assert!((pose.position.x - x).abs() < 1e-15, "{time}");
            assert!((so3::log(&pose.rotation).z - x).abs() < 1e-15, "{time}");
        }
        assert!(RecordedMotion::default().at(0.0).is_empty());
    }
}
