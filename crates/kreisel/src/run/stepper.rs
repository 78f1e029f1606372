//! A machine that is stepped from outside, for control and co-simulation: set inputs, advance, read signals.

use std::collections::HashMap;
use std::sync::Arc;

use self_cell::self_cell;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::advance::{Run, RunEnding, RunError};
use super::recorder::{NullSink, Recorder};
use super::turns::TurnCounts;
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Control, Dae, Values};
use crate::integrate::{Interval, Observer, ResumeError, StateError, Statistics, StepError};
use crate::machine::sensor::SignalId;
use crate::machine::{EventRecord, Machine, MeasuredCoordinate, MovingFrame, UnknownFrame};
use crate::machine::{RunPlan, RunSettings, SettingsError, StepSize};
use crate::results::Channel;
use crate::system::System;

/// A run with what its sensors need of the past.
struct Moving<'m> {
    run: Run<'m>,
    /// Adds up work, losses and full turns; its only record is that of the start.
    recorder: Recorder<'m, NullSink>,
    /// Angles of joints that are not recorded.
    turns: TurnCounts,
}

self_cell!(
    struct Owned {
        owner: Arc<Machine>,
        #[not_covariant]
        dependent: Moving,
    }
);

/// A machine under way that owns what it needs, so that it can be kept and stepped from anywhere.
///
/// ```
/// use kreisel::machine::Machine;
/// use kreisel::run::{RunEnding, Stepper};
/// use std::sync::Arc;
///
/// let model = r#"
///     [simulation]
///     step = "1 ms"
///     [[input]]
///     name = "motor"
///     [[body]]
///     name = "wheel"
///     mass = 1
///     inertia = [2, 2, 2]
///     [[revolute]]
///     name = "shaft"
///     bodies = ["ground", "wheel"]
///     point = [0, 0, 0]
///     axis = [0, 0, 1]
///     [[joint-force]]
///     joint = "shaft"
///     torque = "motor"
/// "#;
/// let mut stepper = Stepper::start(Arc::new(Machine::from_text("wheel.toml", model)?))?;
/// let rate = stepper.signal("shaft.angle-rate").ok_or("no such signal")?;
/// stepper.set_input(stepper.input("motor").ok_or("no such input")?, 4.0);
/// assert_eq!(stepper.advance_to(0.5, |_| true), RunEnding::Done);
/// // 4 Nm turn 2 kg m² for half a second.
/// assert!((stepper.value(rate) - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stepper {
    owned: Owned,
    plan: RunPlan,
    /// What its states belong to.
    identity: StateOrigin,
    /// Where it started.
    start: StepperState,
    signals: HashMap<String, SignalId>,
    /// Coordinates of all joints but drives.
    coordinates: Vec<CoordinateSource>,
    /// What was chosen because it was not given.
    assumptions: Vec<String>,
    /// How far ahead corners of the inputs are looked for, in s.
    window: f64,
    /// Inputs that were set since the last step, and their values.
    pending: Vec<(usize, f64)>,
    /// Why those before were not taken, if nobody was told yet.
    refused: Option<StepError>,
    /// Values of one sensor, for reuse.
    values: Vec<f64>,
}

/// How the value of a coordinate is found.
enum CoordinateSource {
    /// It is recorded.
    Signal(SignalId),
    /// Its turns are counted beside, in this place.
    Turning(usize),
    /// From where the machine stands.
    Here(MeasuredCoordinate),
}

/// Steps for which corners of the inputs are looked for at once.
const WINDOW: f64 = 1000.0;

impl Stepper {
    /// Starts a machine with its own settings; it needs an end time only where the step follows from it.
    pub fn start(machine: Arc<Machine>) -> Result<Self, RunError> {
        let plan = open_plan(&machine)?;
        let window = plan.end_time - plan.start_time;
        let mut owned = Owned::try_new(machine, |machine| {
            let mut run = machine.start(&plan)?;
            let mut recorder = Recorder::new(machine, Some(f64::INFINITY), NullSink);
            // Sensors read from the start on.
            run.begin(&mut recorder).map_err(RunError::from)?;
            Ok::<_, RunError>(Moving { run, recorder, turns: TurnCounts::default() })
        })?;
        let signals = owned.borrow_owner().signal_ids();
        let (coordinates, angles) = coordinate_sources(owned.borrow_owner(), &signals);
        owned.with_dependent_mut(|machine, moving| {
            moving.turns = TurnCounts::start(angles, machine.system(), moving.run.integration().values());
        });
        let choice = owned.with_dependent(|_, moving| moving.run.integration().choice().map(str::to_owned));
        let assumptions = plan.assumptions.iter().cloned().chain(choice).collect();
        let identity = identity(owned.borrow_owner(), &plan);
        let start = saved(&mut owned, &identity);
        Ok(Self {
            owned,
            plan,
            identity,
            start,
            signals,
            coordinates,
            assumptions,
            window,
            pending: Vec::new(),
            refused: None,
            values: Vec::new(),
        })
    }

    /// Everything that is needed to go on from here, to the same bits, in this or another stepper of the same
    /// model and settings. Inputs that were set are in it; see [`Stepper::value`] about those that are refused.
    pub fn state(&mut self) -> StepperState {
        self.take_inputs_or_remember();
        saved(&mut self.owned, &self.identity)
    }

    /// Goes to a saved state, back in time or ahead.
    pub fn set_state(&mut self, state: &StepperState) -> Result<(), StepperStateError> {
        if let Some(what) = self.identity.difference(&state.identity) {
            return Err(StepperStateError::OtherMachine(what));
        }
        self.pending.clear();
        self.refused = None;
        let plan = &self.plan;
        self.owned.with_dependent_mut(|_, Moving { run, recorder, turns }| {
            let damaged = |damaged: Damaged| ResumeError::from(StateError::from(damaged));
            run.go_to(plan, &mut Reader(&state.window), &mut Reader(&state.run))?;
            let mut kept = Reader(&state.recorder);
            recorder.restore(&mut kept).and_then(|()| turns.restore(&mut kept)).map_err(damaged)?;
            Ok(())
        })
    }

    /// Goes back to the start, inputs included.
    pub fn reset(&mut self) -> Result<(), StepperStateError> {
        let start = self.start.clone();
        self.set_state(&start)
    }

    /// Another stepper of the same machine, at the same state.
    pub fn another(&mut self) -> Result<Self, StepperCopyError> {
        let state = self.state();
        let mut other = Self::start(Arc::clone(self.machine()))?;
        other.set_state(&state)?;
        Ok(other)
    }

    /// The machine.
    pub fn machine(&self) -> &Arc<Machine> {
        self.owned.borrow_owner()
    }

    /// What was chosen because it was not given: steps keep to a tolerance one by one, whatever accuracy the
    /// model asks for.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// Names and units of all signals.
    pub fn channels(&self) -> Vec<Channel> {
        self.machine().channels()
    }

    /// The signal of a name.
    pub fn signal(&self, name: &str) -> Option<SignalId> {
        self.signals.get(name).copied()
    }

    /// The input of a name, by its place in [`Machine::inputs`].
    pub fn input(&self, name: &str) -> Option<usize> {
        self.machine().inputs().iter().position(|input| input.name == name)
    }

    /// Time that was reached, in s.
    pub fn time(&self) -> f64 {
        self.owned.with_dependent(|_, moving| moving.run.integration().values().time)
    }

    /// Size of a step in s, or of the first one if the error decides.
    pub fn step_size(&self) -> f64 {
        self.owned.with_dependent(|_, moving| moving.run.integration().settings().step)
    }

    /// Work so far.
    pub fn statistics(&self) -> Statistics {
        self.owned.with_dependent(|_, moving| moving.run.statistics())
    }

    /// Events so far, in order of time.
    pub fn events(&self) -> Vec<EventRecord> {
        self.owned.with_dependent(|_, moving| moving.run.events().to_vec())
    }

    /// Value of an input.
    pub fn input_value(&self, input: usize) -> f64 {
        if let Some((_, value)) = self.pending.iter().find(|(pending, _)| *pending == input) {
            return *value;
        }
        self.owned.with_dependent(|machine, moving| {
            let entry = &machine.inputs()[input];
            let memory = &moving.run.integration().values().memory;
            entry.value + entry.slots.first().map_or(0.0, |&slot| memory[slot])
        })
    }

    /// Sets an input. Where the value is another one, forces jump: the method starts anew before the next
    /// step or reading, once for all inputs that were set.
    pub fn set_input(&mut self, input: usize, value: f64) {
        assert!(input < self.machine().inputs().len(), "inputs are known by their place");
        self.pending.retain(|(pending, _)| *pending != input);
        self.pending.push((input, value));
    }

    /// Lets the machine have the inputs that were set; it keeps the values before if it cannot go on from
    /// these.
    pub fn take_inputs(&mut self) -> Result<(), StepError> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        self.owned.with_dependent_mut(|machine, Moving { run, recorder, .. }| {
            let inputs = machine.inputs();
            let given: Vec<_> = pending.iter().map(|(input, value)| (&inputs[*input], *value)).collect();
            run.set_inputs(&given, recorder)
        })
    }

    /// Takes the inputs that were set; the next advance tells why it could not.
    fn take_inputs_or_remember(&mut self) {
        if let Err(error) = self.take_inputs() {
            self.refused = Some(error);
        }
    }

    /// Value of a signal at the last accepted step, with the inputs as they are now. Where they are refused
    /// it is that with the inputs before, and the next advance fails; [`Stepper::take_inputs`] tells it now.
    pub fn value(&mut self, signal: SignalId) -> f64 {
        self.take_inputs_or_remember();
        let values = &mut self.values;
        self.owned.with_dependent(|_, moving| {
            moving.recorder.value(signal, moving.run.integration().values(), values)
        })
    }

    /// Names of the coordinates of all joints but drives: `elbow.angle`, `slider.displacement`.
    pub fn coordinate_names(&self) -> Vec<String> {
        self.machine().frames().coordinates().map(|(name, _)| name).collect()
    }

    /// Values of the coordinates, in the order of their names; full turns count.
    pub fn coordinates(&mut self) -> Vec<f64> {
        self.take_inputs_or_remember();
        let (sources, values) = (&self.coordinates, &mut self.values);
        self.owned.with_dependent(|machine, Moving { run, recorder, turns }| {
            let now = run.integration().values();
            let value = |source: &CoordinateSource| match source {
                CoordinateSource::Signal(signal) => recorder.value(*signal, now, values),
                CoordinateSource::Turning(place) => turns.values()[*place],
                CoordinateSource::Here(measured) => {
                    measured.coordinate.value(&measured.relative(machine.system(), &now.point()), 0.0)
                }
            };
            sources.iter().map(value).collect()
        })
    }

    /// Rates of the coordinates, in the order of their names.
    pub fn coordinate_rates(&self) -> Vec<f64> {
        self.owned.with_dependent(|machine, moving| {
            let at = moving.run.integration().values().point();
            let rate = |coordinate: MeasuredCoordinate| {
                coordinate.coordinate.rate(&coordinate.relative(machine.system(), &at))
            };
            machine.frames().coordinates().map(|(_, coordinate)| rate(coordinate)).collect()
        })
    }

    /// Motion of the frame of a body, a marker or a node of a beam at the last accepted step.
    pub fn frame_motion(&self, name: &str) -> Result<MovingFrame, UnknownFrame> {
        let frame = self.machine().frames().frame(name)?;
        Ok(self.owned.with_dependent(|machine, moving| {
            frame.motion(machine.system(), &moving.run.integration().values().point())
        }))
    }

    /// Steps until a time; `watch` is asked after each step whether to go on.
    pub fn advance_to(&mut self, time: f64, mut watch: impl FnMut(f64) -> bool) -> RunEnding {
        if let Some(error) = self.refused.take().or(self.take_inputs().err()) {
            return RunEnding::Failed(error);
        }
        let window = self.window;
        self.owned.with_dependent_mut(|machine, Moving { run, recorder, turns }| {
            let now = run.integration().values().time;
            if !time.is_finite() || time < now {
                return RunEnding::Failed(StepError::EndBeforeNow { end: time, time: now });
            }
            // The end stays ahead, so that a corner there is met as any other.
            if run.end_time() < time + run.integration().settings().step {
                run.extend(time + window);
            }
            let system = machine.system();
            run.advance_to(time, &mut StepObserver { recorder, turns, system, watch: &mut watch })
        })
    }
}

/// A stepper between two steps, as a value that can be kept, sent and written to a file.
#[derive(Clone, Debug, PartialEq)]
pub struct StepperState {
    time: f64,
    identity: StateOrigin,
    window: Vec<u8>,
    run: Vec<u8>,
    recorder: Vec<u8>,
}

/// How the coordinates of a machine are found, and the angles whose turns nobody else counts.
fn coordinate_sources(
    machine: &Machine,
    signals: &HashMap<String, SignalId>,
) -> (Vec<CoordinateSource>, Vec<MeasuredCoordinate>) {
    let mut angles = Vec::new();
    let source = |(name, measured): (String, MeasuredCoordinate)| match signals.get(&name) {
        Some(signal) => CoordinateSource::Signal(*signal),
        None if measured.counts_turns() => {
            angles.push(measured);
            CoordinateSource::Turning(angles.len() - 1)
        }
        None => CoordinateSource::Here(measured),
    };
    let sources = machine.frames().coordinates().map(source).collect();
    (sources, angles)
}

/// What a state belongs to, each as a hash.
#[derive(Clone, Debug, PartialEq)]
struct StateOrigin([[u8; HASH]; 4]);

/// What the parts of a [`StateOrigin`] are.
const PARTS: [&str; 4] = ["version of Kreisel", "model", "value of a parameter", "setting"];
const HASH: usize = 32;
const MAGIC: &[u8; 8] = b"KREISELT";
/// Raised with every change of the format.
const VERSION: u32 = 2;

impl StateOrigin {
    /// What differs from another one.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        let parts = self.0.iter().zip(&other.0).zip(PARTS);
        parts.into_iter().find(|((own, other), _)| own != other).map(|(_, what)| what)
    }
}

/// What states of a machine belong to: what its equations are made of, how they are integrated, and what adds up
/// along the way. Where it starts is no part of that.
fn identity(machine: &Machine, plan: &RunPlan) -> StateOrigin {
    let hash = |text: String| Sha256::digest(text.as_bytes()).into();
    let texts: Vec<&str> = machine.sources().iter().map(|source| source.sha256.as_str()).collect();
    let shape = machine.system().shape();
    let sizes = (&shape.constraints, &shape.nonholonomic, &shape.internal_states, shape.memory);
    let recorded: Vec<String> = machine.channels().into_iter().map(|channel| channel.name).collect();
    let settings = (&plan.integration, &plan.velocity_projection);
    StateOrigin([
        hash(env!("CARGO_PKG_VERSION").to_owned()),
        hash(texts.join(" ")),
        hash(format!("{:?}", machine.parameters())),
        hash(format!("{settings:?} {:?} {sizes:?} {recorded:?}", shape.space)),
    ])
}

/// The state of a run.
fn saved(owned: &mut Owned, identity: &StateOrigin) -> StepperState {
    let identity = identity.clone();
    owned.with_dependent_mut(|_, Moving { run, recorder, turns }| {
        let [mut window, mut saved, mut sums] = [(); 3].map(|()| Writer::default());
        run.save_window(&mut window);
        run.save(&mut saved);
        recorder.save(&mut sums);
        turns.save(&mut sums);
        let time = run.integration().values().time;
        StepperState { time, identity, window: window.0, run: saved.0, recorder: sums.0 }
    })
}

impl StepperState {
    /// Time that was reached, in s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The bytes of a file, which end with their SHA-256.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.0.extend_from_slice(MAGIC);
        out.0.extend_from_slice(&VERSION.to_le_bytes());
        out.number(self.time);
        out.0.extend_from_slice(self.identity.0.as_flattened());
        [&self.window, &self.run, &self.recorder].into_iter().for_each(|part| out.section(part));
        let hash = Sha256::digest(&out.0);
        out.0.extend_from_slice(&hash);
        out.0
    }

    /// Reads what [`StepperState::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let mut reader = Reader(bytes.strip_prefix(MAGIC).ok_or(StateError::Unknown)?);
        let found = u32::from_le_bytes(reader.bytes()?);
        if found != VERSION {
            return Err(StateError::Version { found, expected: VERSION });
        }
        let (content, hash) = bytes.split_last_chunk::<HASH>().ok_or(StateError::Damaged)?;
        if Sha256::digest(content).as_slice() != hash {
            return Err(StateError::Damaged);
        }
        let mut reader = Reader(content.get(MAGIC.len() + 4..).ok_or(StateError::Damaged)?);
        let time = reader.number()?;
        let mut identity = StateOrigin([[0; HASH]; 4]);
        for part in &mut identity.0 {
            *part = reader.bytes()?;
        }
        let mut section = || reader.section().map(<[u8]>::to_vec);
        let [window, run, recorder] = [section()?, section()?, section()?];
        reader.end()?;
        Ok(Self { time, identity, window, run, recorder })
    }
}

/// Why a stepper cannot go to a state.
#[derive(Error)]
#[non_exhaustive]
pub enum StepperStateError {
    /// The state belongs to something else.
    #[error("the state does not belong here: it was made with another {0}")]
    OtherMachine(&'static str),
    /// The state does not fit.
    #[error(transparent)]
    State(#[from] ResumeError),
}

shown_by_message!(StepperStateError);

/// Why there is no second stepper.
#[derive(Error)]
#[non_exhaustive]
pub enum StepperCopyError {
    /// It does not start.
    #[error(transparent)]
    Start(#[from] RunError),
    /// It does not go to the state.
    #[error(transparent)]
    State(#[from] StepperStateError),
}

shown_by_message!(StepperCopyError);

/// The plan of a run whose end may be open: then corners are looked for in a window of steps.
fn open_plan(machine: &Machine) -> Result<RunPlan, SettingsError> {
    let settings = &machine.settings;
    let plan = match (settings.end_time, settings.step) {
        (None, Some(StepSize::Fixed(step))) => {
            let end_time = Some(settings.start_time + WINDOW * step);
            RunSettings { end_time, ..settings.clone() }.plan()
        }
        _ => settings.plan(),
    };
    Ok(plan?.locally("a machine that is stepped from outside is run once"))
}

/// Adds every step and asks whether to go on.
struct StepObserver<'a, 'm, W> {
    recorder: &'a mut Recorder<'m, NullSink>,
    turns: &'a mut TurnCounts,
    system: &'a System,
    watch: &'a mut W,
}

impl<W: FnMut(f64) -> bool> Observer for StepObserver<'_, '_, W> {
    fn started(&mut self, at: &Values) {
        self.recorder.started(at);
    }

    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        let control = self.recorder.accepted(last);
        self.turns.follow(self.system, last);
        if (self.watch)(last.ends().to.time) { control } else { Control::Stop }
    }
}
