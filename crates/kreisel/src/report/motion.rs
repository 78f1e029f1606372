//! The motion of the nodes, read back from `trajectory.vtkhdf` at as many times as a picture needs.

use crate::lie::{Pose, UnitQuaternion, Vector3, so3};
use nalgebra::Quaternion;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Poses of all nodes at some of the output times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
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
#[derive(Debug, Error)]
pub enum MotionError {
    /// Not an HDF5 file, or not one of ours.
    #[error("`{}` cannot be read: {message}; run the model again", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
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

/// Frames of a picture, at most, however few nodes there are.
const MOST_FRAMES: usize = 20_000;

impl Motion {
    /// Reads the motion of `node_count` nodes with at most `most_poses` poses, but always the first and last.
    pub fn read(path: &Path, node_count: usize, most_poses: usize) -> Result<Self, MotionError> {
        let unreadable = |error: hdf5_pure::Error| MotionError::Unreadable {
            path: path.to_owned(),
            message: error.to_string(),
        };
        // Piece by piece: the file of a long run is larger than the memory that a picture is worth.
        let file = hdf5_pure::File::open_streaming(path).map_err(unreadable)?;
        let all_times =
            file.dataset("signals/time").and_then(|table| table.read_f64()).map_err(unreadable)?;
        let positions = file.dataset("nodes/position").map_err(unreadable)?;
        let rotations = file.dataset("nodes/rotation").map_err(unreadable)?;
        let rows = positions.shape().map_err(unreadable)?.first().copied().unwrap_or(0);
        if rows != (all_times.len() * node_count) as u64 {
            let path = path.to_owned();
            return Err(MotionError::OtherScene { path, rows, times: all_times.len(), nodes: node_count });
        }
        let mut motion = Self { node_count, ..Self::default() };
        let most = (most_poses / node_count.max(1)).clamp(2, MOST_FRAMES);
        let last = all_times.len().saturating_sub(1);
        let stride = all_times.len().div_ceil(most - 1).max(1);
        let mut from = 0;
        while from <= last && !all_times.is_empty() {
            // From one frame to the next, both included.
            let to = (from + stride).min(last);
            let (start, count) = ((from * node_count) as u64, ((to - from + 1) * node_count) as u64);
            let position = positions.read_f64_rows(start, count).map_err(unreadable)?;
            let rotation = rotations.read_f64_rows(start, count).map_err(unreadable)?;
            let block: Vec<Pose> = (position.as_chunks::<3>().0.iter())
                .zip(rotation.as_chunks::<4>().0)
                .map(|(position, rotation)| pose(*position, *rotation))
                .collect();
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

    /// The frames of one node.
    pub fn of_node(&self, node: usize) -> impl Iterator<Item = &Pose> {
        self.poses.iter().skip(node).step_by(self.node_count.max(1))
    }
}

fn pose(position: [f64; 3], [w, x, y, z]: [f64; 4]) -> Pose {
    Pose::new(UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)), Vector3::from(position))
}

/// What a viewer shows between two frames: straight paths, rotations at a steady rate.
fn between(first: &Pose, second: &Pose, part: f64) -> Pose {
    let turn = so3::log(&so3::compose(&first.rotation.inverse(), &second.rotation));
    Pose::new(
        so3::compose(&first.rotation, &so3::exp(&(part * turn))),
        first.position + part * (second.position - first.position),
    )
}
