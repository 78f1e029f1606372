//! The dynamics of a machine as functions of the coordinates of its joints: mass matrix, forces, forward and
//! inverse dynamics, poses, Jacobians and energies at any state.
//!
//! The equations are those of the machine with one more for each coordinate ([`LedMachine`]): what drives
//! a coordinate is the force that inverse dynamics ask for, a motion that drives one and holds all others is
//! a column of Jacobians. So nothing is known here of trees. The machine follows the coordinates from where it
//! starts: loops are closed on the way, and full turns are counted.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use thiserror::Error;

use crate::constrained::{
    At, ConsistencyError, FollowError, Kkt, KktFailure, Led, Miss, Redundancy, Way, compliance_anywhere,
    in_words, largest,
};
use crate::dae::{Dae, Initial, Point, Values, Wanted, ask};
use crate::kinematics::{Energies, NodeId};
use crate::machine::sensor::Reading;
use crate::machine::{EnergyBalance, InputEntry, LedMachine, Machine, MovingFrame, NamedFrame, UnknownFrame};

/// A machine whose joints stand and move as the caller says.
///
/// ```
/// use kreisel::part::MachineReader;
/// use kreisel::run::Dynamics;
///
/// let pendulum = r#"
///     [[body]]
///     name = "bob"
///     mass = 2
///     inertia = [0.1, 0.1, 0.1]
///     position = [0.5, 0, 0]
///     [[revolute]]
///     name = "hinge"
///     bodies = ["ground", "bob"]
///     point = [0, 0, 0]
///     axis = [0, 1, 0]
/// "#;
/// let dynamics = Dynamics::new(MachineReader::new().led_text("pendulum.toml", pendulum, None)?);
/// let mut at = dynamics.evaluator();
/// at.set_state(&[0.3], &[1.0])?;
/// // About the hinge: 0.1 + 2 · 0.5².
/// assert!((at.mass_matrix()?[(0, 0)] - 0.6).abs() < 1e-12);
/// // The weight turns towards positive angles: what holds it has the other sign.
/// let holding = at.inverse(&[0.0])?.forces[0];
/// assert!((holding + 2.0 * 9.80665 * 0.5 * 0.3_f64.cos()).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Dynamics {
    led: LedMachine,
    angles: Vec<bool>,
    compliance: Vec<f64>,
    own_compliance: Vec<f64>,
    is_independent: bool,
    /// The coordinates where the machine starts.
    begin: Vec<f64>,
    /// What the system remembers there.
    memory: Vec<f64>,
    /// Whether the machine itself counts turns, or remembers anything else but inputs.
    remembers: bool,
    /// Whether constraints of the machine follow from others.
    is_redundant: bool,
}

/// Why a state cannot be, or what it asks for.
#[derive(Clone, Error)]
#[non_exhaustive]
pub enum DynamicsError {
    /// As many numbers are needed as there are coordinates.
    #[error("{found} {what} for {wanted} coordinates")]
    Count {
        /// What they are.
        what: &'static str,
        /// Numbers given.
        found: usize,
        /// Coordinates.
        wanted: usize,
    },
    /// A number is none.
    #[error("{what} must be finite numbers")]
    NotFinite {
        /// What they are.
        what: &'static str,
    },
    /// Loops do not allow the coordinates.
    #[error("the machine cannot reach these coordinates: {}", in_words(.0))]
    Unreachable(Vec<Miss>),
    /// Angles of so many turns that they are not counted one by one.
    #[error("the coordinates turn by {0:.3e} rad in all: full turns are counted up to 1e5 rad")]
    TooFar(f64),
    /// More coordinates than degrees of freedom, which do not move together.
    #[error(
        "the {0} of the coordinates contradict each other: the machine has fewer degrees of freedom than there are coordinates"
    )]
    Contradiction(&'static str),
    /// Coordinates that depend on each other have no mass matrix.
    #[error("the coordinates depend on each other: inverse dynamics alone are determined")]
    Dependent,
    /// Rates of the coordinates are tied to each other by knife edges or rolling wheels.
    #[error(
        "nonholonomic constraints tie the rates of the coordinates to each other: mass matrix and Jacobian are not determined, inverse and forward dynamics, poses and energies are"
    )]
    Nonholonomic,
    /// A name that is none of a frame.
    #[error(transparent)]
    Frame(#[from] UnknownFrame),
    /// What the equations say.
    #[error(transparent)]
    Equations(#[from] ConsistencyError),
}

shown_by_message!(DynamicsError);

/// What inverse dynamics find.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inverse {
    /// The force or torque that drives each coordinate, in N or Nm.
    pub forces: Vec<f64>,
    /// What each joint exerts on its second body at the joint's point, torque and then force, in world axes.
    pub reactions: Vec<[f64; 6]>,
}

/// Rates and accelerations that miss by more than this part contradict each other: rounding, magnified by
/// constraints that give way a little where they depend on each other.
const CONTRADICTION: f64 = 1e-7;

impl Dynamics {
    /// The dynamics of a machine in its driven coordinates.
    pub fn new(led: LedMachine) -> Self {
        let angles = led.coordinates().iter().map(|coordinate| coordinate.is_angle()).collect();
        let system = led.machine().system();
        let Initial { time, configuration, internal_states, .. } = led.machine().initial();
        let own = Redundancy::find(system, *time, configuration);
        let implied = |found: &Redundancy| found.implied.len() + found.implied_nonholonomic.len();
        let mut rest = Values::zeros(&led.system().shape());
        rest.internal_states.copy_from_slice(internal_states);
        let mut memory = rest.memory.clone();
        led.system().remember(&rest.point_at(*time, configuration, &rest.velocity), &mut memory);
        let of_inputs: usize = led.machine().inputs().iter().map(|input| input.slots.len()).sum();
        Self {
            compliance: compliance_anywhere(led.system(), led.redundancy()),
            own_compliance: compliance_anywhere(system, &own),
            is_independent: implied(&own) == implied(led.redundancy()),
            begin: led.initial_values(),
            memory,
            remembers: system.shape().memory > of_inputs,
            is_redundant: implied(&own) > 0,
            angles,
            led,
        }
    }

    /// The machine with its coordinates.
    pub fn led(&self) -> &LedMachine {
        &self.led
    }

    /// Whether the coordinates are as many as the machine has degrees of freedom where it is drawn.
    pub fn is_independent(&self) -> bool {
        self.is_independent
    }

    /// Whether constraints of the machine follow from others, so that reactions are the smallest of many.
    pub fn is_redundant(&self) -> bool {
        self.is_redundant
    }

    /// Number of coordinates.
    pub fn count(&self) -> usize {
        self.angles.len()
    }

    /// The frame of a body, a marker or a node of a beam.
    pub fn frame(&self, name: &str) -> Result<NamedFrame, DynamicsError> {
        Ok(self.led.machine().frames().frame(name)?)
    }

    /// Names of the joints in the order of [`Inverse::reactions`].
    pub fn joint_names(&self) -> Vec<String> {
        let system = self.led.machine().system();
        (0..system.joint_count()).map(|joint| system.joint_name(joint).to_owned()).collect()
    }

    /// Name of each body in the order of the velocity coordinates.
    pub fn node_names(&self) -> Vec<String> {
        let system = self.led.system();
        (0..system.node_count()).map(|node| system.node_name(NodeId(node)).to_owned()).collect()
    }

    /// The machine; the same as that of [`Dynamics::led`].
    pub fn machine(&self) -> &Arc<Machine> {
        self.led.machine()
    }

    /// What takes states one after the other and answers for each. Until it is given one it stands where the
    /// machine starts, with all inputs as the model gives them.
    pub fn evaluator(&self) -> Evaluator<'_> {
        let (led, machine) = (self.led.system(), self.led.machine());
        // Of the system with what drives the coordinates: its rates are part of the equations.
        let mut kkt = Kkt::new(&Evaluator::led(self, &Targets::default()), led.shape().scales.mass);
        kkt.set_compliance(&self.compliance);
        let initial = machine.initial();
        let mut values = Values::zeros(&led.shape());
        values.time = initial.time;
        values.configuration.copy_from_slice(&initial.configuration);
        values.internal_states.copy_from_slice(&initial.internal_states);
        values.memory.copy_from_slice(&self.memory);
        kkt.set_states(&values.internal_states, &values.memory);
        let inputs = machine.inputs().iter().map(|input| input.value).collect();
        Evaluator { dynamics: self, kkt, own: None, values, inputs, coordinates: self.begin.clone() }
    }
}

/// One state of a machine, and what its equations say there.
pub struct Evaluator<'d> {
    dynamics: &'d Dynamics,
    kkt: Kkt,
    /// Of the machine without what drives its coordinates, once somebody asks.
    own: Option<Kkt>,
    /// Of the system with what drives the coordinates.
    values: Values,
    inputs: Vec<f64>,
    /// Where the machine stands.
    coordinates: Vec<f64>,
}

/// How the coordinates are driven.
#[derive(Default)]
struct Targets<'a> {
    position: &'a [f64],
    rate: &'a [f64],
    acceleration: &'a [f64],
}

impl<'d> Evaluator<'d> {
    fn led<'a>(dynamics: &'a Dynamics, targets: &Targets<'a>) -> Led<'a> {
        Led {
            dae: dynamics.led.system(),
            first: dynamics.led.first_row(),
            angles: &dynamics.angles,
            position: targets.position,
            rate: targets.rate,
            acceleration: targets.acceleration,
            push: &[],
        }
    }

    fn failed(&self, failure: KktFailure) -> DynamicsError {
        failure.at_start(self.dynamics.led.system(), self.values.time).into()
    }

    /// Checks numbers, one for each coordinate.
    fn check(&self, what: &'static str, numbers: &[f64]) -> Result<(), DynamicsError> {
        let wanted = self.dynamics.count();
        if numbers.len() != wanted {
            return Err(DynamicsError::Count { what, found: numbers.len(), wanted });
        }
        match numbers.iter().all(|number| number.is_finite()) {
            true => Ok(()),
            false => Err(DynamicsError::NotFinite { what }),
        }
    }

    /// Sets the inputs of the model, in its order.
    pub fn set_inputs(&mut self, inputs: &[f64]) {
        self.inputs.copy_from_slice(inputs);
    }

    /// Takes a state: a coordinate each and its rate. Angles count full turns, and what follows them does.
    pub fn set_state(&mut self, coordinates: &[f64], rates: &[f64]) -> Result<(), DynamicsError> {
        self.check("coordinates", coordinates)?;
        self.check("rates", rates)?;
        let Dynamics { led, begin, memory, .. } = self.dynamics;
        self.place(led.machine().initial(), [begin, coordinates], memory.clone())?;
        self.move_at(coordinates, rates)
    }

    /// The same at another time, from where the machine stands: so a motion is followed over many turns, and
    /// what is led by laws of time goes along. States of the model keep the values with which they start.
    pub fn go_on(&mut self, time: f64, coordinates: &[f64], rates: &[f64]) -> Result<(), DynamicsError> {
        self.check("coordinates", coordinates)?;
        self.check("rates", rates)?;
        let configuration = self.values.configuration.clone();
        let here = Initial { time, configuration, ..self.dynamics.led.machine().initial().clone() };
        let begin = self.coordinates.clone();
        self.place(&here, [&begin, coordinates], self.values.memory.clone())?;
        self.move_at(coordinates, rates)
    }

    /// Puts the machine where the coordinates have values, and lets the system remember how it came there.
    fn place(
        &mut self,
        initial: &Initial,
        [begin, coordinates]: [&[f64]; 2],
        mut memory: Vec<f64>,
    ) -> Result<(), DynamicsError> {
        let Dynamics { led, angles, remembers, .. } = self.dynamics;
        let carried = |configuration: &[f64], targets: &[f64]| led.carried(configuration, targets);
        let way = Way { dae: led.system(), first: led.first_row(), angles, carried: &carried };
        let found = way.follow(initial, [begin, coordinates], &mut memory, *remembers);
        self.values.configuration = found.map_err(|error| match error {
            FollowError::Unreachable { misses, .. } => DynamicsError::Unreachable(misses),
            FollowError::TooFar(angle) => DynamicsError::TooFar(angle),
            FollowError::Other(error) => error.into(),
        })?;
        set_inputs(&mut memory, led.inputs(), &self.inputs);
        self.values.internal_states.copy_from_slice(&initial.internal_states);
        self.kkt.set_states(&initial.internal_states, &memory);
        self.values.memory = memory;
        self.values.time = initial.time;
        self.coordinates = coordinates.to_vec();
        Ok(())
    }

    /// Lets the machine move with rates of its coordinates.
    fn move_at(&mut self, coordinates: &[f64], rates: &[f64]) -> Result<(), DynamicsError> {
        let targets = Targets { position: coordinates, rate: rates, ..Targets::default() };
        let system = Self::led(self.dynamics, &targets);
        let Values { time, configuration, velocity, .. } = &mut self.values;
        velocity.fill(0.0);
        // Constraints that give way to reactions are met by a second round.
        for _ in 0..if self.dynamics.compliance.is_empty() { 1 } else { 2 } {
            let moved = self.kkt.scale_hidden_residual(&system, *time, configuration, velocity, 0.0);
            moved.map_err(|failure| failure.at_start(self.dynamics.led.system(), *time))?;
        }
        let (left, size) = self.kkt.hidden_violation(&system, *time, configuration, velocity);
        match largest(&left).1 <= CONTRADICTION * size {
            true => Ok(()),
            false => Err(DynamicsError::Contradiction("rates")),
        }
    }

    /// The forces that drive the coordinates with some accelerations, and what the joints transmit then; of
    /// forces and reactions that give the same motion the smallest, torques over the machine's length.
    pub fn inverse(&mut self, accelerations: &[f64]) -> Result<Inverse, DynamicsError> {
        self.check("accelerations", accelerations)?;
        let system = Self::led(self.dynamics, &Targets { acceleration: accelerations, ..Targets::default() });
        self.values.acceleration.fill(0.0);
        self.values.multipliers.fill(0.0);
        self.values.nonholonomic_multipliers.fill(0.0);
        let found = self.kkt.accelerate(&system, &mut self.values);
        found.map_err(|failure| self.failed(failure))?;
        if !self.dynamics.compliance.is_empty() {
            let Values { time, configuration, velocity, acceleration, .. } = &self.values;
            let (left, size) =
                self.kkt.acceleration_violation(&system, *time, configuration, velocity, acceleration);
            if largest(&left).1 > CONTRADICTION * (size + largest(accelerations).1) {
                return Err(DynamicsError::Contradiction("accelerations"));
            }
        }
        let (led, first) = (self.dynamics.led.system(), self.dynamics.led.first_row());
        let at = self.values.point();
        let machine = self.dynamics.led.machine().system();
        let reaction = |joint| led.reaction(joint, &at).into();
        Ok(Inverse {
            forces: self.values.multipliers[first..].iter().map(|multiplier| 0.0 - multiplier).collect(),
            reactions: (0..machine.joint_count()).map(reaction).collect(),
        })
    }

    /// Accelerations of the coordinates with forces that act on them beside those of the model.
    pub fn forward(&mut self, forces: &[f64]) -> Result<Vec<f64>, DynamicsError> {
        self.pushed(forces).map(|(_, accelerations)| accelerations)
    }

    /// What the machine records ([`MachineSignals::channels`](crate::machine::MachineSignals::channels)) with forces on the
    /// coordinates beside those of the model. Angles are within half a turn; work and losses up to here are zero.
    pub fn signals(&mut self, forces: &[f64]) -> Result<Vec<f64>, DynamicsError> {
        let (values, _) = self.pushed(forces)?;
        let machine = self.dynamics.led.machine();
        let balance = EnergyBalance::default();
        let at = Reading::new(machine.system(), values.point(), &balance);
        let mut numbers = Vec::new();
        for sensor in machine.signals().recorded() {
            let near = sensor.angles(&at, |_| 0.0);
            sensor.read(&at, &near, &mut numbers);
        }
        Ok(numbers)
    }

    /// How the machine alone moves with forces on the coordinates, and the accelerations of these.
    fn pushed(&mut self, forces: &[f64]) -> Result<(Values, Vec<f64>), DynamicsError> {
        self.check("forces", forces)?;
        let (led, machine) = (self.dynamics.led.system(), self.dynamics.led.machine().system());
        let first = self.dynamics.led.first_row();
        let mut multipliers = vec![0.0; self.values.multipliers.len()];
        multipliers[first..].copy_from_slice(forces);
        let mut push = vec![0.0; self.values.velocity.len()];
        let gradient = At::new(led, &self.values).gradient();
        gradient.transpose_multiply_add(1.0, &multipliers, &mut push);
        let system = Led {
            dae: machine,
            first,
            angles: &[],
            position: &[],
            rate: &[],
            acceleration: &[],
            push: &push,
        };
        let own = self.own.get_or_insert_with(|| {
            let mut own = Kkt::new(&system, machine.shape().scales.mass);
            own.set_compliance(&self.dynamics.own_compliance);
            own
        });
        let mut values = Values::zeros(&machine.shape());
        values.time = self.values.time;
        values.configuration.clone_from(&self.values.configuration);
        values.velocity.clone_from(&self.values.velocity);
        values.internal_states.clone_from(&self.values.internal_states);
        values.memory = self.dynamics.led.own_memory(&self.values.memory);
        own.set_states(&values.internal_states, &values.memory);
        own.accelerate(&system, &mut values).map_err(|failure| self.failed(failure))?;
        self.values.acceleration.clone_from(&values.acceleration);
        let mut rows = vec![0.0; multipliers.len()];
        ask(led, &self.values.point(), Wanted { curvature: Some(&mut rows), ..Wanted::default() });
        gradient.multiply_add(1.0, &self.values.acceleration, &mut rows);
        Ok((values, rows.split_off(first)))
    }

    /// The mass matrix in the coordinates.
    pub fn mass_matrix(&mut self) -> Result<DMatrix<f64>, DynamicsError> {
        self.motions().map(|(_, mass)| mass)
    }

    /// Motions of the machine by rates of the coordinates, and the mass matrix of these.
    fn motions(&mut self) -> Result<(DMatrix<f64>, DMatrix<f64>), DynamicsError> {
        if !self.dynamics.is_independent() {
            let is_nonholonomic = !self.values.nonholonomic_multipliers.is_empty();
            return Err(if is_nonholonomic { DynamicsError::Nonholonomic } else { DynamicsError::Dependent });
        }
        let (system, first) = (self.dynamics.led.system(), self.dynamics.led.first_row());
        let found = self.kkt.driven_motions(system, &self.values.point(), first);
        let found = found.map_err(|failure| self.failed(failure))?;
        Ok((found.velocities, found.mass))
    }

    /// Angular velocity and velocity of a frame by rates of the coordinates, in world axes: 6 rows.
    pub fn jacobian(&mut self, frame: &NamedFrame) -> Result<DMatrix<f64>, DynamicsError> {
        let (velocities, _) = self.motions()?;
        let mut jacobian = DMatrix::zeros(6, velocities.ncols());
        for (column, velocity) in velocities.column_iter().enumerate() {
            let velocity: DVector<f64> = velocity.into_owned();
            let at = Point { velocity: velocity.as_slice(), ..self.values.point() };
            let motion = frame.motion(self.dynamics.led.system(), &at);
            jacobian.fixed_view_mut::<3, 1>(0, column).copy_from(&motion.angular_velocity);
            jacobian.fixed_view_mut::<3, 1>(3, column).copy_from(&motion.velocity);
        }
        Ok(jacobian)
    }

    /// How a frame stands and moves.
    pub fn frame_motion(&self, frame: &NamedFrame) -> MovingFrame {
        frame.motion(self.dynamics.led.system(), &self.values.point())
    }

    /// Kinetic, potential and strain energy.
    pub fn energies(&self) -> Energies {
        self.dynamics.led.system().energies(&self.values.point())
    }

    /// Mass matrix of all velocity coordinates of the bodies.
    pub fn body_mass_matrix(&self) -> DMatrix<f64> {
        At::new(self.dynamics.led.system(), &self.values).mass().to_dense()
    }

    /// Gradient of the machine's constraints by all velocity coordinates of the bodies.
    pub fn constraint_jacobian(&self) -> DMatrix<f64> {
        let gradient = At::new(self.dynamics.led.system(), &self.values).gradient().to_dense();
        gradient.rows(0, self.dynamics.led.first_row()).into_owned()
    }

    /// Name of each body in the order of the velocity coordinates.
    pub fn node_names(&self) -> Vec<String> {
        self.dynamics.node_names()
    }
}

/// Puts inputs where a system keeps them.
fn set_inputs(memory: &mut [f64], entries: &[InputEntry], inputs: &[f64]) {
    for (entry, value) in entries.iter().zip(inputs) {
        entry.slots.iter().for_each(|&slot| memory[slot] = value - entry.value);
    }
}
