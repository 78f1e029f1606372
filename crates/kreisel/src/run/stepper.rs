//! A machine that is stepped from outside, for control and co-simulation: set inputs, advance, read signals.

use std::collections::HashMap;
use std::sync::Arc;

use self_cell::self_cell;

use super::advance::{Run, RunEnding, RunError};
use super::recorder::{NullSink, Recorder};
use crate::dae::{Control, Values};
use crate::integrate::{Interval, Observer, Statistics, StepError};
use crate::machine::sensor::SignalId;
use crate::machine::{EventRecord, Machine};
use crate::machine::{RunPlan, RunSettings, SettingsError, StepSize};
use crate::results::Channel;

/// A run with what its sensors need of the past.
struct Moving<'m> {
    run: Run<'m>,
    /// Adds up work, losses and full turns; its only record is that of the start.
    recorder: Recorder<'m, NullSink>,
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
    signals: HashMap<String, SignalId>,
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

/// Steps for which corners of the inputs are looked for at once.
const WINDOW: f64 = 1000.0;

impl Stepper {
    /// Starts a machine with its own settings; it needs an end time only where the step follows from it.
    pub fn start(machine: Arc<Machine>) -> Result<Self, RunError> {
        let plan = open_plan(&machine)?;
        let window = plan.end_time - plan.start_time;
        let owned = Owned::try_new(machine, |machine| {
            let mut run = machine.start(&plan)?;
            let mut recorder = Recorder::new(machine, Some(f64::INFINITY), NullSink);
            // Sensors read from the start on.
            run.begin(&mut recorder).map_err(RunError::from)?;
            Ok::<_, RunError>(Moving { run, recorder })
        })?;
        let signals = owned.borrow_owner().signal_ids();
        let choice = owned.with_dependent(|_, moving| moving.run.integration().choice().map(str::to_owned));
        let assumptions = plan.assumptions.into_iter().chain(choice).collect();
        Ok(Self {
            owned,
            signals,
            assumptions,
            window,
            pending: Vec::new(),
            refused: None,
            values: Vec::new(),
        })
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
        self.owned.with_dependent_mut(|machine, Moving { run, recorder }| {
            let inputs = machine.inputs();
            let given: Vec<_> = pending.iter().map(|(input, value)| (&inputs[*input], *value)).collect();
            run.set_inputs(&given, recorder)
        })
    }

    /// Value of a signal at the last accepted step, with the inputs as they are now. Where they are refused
    /// it is that with the inputs before, and the next advance fails; [`Stepper::take_inputs`] tells it now.
    pub fn value(&mut self, signal: SignalId) -> f64 {
        if let Err(error) = self.take_inputs() {
            self.refused = Some(error);
        }
        let values = &mut self.values;
        self.owned.with_dependent(|_, moving| {
            moving.recorder.value(signal, moving.run.integration().values(), values)
        })
    }

    /// Steps until a time; `watch` is asked after each step whether to go on.
    pub fn advance_to(&mut self, time: f64, mut watch: impl FnMut(f64) -> bool) -> RunEnding {
        if let Some(error) = self.refused.take().or(self.take_inputs().err()) {
            return RunEnding::Failed(error);
        }
        let window = self.window;
        self.owned.with_dependent_mut(|_, Moving { run, recorder }| {
            let now = run.integration().values().time;
            if !time.is_finite() || time < now {
                return RunEnding::Failed(StepError::EndBeforeNow { end: time, time: now });
            }
            // The end stays ahead, so that a corner there is met as any other.
            if run.end_time() < time + run.integration().settings().step {
                run.extend(time + window);
            }
            run.advance_to(time, &mut StepObserver { recorder, watch: &mut watch })
        })
    }
}

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
    watch: &'a mut W,
}

impl<W: FnMut(f64) -> bool> Observer for StepObserver<'_, '_, W> {
    fn started(&mut self, at: &Values) {
        self.recorder.started(at);
    }

    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        let control = self.recorder.accepted(last);
        if (self.watch)(last.ends().to.time) { control } else { Control::Stop }
    }
}
