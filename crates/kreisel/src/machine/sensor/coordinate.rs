//! Sensors of scalar coordinates between two frames.

use super::{Reading, Sensor, number, relative};
use crate::kinematics::{Coordinate, Frame, NodeId};
use crate::machine::MeasuredCoordinate;
use crate::results::Channel;

/// Shows a coordinate or its rate.
pub struct CoordinateSensor {
    nodes: [Option<NodeId>; 2],
    frames: Box<[Frame; 2]>,
    coordinate: Coordinate,
    rate: bool,
    unit: &'static str,
}

impl CoordinateSensor {
    /// A sensor of a coordinate.
    pub fn new(measured: &MeasuredCoordinate) -> Self {
        Self {
            nodes: measured.nodes,
            frames: Box::new(measured.offsets.map(Frame::new)),
            coordinate: measured.coordinate,
            rate: measured.rate,
            unit: measured.unit,
        }
    }
}

impl Sensor for CoordinateSensor {
    fn channels(&self) -> Vec<Channel> {
        number(self.unit)
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let relative = relative(at, &self.nodes, &self.frames);
        let near = at.near.first().copied().unwrap_or(0.0);
        let Self { coordinate, rate, .. } = self;
        out.push(if *rate { coordinate.rate(&relative) } else { coordinate.value(&relative, near) });
    }
}
