//! Reads the sensors at the output times of a run and hands the rows on.

use std::collections::HashMap;

use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Control, Point, Values};
use crate::integrate::{Ends, Interval, Observer};
use crate::kinematics::{NodeId, Power};
use crate::machine::EnergyBalance;
use crate::machine::Machine;
use crate::machine::sensor::{KnownNumbers, Reading, SignalId, SolverNumbers};
use crate::memory::let_grow;
use crate::results::{Channel, NodeState, WriteError, find_signal};
use crate::system::System;

/// Everything that is recorded at one output time.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Time in s.
    pub time: f64,
    /// Value of every signal, in the order of [`Machine::channels`].
    pub values: &'a [f64],
    /// Motion of every node.
    pub nodes: &'a [NodeState],
}

/// Where records go.
pub trait Sink {
    /// Takes one record.
    fn push(&mut self, record: &Record) -> Result<(), WriteError>;

    /// Brings all records to where they stay, and appends what is needed to go on from there.
    fn save(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let _ = out;
        Ok(())
    }

    /// Takes note that no record comes any more.
    fn finish(&mut self) -> Result<(), WriteError> {
        Ok(())
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        (**self).push(record)
    }

    fn save(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        (**self).save(out)
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        (**self).finish()
    }
}

/// Where records go that nobody wants.
pub(super) struct NullSink;

impl Sink for NullSink {
    fn push(&mut self, _: &Record) -> Result<(), WriteError> {
        Ok(())
    }
}

/// An [`Observer`] that reads the sensors at the output times.
///
/// Between steps the motion is interpolated. The first record shows the user's initial velocity; the last is
/// that of the last accepted step, whether or not it is an output time.
pub struct Recorder<'m, S> {
    machine: &'m Machine,
    sink: S,
    start_time: f64,
    output_step: Option<f64>,
    /// How many output times were recorded.
    count: u64,
    last_time: f64,
    balance: EnergyBalance,
    /// Stored energy at the last accepted step, in J.
    energy: f64,
    /// Potential and strain energy at the start, in J.
    first_stored: f64,
    /// Angles at the last accepted step, one per sensor; turns are counted from there.
    angles: Vec<f64>,
    /// Rates of these angles, unless something jumped since.
    rates: Option<Vec<f64>>,
    /// Room for angles and rates of the next step.
    spare: [Vec<f64>; 2],
    extremes: Extremes,
    solver: SolverNumbers,
    /// Smallest and largest condition number, if steps report it.
    conditions: Option<[f64; 2]>,
    values: Vec<f64>,
    nodes: Vec<NodeState>,
    sample: Values,
    failure: Option<WriteError>,
    /// Whether energy comes or goes through any part, once a step was seen.
    exchanges_energy: Option<bool>,
}

/// How well a run kept what must be kept, over all accepted steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Extremes {
    /// Largest stored energy, in J, as a yardstick for the balance.
    pub largest_energy: f64,
    /// Energy that was in play, in J: the largest kinetic energy, change of stored energy, work or loss.
    pub energy_in_play: f64,
    /// Largest |total − initial − work + dissipated| in J.
    pub largest_energy_balance: f64,
    /// Largest total − initial − work + dissipated in J: energy that came from nowhere.
    pub largest_energy_gain: f64,
    /// Largest norm of the position constraints.
    pub largest_position_residual: f64,
    /// Largest norm of the velocity constraints.
    pub largest_velocity_residual: f64,
}

impl Extremes {
    const COUNT: usize = 6;

    fn numbers(&self) -> [f64; Self::COUNT] {
        [
            self.largest_energy,
            self.energy_in_play,
            self.largest_energy_balance,
            self.largest_energy_gain,
            self.largest_position_residual,
            self.largest_velocity_residual,
        ]
    }

    fn from_numbers(
        [largest_energy, energy_in_play, balance, gain, position, velocity]: [f64; Self::COUNT],
    ) -> Self {
        Self {
            largest_energy,
            energy_in_play,
            largest_energy_balance: balance,
            largest_energy_gain: gain,
            largest_position_residual: position,
            largest_velocity_residual: velocity,
        }
    }
}

impl Machine {
    /// The signals that a run of this machine records, without the time.
    pub fn channels(&self) -> Vec<Channel> {
        self.signals().channels()
    }

    /// Handles of the signals by name.
    pub fn signal_ids(&self) -> HashMap<String, SignalId> {
        let mut signals = HashMap::new();
        for (sensor, entry) in self.signals().recorded().iter().enumerate() {
            for (component, channel) in entry.channels().into_iter().enumerate() {
                signals.insert(channel.name, SignalId { sensor, component });
            }
        }
        for joint in self.frames().joints() {
            let full = format!("{}.{}", joint.name, joint.full_word("rate"));
            if let Some(&signal) = signals.get(&full) {
                signals.insert(format!("{}.rate", joint.name), signal);
            }
        }
        signals
    }
}

impl<'m, S: Sink> Recorder<'m, S> {
    /// A recorder of every step, or of output times at a distance.
    pub fn new(machine: &'m Machine, output_step: Option<f64>, sink: S) -> Self {
        Self {
            machine,
            sink,
            start_time: 0.0,
            output_step,
            count: 0,
            last_time: f64::NEG_INFINITY,
            balance: EnergyBalance::default(),
            energy: 0.0,
            first_stored: 0.0,
            angles: vec![0.0; machine.signals().angle_count()],
            rates: None,
            spare: Default::default(),
            extremes: Extremes::default(),
            solver: SolverNumbers::default(),
            conditions: None,
            values: Vec::new(),
            nodes: Vec::new(),
            sample: Values::default(),
            failure: None,
            exchanges_energy: None,
        }
    }

    /// The same before anything was recorded; the sink has been told.
    pub(super) fn anew(self) -> Self {
        Self::new(self.machine, self.output_step, self.sink)
    }

    /// Where records went, without another one.
    pub(super) fn into_sink(self) -> S {
        self.sink
    }

    /// Saves the sums, without the sink.
    pub(super) fn save(&self, out: &mut Writer) {
        out.whole(self.count);
        out.flag(self.conditions.is_some());
        let clock = [self.start_time, self.last_time, self.energy, self.first_stored];
        let all = clock
            .into_iter()
            .chain(self.balance.numbers())
            .chain(self.extremes.numbers())
            .chain(self.solver.numbers())
            .chain(self.conditions.unwrap_or_default());
        all.for_each(|number| out.number(number));
        out.numbers(&self.angles);
    }

    /// Takes up saved sums.
    pub(super) fn restore(&mut self, reader: &mut Reader) -> Result<(), Damaged> {
        self.count = reader.whole()?;
        let has_conditions = reader.flag()?;
        [self.start_time, self.last_time, self.energy, self.first_stored] = reader.some_numbers()?;
        self.balance = EnergyBalance::from_numbers(reader.some_numbers()?);
        self.extremes = Extremes::from_numbers(reader.some_numbers()?);
        self.solver = SolverNumbers::from_numbers(reader.some_numbers()?);
        let conditions = reader.some_numbers()?;
        self.conditions = has_conditions.then_some(conditions);
        let angles = reader.numbers()?;
        if angles.len() != self.angles.len() || self.count == 0 {
            return Err(Damaged);
        }
        self.angles = angles;
        self.rates = None;
        Ok(())
    }

    /// Whether a record could not be kept; [`Recorder::close`] tells why.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether energies or powers are no numbers any more. Such a run is refused in the end, if no step fails
    /// before, and names who made them.
    fn has_lost_its_numbers(&self) -> bool {
        self.extremes.largest_energy_gain.is_infinite()
    }

    /// Where records go.
    pub(super) fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// How well energy and constraints were kept so far.
    pub fn extremes(&self) -> Extremes {
        self.extremes
    }

    /// Value of a signal at a state that was just booked; `scratch` is overwritten.
    pub fn value(&self, signal: SignalId, state: &Values, scratch: &mut Vec<f64>) -> f64 {
        let point = Self::point_before(state);
        value(self.machine, signal, (&point, &self.balance, self.solver, &self.angles), scratch)
    }

    /// The run at a state that was just booked.
    pub(super) fn moment<'a>(&'a self, state: &'a Values) -> Moment<'a> {
        Moment { state, balance: self.balance, solver: self.solver, angles: &self.angles }
    }

    /// Smallest and largest condition number of the iteration matrix so far, if steps report it.
    pub fn conditions(&self) -> Option<[f64; 2]> {
        self.conditions
    }

    /// Number of records so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Records the last accepted step, if it is not recorded yet; tells what went wrong before.
    pub fn close(&mut self, now: &Values) -> Result<(), WriteError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if now.time > self.last_time && !self.has_lost_its_numbers() {
            self.record_state(now, None)?;
        }
        Ok(())
    }

    /// Ends recording with the last accepted step and gives the sink back.
    pub fn finish(mut self, now: &Values) -> Result<S, WriteError> {
        self.close(now)?;
        Ok(self.sink)
    }

    fn begin(&mut self, state: &Values) -> Result<(), WriteError> {
        let point = Self::point_after(state);
        let system = &self.machine.system;
        self.start_time = state.time;
        let (energies, power, residuals) = system.look(&point);
        self.balance = EnergyBalance::new(energies.total(), power);
        self.first_stored = energies.total() - energies.kinetic;
        let mut angles = std::mem::take(&mut self.angles);
        self.find_angles(state, |_, _| 0.0, [&mut angles, &mut Vec::new()]);
        self.angles = angles;
        let known = self.judge((energies, residuals));
        let (balance, near) = (self.balance, self.angles.clone());
        self.record((&point, Some(known)), state.time, &balance, &near)
    }

    /// The motion at an accepted step with the inputs as they are just before: they may jump at its end.
    fn point_before(state: &Values) -> Point<'_> {
        Point { time: state.time.next_down(), ..state.point() }
    }

    /// The motion at a start with the inputs as they are just after.
    fn point_after(state: &Values) -> Point<'_> {
        Point { time: state.time.next_up(), ..state.point() }
    }

    /// Adds a step and records the output times within it.
    ///
    /// From a step with energies or powers that are no numbers on, nothing is recorded.
    fn add_step(&mut self, last: &mut dyn Interval) -> Result<(), WriteError> {
        let report = last.report();
        self.solver.step = report.step;
        self.solver.iterations += report.iterations as f64;
        self.solver.rejections += report.rejections as f64;
        self.solver.condition = report.condition;
        if report.condition > 0.0 {
            let [low, high] = self.conditions.unwrap_or([f64::INFINITY, 0.0]);
            self.conditions = Some([low.min(report.condition), high.max(report.condition)]);
        }
        let Ends { from, to, .. } = last.ends();
        let (start, end) = (from.time, to.time);
        let step = end - start;
        let (energies, power_at_end, residuals) = self.machine.system.look(&Self::point_before(to));
        // A step may turn a joint by more than half a turn; its rates say how far.
        let before = self.rates.take().unwrap_or_else(|| self.rates(from));
        let [mut angles, mut after] = std::mem::take(&mut self.spare);
        let guess = |angle: usize, rate: f64| self.angles[angle] + 0.5 * step * (before[angle] + rate);
        self.find_angles(to, guess, [&mut angles, &mut after]);
        let (system, at_end) = (&self.machine.system, last.ends().to);
        let exchanges = *self
            .exchanges_energy
            .get_or_insert_with(|| system.exchanges_energy(&Self::point_before(at_end)));
        let pieces = if exchanges { report.pieces.max(1) } else { 1 };
        let length = step / f64::from(pieces);
        for piece in 1..=pieces {
            let is_last = piece == pieces;
            let from = start + f64::from(piece - 1) * length;
            let to = if is_last { end } else { from + length };
            let power = if is_last { power_at_end } else { self.power_within(to, last) };
            let rate = power.applied + power.dissipated;
            if !(energies.total().is_finite() && rate.is_finite()) {
                self.extremes.largest_energy_balance = f64::INFINITY;
                self.extremes.largest_energy_gain = f64::INFINITY;
            }
            if self.has_lost_its_numbers() {
                return Ok(());
            }
            while let Some(time) = self.next_within(to, step) {
                let balance = self.balance.within(length, power, ((time - from) / length).clamp(0.0, 1.0));
                let part = ((time - start) / step).clamp(0.0, 1.0);
                let near: Vec<f64> =
                    self.angles.iter().zip(&angles).map(|(a, b)| a + part * (b - a)).collect();
                let mut sample = std::mem::take(&mut self.sample);
                last.at(time, &mut sample);
                let recorded = self.record((&sample.point(), None), time, &balance, &near);
                self.sample = sample;
                recorded?;
            }
            self.balance.add_step(length, power);
        }
        self.spare = [std::mem::replace(&mut self.angles, angles), before];
        self.rates = Some(after);
        let to = last.ends().to;
        let known = self.judge((energies, residuals));
        if self.output_step.is_none() || self.is_output_time(end, step) {
            self.record_state(to, Some(known))?;
        }
        Ok(())
    }

    /// The power at a time within a step.
    fn power_within(&mut self, time: f64, last: &mut dyn Interval) -> Power {
        last.at(time, &mut self.sample);
        self.machine.system.power(&self.sample.point())
    }

    /// The next output time that lies clearly before the end of the step.
    fn next_within(&self, end: f64, step: f64) -> Option<f64> {
        let time = self.start_time + self.count as f64 * self.output_step?;
        (time < end - SAME_TIME * step).then_some(time)
    }

    fn is_output_time(&self, time: f64, step: f64) -> bool {
        self.output_step.is_some_and(|output_step| {
            (self.start_time + self.count as f64 * output_step - time).abs() <= SAME_TIME * step
        })
    }

    fn record_state(&mut self, state: &Values, known: Option<KnownNumbers>) -> Result<(), WriteError> {
        let (balance, near) = (self.balance, std::mem::take(&mut self.angles));
        let recorded = self.record((&Self::point_before(state), known), state.time, &balance, &near);
        self.angles = near;
        recorded
    }

    fn record(
        &mut self,
        (point, known): (&Point, Option<KnownNumbers>),
        time: f64,
        balance: &EnergyBalance,
        near: &[f64],
    ) -> Result<(), WriteError> {
        let system = &self.machine.system;
        let reading = Reading { solver: self.solver, known, ..Reading::new(system, *point, balance) };
        (self.solver.iterations, self.solver.rejections) = (0.0, 0.0);
        self.values.clear();
        let signals = self.machine.signals();
        for (index, sensor) in signals.recorded().iter().enumerate() {
            sensor.read(&reading, &near[signals.angles_of(index)], &mut self.values);
        }
        self.nodes.clear();
        self.nodes.extend((0..system.node_count()).map(|node| node_state(system, NodeId(node), point)));
        self.count += 1;
        self.last_time = time;
        self.sink.push(&Record { time, values: &self.values, nodes: &self.nodes })
    }

    /// Every angle of the sensors with the turns nearest to a guess, which may know its rate, and all rates.
    fn find_angles(
        &self,
        state: &Values,
        guess: impl Fn(usize, f64) -> f64,
        [angles, rates]: [&mut Vec<f64>; 2],
    ) {
        angles.clear();
        rates.clear();
        let reading = Reading::new(&self.machine.system, state.point(), &self.balance);
        for sensor in self.machine.signals().recorded() {
            sensor.turn(&reading, |relative| {
                let rate = relative.rate();
                angles.push(relative.value(guess(angles.len(), rate)));
                rates.push(rate);
            });
        }
    }

    fn rates(&self, state: &Values) -> Vec<f64> {
        let reading = Reading::new(&self.machine.system, state.point(), &self.balance);
        let mut rates = Vec::new();
        let sensors = self.machine.signals().recorded().iter();
        sensors.for_each(|sensor| sensor.turn(&reading, |angle| rates.push(angle.rate())));
        rates
    }

    /// Looks how well a step kept what must be kept; gives what it found for the sensors.
    fn judge(&mut self, (energies, residuals): KnownNumbers) -> KnownNumbers {
        self.energy = energies.total();
        let [position, velocity] = residuals;
        let largest = |known: &mut f64, value: f64| *known = known.max(value.abs());
        let extremes = &mut self.extremes;
        largest(&mut extremes.largest_energy, energies.kinetic.abs().max(energies.total().abs()));
        let stored = energies.total() - energies.kinetic - self.first_stored;
        let EnergyBalance { work, dissipated, .. } = self.balance;
        [energies.kinetic, stored, work, dissipated]
            .into_iter()
            .for_each(|energy| largest(&mut extremes.energy_in_play, energy));
        let defect = self.balance.defect(energies.total());
        largest(&mut extremes.largest_energy_balance, defect);
        largest(&mut extremes.largest_energy_gain, defect.max(0.0));
        largest(&mut extremes.largest_position_residual, position);
        largest(&mut extremes.largest_velocity_residual, velocity);
        (energies, residuals)
    }

    fn keep_failure(&mut self, outcome: Result<(), WriteError>) -> Control {
        match outcome {
            Ok(()) => Control::Continue,
            Err(failure) => {
                self.failure = Some(failure);
                Control::Stop
            }
        }
    }
}

/// Times that differ by less than this part of a step are the same.
const SAME_TIME: f64 = 1e-9;

impl<S: Sink> Observer for Recorder<'_, S> {
    fn started(&mut self, at: &Values) {
        if self.count == 0 {
            let outcome = self.begin(at);
            self.keep_failure(outcome);
        } else {
            let (system, point) = (&self.machine.system, Self::point_after(at));
            let (energies, power, _) = system.look(&point);
            let energy = energies.total();
            self.balance.jump(energy - self.energy, power);
            self.energy = energy;
            self.rates = None;
        }
    }

    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        if self.failure.is_some() {
            return Control::Stop;
        }
        let outcome = self.add_step(last);
        self.keep_failure(outcome)
    }
}

/// A run just after a step.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    state: &'a Values,
    balance: EnergyBalance,
    solver: SolverNumbers,
    angles: &'a [f64],
}

impl Moment<'_> {
    /// Time that was reached, in s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Value of every signal, in the order of [`Machine::channels`], and motion of every node.
    pub fn record(&self, machine: &Machine) -> (Vec<f64>, Vec<NodeState>) {
        let system = &machine.system;
        let point = Recorder::<Trajectory>::point_before(self.state);
        let reading = Reading { solver: self.solver, ..Reading::new(system, point, &self.balance) };
        let mut values = Vec::new();
        let signals = machine.signals();
        for (index, sensor) in signals.recorded().iter().enumerate() {
            sensor.read(&reading, &self.angles[signals.angles_of(index)], &mut values);
        }
        let nodes = (0..system.node_count()).map(|node| node_state(system, NodeId(node), &point));
        (values, nodes.collect())
    }

    /// All that signals need to be read later.
    pub fn snapshot(&self) -> Snapshot {
        let Self { state, balance, solver, angles } = *self;
        Snapshot { state: state.clone(), balance, solver, angles: angles.to_vec() }
    }
}

/// A moment of a run, kept to read signals from.
#[derive(Clone, Debug)]
pub struct Snapshot {
    state: Values,
    balance: EnergyBalance,
    solver: SolverNumbers,
    angles: Vec<f64>,
}

impl Snapshot {
    /// Time in s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Size of the step that led here, in s.
    pub fn step(&self) -> f64 {
        self.solver.step
    }

    /// Value of a signal of the machine that was run.
    pub fn value(&self, machine: &Machine, signal: SignalId) -> f64 {
        let point = Recorder::<Trajectory>::point_before(&self.state);
        value(machine, signal, (&point, &self.balance, self.solver, &self.angles), &mut Vec::new())
    }
}

type StepNumbers<'a> = (&'a Point<'a>, &'a EnergyBalance, SolverNumbers, &'a [f64]);

fn value(
    machine: &Machine,
    signal: SignalId,
    (point, balance, solver, angles): StepNumbers,
    scratch: &mut Vec<f64>,
) -> f64 {
    let reading = Reading { solver, ..Reading::new(&machine.system, *point, balance) };
    scratch.clear();
    let signals = machine.signals();
    let near = &angles[signals.angles_of(signal.sensor)];
    signals.recorded()[signal.sensor].read(&reading, near, scratch);
    scratch[signal.component]
}

pub(super) fn node_state(system: &System, node: NodeId, point: &Point) -> NodeState {
    let motion = system.motion(node, point);
    let rotation = motion.pose.rotation;
    let velocity = motion.rotation * motion.linear_velocity();
    let angular_velocity = motion.rotation * motion.angular_velocity();
    NodeState {
        position: motion.pose.position.into(),
        rotation: [rotation.w, rotation.i, rotation.j, rotation.k],
        velocity: velocity.into(),
        angular_velocity: angular_velocity.into(),
    }
}

/// Signals of a run in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    /// Output times in s.
    pub times: Vec<f64>,
    /// The signals.
    pub channels: Vec<Channel>,
    /// Values of each signal, in the order of the channels.
    pub columns: Vec<Vec<f64>>,
}

impl Trajectory {
    /// An empty trajectory with the signals of a machine.
    pub fn new(machine: &Machine) -> Self {
        let channels = machine.channels();
        Self { times: Vec::new(), columns: vec![Vec::new(); channels.len()], channels }
    }

    /// Values of the signal of a name.
    pub fn signal(&self, name: &str) -> Option<&[f64]> {
        let index = find_signal(self.channels.iter().map(|channel| channel.name.as_str()), name)?;
        Some(&self.columns[index])
    }
}

impl Sink for Trajectory {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        // All or nothing: columns stay of one length.
        if !(let_grow(&mut self.times, 1) && self.columns.iter_mut().all(|column| let_grow(column, 1))) {
            return Err(WriteError::NoMemory { count: self.times.len() });
        }
        self.times.push(record.time);
        self.columns.iter_mut().zip(record.values).for_each(|(column, value)| column.push(*value));
        Ok(())
    }
}
