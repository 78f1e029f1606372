//! Machines whose joints are driven as somebody says: the same equations with one more for each coordinate that
//! has a value, a rate and an acceleration of its own.

use std::sync::Arc;

use super::builder::{MachineBuilder, PartEntry, build};
use super::carrier::{TreeCarrier, poses, write_poses};
use super::entry::{InputEntry, MeasuredCoordinate};
use super::{Functions, Machine};
use crate::constrained::{IndependentRows, Kkt, Redundancy, compliance, implied_positions, independent_rows};
use crate::dae::{Dae, Initial};
use crate::joint::{CoordinateJoint, Row};
use crate::kinematics::NodeId;
use crate::model::{Document, ModelErrors};
use crate::system::{System, SystemBuilder};

/// A coordinate of a joint that is driven.
#[derive(Clone, Debug)]
pub struct LedCoordinate {
    /// Full name: `elbow.angle`.
    pub name: String,
    /// What it is.
    pub measured: MeasuredCoordinate,
}

impl LedCoordinate {
    /// Whether it is an angle in rad.
    pub fn is_angle(&self) -> bool {
        self.measured.coordinate.is_angle()
    }

    /// The joint to which it belongs.
    fn joint_name(&self) -> &str {
        self.name.rsplit_once('.').map_or("", |(joint, _)| joint)
    }

    /// The equation that keeps it at zero.
    fn joint(&self) -> CoordinateJoint {
        let MeasuredCoordinate { nodes, offsets, coordinate, .. } = self.measured;
        CoordinateJoint::between(nodes, offsets, vec![Row::keep(coordinate, 0.0)])
    }
}

/// A machine and its equations with driven coordinates.
pub struct LedMachine {
    machine: Arc<Machine>,
    /// The equations of the machine, then one for each coordinate.
    system: System,
    /// The inputs by their places in the memory of that system.
    inputs: Vec<InputEntry>,
    coordinates: Vec<LedCoordinate>,
    redundancy: Redundancy,
    /// How the machine is moved along the coordinates.
    carrier: TreeCarrier,
}

/// Why coordinates cannot be driven.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LedError {
    /// The model is wrong.
    #[error(transparent)]
    Model(#[from] ModelErrors),
    /// A name that is none of a coordinate.
    #[error("there is no coordinate `{name}`; there is {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The coordinates that there are.
        known: String,
    },
    /// A name that was given twice.
    #[error("the coordinate `{0}` is named twice")]
    Twice(String),
    /// More of the machine moves than the coordinates say.
    #[error(
        "the coordinates {named} do not determine how the machine moves: it has {free} more degrees of freedom{}; free bodies, ball joints and nodes of beams have no coordinates", in_which(.moving)
    )]
    Free {
        /// The coordinates.
        named: String,
        /// Degrees of freedom that are left.
        free: usize,
        /// What still moves.
        moving: Vec<String>,
    },
    /// A machine in which too many constraints depend on each other.
    #[error("which coordinates are independent is not looked for in loops of so many constraints; name them")]
    TooLarge,
}

shown_by_message!(LedError);

/// Most names of what moves in a message.
const MOST_NAMES: usize = 5;

/// What moves, in words.
fn in_which(moving: &[String]) -> String {
    let names: Vec<String> = moving.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    let more = if moving.len() > MOST_NAMES { " and others" } else { "" };
    if names.is_empty() { String::new() } else { format!(", in which {}{more} can move", names.join(", ")) }
}

/// Builds the machine that a document describes with driven coordinates: those of some names, or as many of all
/// as are independent where the machine starts, the first ones of the model first.
pub(crate) fn build_led(
    document: &Document,
    parts: &[&'static PartEntry],
    functions: &Functions,
    starts: &[(String, String)],
    wanted: Option<&[String]>,
) -> Result<LedMachine, LedError> {
    let machine = build(document, parts, functions, starts)?;
    let all: Vec<LedCoordinate> =
        machine.frames().coordinates().map(|(name, measured)| LedCoordinate { name, measured }).collect();
    let mut coordinates = match wanted {
        Some(names) => named(&all, names)?,
        None => all,
    };
    let equations = |coordinates: &[LedCoordinate]| -> Result<(System, Vec<InputEntry>), ModelErrors> {
        let add = |builder: &mut SystemBuilder| {
            coordinates.iter().for_each(|led| _ = builder.joint(led.name.clone(), led.joint()));
        };
        MachineBuilder::read(document, parts, functions)?.equations_with(document, parts, add)
    };
    let (mut system, mut inputs) = equations(&coordinates)?;
    let Initial { time, configuration, .. } = &machine.initial;
    if wanted.is_none() {
        let own = machine.system.shape().constraint_count();
        let IndependentRows::Found(independent) = independent_rows(&system, *time, configuration, own) else {
            return Err(LedError::TooLarge);
        };
        if independent.len() < coordinates.len() {
            coordinates = independent.into_iter().map(|place| coordinates[place].clone()).collect();
            (system, inputs) = equations(&coordinates)?;
        }
    }
    system.set_stiffness_scale(machine.system.scales().stiffness);
    let shape = system.shape();
    // Where the machine stands must follow from the coordinates: nonholonomic constraints say nothing of that.
    let implied = implied_positions(&system, *time, configuration);
    let free = (shape.velocity_count() + implied).saturating_sub(shape.constraint_count());
    let redundancy = Redundancy::find(&system, *time, configuration);
    if free > 0 {
        let moving = moving(&system, &redundancy, *time, configuration);
        return Err(LedError::Free { named: list(&coordinates), free, moving });
    }
    let joints = coordinates.iter().map(|led| (led.joint_name(), led.measured));
    let carrier = TreeCarrier::new(machine.frames(), &machine.system, joints);
    Ok(LedMachine { machine: Arc::new(machine), system, inputs, coordinates, redundancy, carrier })
}

/// Velocities below this part of the largest one are rounding, magnified by constraints that give way a little.
const MOVES: f64 = 1e-6;

/// Names of what moves in a machine whose coordinates stand still: some motion without any preference is
/// deprived of what the constraints forbid.
fn moving(system: &System, redundancy: &Redundancy, time: f64, configuration: &[f64]) -> Vec<String> {
    let shape = system.shape();
    let mut kkt = Kkt::new(system, shape.scales.mass);
    kkt.set_compliance(&compliance(system, redundancy));
    let any: Vec<f64> = (0..shape.velocity_count()).map(|index| 1.0 + (index as f64).sin()).collect();
    let (rest, mut forbidden) = (vec![0.0; any.len()], vec![0.0; any.len()]);
    if kkt.constrained_part(system, time, configuration, &rest, &any, &mut forbidden).is_err() {
        return Vec::new();
    }
    let left: Vec<f64> = any.iter().zip(&forbidden).map(|(any, forbidden)| (any - forbidden).abs()).collect();
    let most = left.iter().copied().fold(0.0, f64::max);
    let moves = |node: &usize| shape.space.velocity_range(*node).any(|index| left[index] > MOVES * most);
    let nodes = (0..system.node_count()).filter(moves);
    nodes.map(|node| system.node_name(NodeId(node)).to_owned()).collect()
}

/// Names in words.
fn list(coordinates: &[LedCoordinate]) -> String {
    let names: Vec<String> = coordinates.iter().map(|led| format!("`{}`", led.name)).collect();
    if names.is_empty() { "(none)".to_owned() } else { names.join(", ") }
}

/// The coordinates of some names; a joint with one coordinate may be named alone.
fn named(all: &[LedCoordinate], names: &[String]) -> Result<Vec<LedCoordinate>, LedError> {
    let mut found: Vec<LedCoordinate> = Vec::with_capacity(names.len());
    for name in names {
        let is_joint = |led: &&LedCoordinate| led.joint_name() == name;
        let exact = all.iter().find(|led| led.name == *name);
        let mut of_joint = all.iter().filter(is_joint);
        let led = exact.or_else(|| of_joint.next().filter(|_| of_joint.next().is_none()));
        let Some(led) = led else {
            return Err(LedError::Unknown { name: name.clone(), known: list(all) });
        };
        if found.iter().any(|known| known.name == led.name) {
            return Err(LedError::Twice(led.name.clone()));
        }
        found.push(led.clone());
    }
    Ok(found)
}

impl LedMachine {
    /// The machine.
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// Its equations, then one for each coordinate.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The inputs by their places in the memory of [`LedMachine::system`].
    pub fn inputs(&self) -> &[InputEntry] {
        &self.inputs
    }

    /// The coordinates.
    pub fn coordinates(&self) -> &[LedCoordinate] {
        &self.coordinates
    }

    /// The first of the constraints that drive coordinates.
    pub fn first_row(&self) -> usize {
        self.machine.system.shape().constraint_count()
    }

    /// Which constraints follow from others where the machine starts.
    pub(crate) fn redundancy(&self) -> &Redundancy {
        &self.redundancy
    }

    /// A configuration in which the coordinates have been moved to some values from another one: right for
    /// trees, a guess for loops.
    pub(crate) fn carried(&self, configuration: &[f64], targets: &[f64]) -> Vec<f64> {
        let system = &self.machine.system;
        let targets: Vec<Option<f64>> = targets.iter().copied().map(Some).collect();
        let there = self.carrier.moved(self.machine.frames(), &poses(system, configuration), &targets);
        let mut moved = configuration.to_vec();
        write_poses(system, &there, &mut moved);
        moved
    }

    /// Values of the coordinates where the machine starts, up to half a turn.
    pub(crate) fn initial_values(&self) -> Vec<f64> {
        let poses = poses(&self.machine.system, &self.machine.initial.configuration);
        (0..self.coordinates.len()).map(|place| self.carrier.value(place, &poses, 0.0)).collect()
    }

    /// What the machine's own system remembers where that with driven coordinates remembers something: the
    /// same without what belongs to the joints that drive.
    pub(crate) fn own_memory(&self, memory: &[f64]) -> Vec<f64> {
        let own = self.machine.system.shape().memory;
        if self.coordinates.is_empty() {
            return memory.to_vec();
        }
        let first = self.system.joint_memory(self.machine.system.joint_count()).start;
        [&memory[..first], &memory[first + memory.len() - own..]].concat()
    }
}
