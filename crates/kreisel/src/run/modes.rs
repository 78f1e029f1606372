//! Small motions of a machine: about its initial state or about its equilibrium.

use super::RunError;
use super::recorder::node_state;
use crate::dae::{Dae, Equation, Note, NoteKind, Notes, Values};
use crate::kinematics::NodeId;
use crate::lie::Group;
use crate::machine::Machine;
use crate::modes::{Linearized, Mode, ModeSettings, Modes, ModesError};
use crate::results::NodeState;

/// The state about which a machine is linearised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// The initial state of the model, made consistent, with its velocities.
    #[default]
    Initial,
    /// The equilibrium under the loads at the start time.
    Static,
}

/// Linearised equations of a machine.
#[derive(Clone, Debug)]
pub struct LinearizedMachine {
    /// The matrices.
    pub linearized: Linearized,
    /// The configuration about which they are.
    pub configuration: Vec<f64>,
    /// What the user should know about the model and the state.
    pub notes: Notes,
}

impl LinearizedMachine {
    /// Finds the slowest modes.
    pub fn modes(self, settings: ModeSettings) -> Result<MachineModes, RunError> {
        let Self { linearized, configuration, mut notes } = self;
        let Modes { modes, overdamped, notes: doubts } = linearized.modes(settings)?;
        notes.extend(doubts);
        Ok(MachineModes { linearized, modes, overdamped, configuration, notes })
    }
}

/// Linearised equations of a machine with its modes.
#[derive(Clone, Debug)]
pub struct MachineModes {
    /// The matrices.
    pub linearized: Linearized,
    /// The modes that oscillate, grow or stay, slowest first.
    pub modes: Vec<Mode>,
    /// Those that decay without oscillation, slowest first.
    pub overdamped: Vec<Mode>,
    /// The configuration about which they are.
    pub configuration: Vec<f64>,
    /// What the user should know about the model and the state.
    pub notes: Notes,
}

/// Accelerations below this part of gravity's are those of an equilibrium: equilibria are found to 1e-8, and
/// stiff machines magnify that.
const AT_REST: f64 = 1e-6 * 9.81;

/// Largest displacement in a picture of a mode, in lengths of the machine and rad.
const SHOWN_DISPLACEMENT: f64 = 0.1;

impl Machine {
    /// Linearises about a state and finds the slowest modes.
    pub fn modes(&self, about: About, settings: ModeSettings) -> Result<MachineModes, RunError> {
        self.linearize(about)?.modes(settings)
    }

    /// Linearises about a state.
    pub fn linearize(&self, about: About) -> Result<LinearizedMachine, RunError> {
        let mut notes = self.notes().clone();
        let (linearized, configuration) = match about {
            About::Static => {
                let solution = self.equilibrium()?;
                // Whether it is stable the modes show themselves.
                notes.extend(self.equilibrium_notes(&solution));
                let at = solution.equilibrium;
                (Linearized::at(&self.system, &at.point())?, at.values.configuration)
            }
            About::Initial => {
                let step = self.settings.plan().map_or(1e-3, |plan| plan.integration.step);
                let integration = self.start_with(self.settings.integration(step))?;
                let state = integration.values();
                let linearized = Linearized::at(&self.system, &state.point())?;
                notes.extend(self.acceleration_note(&linearized, &state.acceleration));
                (linearized, state.configuration.clone())
            }
        };
        Ok(LinearizedMachine { linearized, configuration, notes })
    }

    fn acceleration_note(&self, linearized: &Linearized, acceleration: &[f64]) -> Option<Note> {
        let round_off = linearized.acceleration_round_off();
        let counts =
            acceleration.iter().zip(round_off).enumerate().filter(|(_, (a, limit))| a.abs() > *limit);
        let largest = counts.map(|(index, (a, _))| (index, a)).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let (index, size) = largest.map(|(index, value)| (index, value.abs()))?;
        (size > AT_REST).then(|| {
            let place = self.system.describe(Equation::Equilibrium(index));
            let advice = "use --about static";
            let text = format!(
                "the machine accelerates by up to {size:.2e} (see {place}): these are modes of a moment, \
                 not of an equilibrium; {advice}"
            );
            let space = self.system.shape().space;
            let node =
                (0..self.system.node_count()).find(|&node| space.velocity_range(node).contains(&index));
            let note = Note::new(NoteKind::NotAtRest, text).at(self.initial.time).number(size).advice(advice);
            match node {
                Some(node) => note.about(self.system.node_name(NodeId(node))),
                None => note,
            }
        })
    }

    /// Name of each velocity coordinate: `body.rotation.x [rad]`, `body.translation.x [m]`, in the axes of
    /// the group.
    pub fn coordinate_names(&self) -> Vec<String> {
        let rotation = ["rotation.x [rad]", "rotation.y [rad]", "rotation.z [rad]"];
        let translation = ["translation.x [m]", "translation.y [m]", "translation.z [m]"];
        (0..self.system.node_count())
            .flat_map(|node| {
                let name = self.system.node_name(NodeId(node));
                let parts: Vec<&str> = match self.system.node_group(NodeId(node)) {
                    Group::Vector(size) => translation[..size.min(3)].to_vec(),
                    Group::So3 => rotation.to_vec(),
                    Group::Se3 | Group::So3xR3 => [rotation, translation].concat(),
                };
                parts.into_iter().map(move |part| format!("{name}.{part}")).collect::<Vec<_>>()
            })
            .collect()
    }

    /// The machine displaced by a mode, with the mode itself in place of velocities.
    pub fn mode_picture(&self, modes: &MachineModes, mode: &Mode) -> Vec<NodeState> {
        self.mode_moment(modes, mode, 0.0)
    }

    /// The same at a phase in rad of its motion, without damping.
    pub fn mode_moment(&self, modes: &MachineModes, mode: &Mode, phase: f64) -> Vec<NodeState> {
        let shape = self.system.shape();
        let rest = Values::zeros(&shape);
        let start: Vec<f64> = mode.shape.iter().map(|value| value.re).collect();
        let (sine, cosine) = phase.sin_cos();
        let direction: Vec<f64> =
            mode.shape.iter().map(|value| value.re * cosine - value.im * sine).collect();
        let amplitude = SHOWN_DISPLACEMENT / largest(modes, &start);
        let increment: Vec<f64> = direction.iter().map(|value| amplitude * value).collect();
        let mut displaced = modes.configuration.clone();
        shape.space.compose_exp(&modes.configuration, &increment, &mut displaced);
        let time = self.initial.time;
        let at = rest.point_at(time, &modes.configuration, &direction);
        let moved = rest.point_at(time, &displaced, &rest.velocity);
        (0..self.system.node_count())
            .map(|node| {
                let (rate, place) = (
                    node_state(&self.system, NodeId(node), &at),
                    node_state(&self.system, NodeId(node), &moved),
                );
                NodeState { position: place.position, rotation: place.rotation, ..rate }
            })
            .collect()
    }
}

/// Largest entry of a shape in lengths of the machine and rad.
fn largest(modes: &MachineModes, direction: &[f64]) -> f64 {
    let scaled = direction.iter().zip(modes.linearized.coordinate_scales()).map(|(x, s)| (x / s).abs());
    scaled.fold(f64::MIN_POSITIVE, f64::max)
}

impl From<ModesError> for RunError {
    fn from(error: ModesError) -> Self {
        Self::Modes(error)
    }
}
