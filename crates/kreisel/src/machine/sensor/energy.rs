//! Sensors of the machine as a whole: energies, residuals of the constraints, work of the solver.

use super::{NamedSensor, Reading, Sensor, SensorEntry, SensorOf, components, number};
use crate::results::Channel;

/// The family's lines of the table.
pub(super) const LINES: &[SensorEntry] = &[
    SensorEntry { word: "energy", of: SensorOf::Machine, make: |_| Ok(energy()) },
    SensorEntry { word: "constraint", of: SensorOf::Machine, make: |_| Ok(constraint()) },
    SensorEntry { word: "solver", of: SensorOf::Machine, make: |_| Ok(solver()) },
];

/// All that is usually recorded of the machine as a whole.
pub(crate) fn of_machine() -> [NamedSensor; 3] {
    [energy(), constraint(), solver()]
}

fn energy() -> NamedSensor {
    NamedSensor::new("energy", EnergySensor).of_the_past()
}

fn constraint() -> NamedSensor {
    NamedSensor::new("constraint", ResidualSensor).of_the_past()
}

fn solver() -> NamedSensor {
    NamedSensor::new("solver", SolverSensor).of_the_past()
}

/// Kinetic, potential, strain energy, work, dissipated, total, balance.
pub struct EnergySensor;

impl Sensor for EnergySensor {
    fn channels(&self) -> Vec<Channel> {
        components(&["kinetic", "potential", "strain", "work", "dissipated", "total", "balance"], "J")
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let mut energies = at.energies();
        energies.potential *= at.load_factor;
        let (work, dissipated) = (at.balance.work, at.balance.dissipated);
        let (total, balance) = (energies.total(), at.balance.defect(energies.total()));
        out.extend([energies.kinetic, energies.potential, energies.strain]);
        out.extend([work, dissipated, total, balance]);
    }
}

/// Norms of the constraints' residuals at position and velocity level.
pub struct ResidualSensor;

impl Sensor for ResidualSensor {
    fn channels(&self) -> Vec<Channel> {
        vec![Channel::new("position", "1"), Channel::new("velocity", "1/s")]
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        out.extend(at.constraint_residuals());
    }
}

/// Step size, Newton iterations and steps taken back.
pub struct SolverSensor;

impl Sensor for SolverSensor {
    fn channels(&self) -> Vec<Channel> {
        vec![Channel::new("step", "s"), Channel::new("iterations", "1"), Channel::new("rejections", "1")]
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        out.extend([at.solver.step, at.solver.iterations, at.solver.rejections]);
    }
}

/// Condition number of the iteration matrix.
pub(crate) struct ConditionSensor;

impl Sensor for ConditionSensor {
    fn channels(&self) -> Vec<Channel> {
        number("1")
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        out.push(at.solver.condition);
    }
}
