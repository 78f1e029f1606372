//! The table of settings: of a row are made the key of `[simulation]` with its place in schema and book, the
//! flag of the command with its help, the argument in Python, and the entry in `run.json`.
//!
//! A new setting is a row, and the field of [`RunSettings`] or of the integrator's settings that it sets.

use serde_json::{Map, Value, json};

use super::method;
use super::{AccuracyOf, BodyGroup, Plane, RunPlan, RunSettings, StartFrom, StepSize};
use crate::integrate::{
    ErrorControl, Family, IterationMatrix, LEAST_TOLERANCE, OPTIONS, Predictor, Settings, Start, Words,
};
use crate::model::reader::NumberOrWord;
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, PartKind, PartReader, ValueKind, name};
use crate::solve::newton::{Refresh, Stop};

/// One setting.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Setting {
    /// The key of `[simulation]`.
    pub key: Key,
    /// The flag of the command, which is also an argument in Python; absent where only the model says it.
    pub flag: Option<Flag>,
    /// Reads and checks it; rows before it are read already.
    pub read: fn(&Given, &mut RunSettings) -> Result<(), ModelErrors>,
    /// Its value in `run.json`, where it has a meaning.
    pub show: fn(&RunSettings, &RunPlan) -> Option<Value>,
}

/// What a flag says in the help of the command.
#[derive(Clone, Copy)]
pub struct Flag {
    /// What stands for its value: `TIME`.
    pub value: &'static str,
    help: &'static str,
}

/// A word for one of some values.
pub(super) const fn choice<T: Words>() -> ValueKind {
    ValueKind::Choice(T::WORDS)
}

/// A flag, as rows give it; where its value is one of some words, the help goes on with them.
pub(super) const fn flag(value: &'static str, help: &'static str) -> Option<Flag> {
    Some(Flag { value, help })
}

impl Setting {
    /// One line about the flag, with the words that it may be.
    pub fn help(&self) -> Option<String> {
        let help = self.flag.as_ref()?.help;
        Some(match self.key.value {
            ValueKind::Choice(words) => format!("{help}: {}", either(words)),
            _ => help.to_owned(),
        })
    }
}

/// Words in backticks, as a choice: `a`, `b` or `c`.
fn either(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} or `{last}`", name::list(others)),
        _ => name::list(words),
    }
}

/// What a row reads: the reader of `[simulation]` at its key.
pub struct Given<'a> {
    reader: &'a PartReader<'a>,
    key: &'static str,
}

impl Given<'_> {
    /// A number.
    pub(super) fn number(&self) -> Result<f64, ModelErrors> {
        self.reader.number(self.key)
    }

    /// Refuses times beyond [`MAX_TIME`].
    fn check_time(&self, time: f64) -> Result<(), ModelErrors> {
        if time.abs() <= MAX_TIME {
            return Ok(());
        }
        let requirement = format!("from {:e} to {MAX_TIME:e} s", -MAX_TIME);
        Err(self.reader.unsuitable(self.key, &requirement, format!("{time:e} s")).into())
    }

    fn positive(&self) -> Result<f64, ModelErrors> {
        self.reader.positive(self.key)
    }

    fn not_negative(&self) -> Result<f64, ModelErrors> {
        self.reader.not_negative(self.key)
    }

    /// A number, if given.
    pub(super) fn optional_number(&self) -> Result<Option<f64>, ModelErrors> {
        self.reader.optional_number(self.key)
    }

    /// Numbers, if given.
    pub(super) fn optional_numbers(&self) -> Result<Option<Vec<f64>>, ModelErrors> {
        self.reader.optional_numbers(self.key)
    }

    /// Refuses keys that say the same beside each other.
    pub(super) fn alone(&self, keys: [&'static str; 3]) -> Result<(), ModelErrors> {
        let found: Vec<&str> = keys.into_iter().filter(|key| self.reader.has(key)).collect();
        if found.len() < 2 {
            return Ok(());
        }
        Err(self.reader.ambiguous(&keys, name::list(&found)).into())
    }

    /// The value that a word means.
    pub(super) fn word<T: Words>(&self) -> Result<T, ModelErrors> {
        let word = self.reader.choice(self.key)?;
        Ok(T::from_word(word).expect("a key has the words of its choice"))
    }

    /// The choice of an option of methods.
    pub(super) fn option(&self, integrator: &mut Settings) -> Result<(), ModelErrors> {
        let chosen = integrator.options.set_word(self.key, self.reader.choice(self.key)?);
        chosen.expect("a key has the words of its choice");
        Ok(())
    }

    /// The error that the value is not what it must be.
    pub(super) fn unsuitable(&self, requirement: &str, found: impl ToString) -> ModelErrors {
        self.reader.unsuitable(self.key, requirement, found).into()
    }

    /// The error that the key leaves no room for another, from which steps would follow, too.
    fn crowded(&self, other: &str, value: f64) -> ModelErrors {
        let found = format!("beside `{other} = {value}`");
        let error = self.reader.unsuitable(self.key, "alone, since steps follow from it", found);
        error.with_hint(format!("leave out `{other}`, or `{}`", self.key)).into()
    }

    fn optional_positive(&self) -> Result<Option<f64>, ModelErrors> {
        match self.reader.optional_number(self.key)? {
            Some(value) if value <= 0.0 => Err(self.unsuitable("positive", value)),
            value => Ok(value),
        }
    }

    fn optional_not_negative(&self) -> Result<Option<f64>, ModelErrors> {
        match self.reader.optional_number(self.key)? {
            Some(value) if value < 0.0 => Err(self.unsuitable("not negative", value)),
            value => Ok(value),
        }
    }
}

/// Reads `[simulation]`.
pub(crate) fn read(reader: &PartReader) -> Result<RunSettings, ModelErrors> {
    let mut run = RunSettings::blank();
    let mut errors = ModelErrors::new();
    for setting in SETTINGS {
        errors.keep((setting.read)(&Given { reader, key: setting.key.name }, &mut run));
    }
    errors.into_result().map(|()| run)
}

/// The settings in the words of the model file, for `run.json`.
pub(super) fn show(run: &RunSettings, plan: &RunPlan) -> Map<String, Value> {
    let shown = |setting: &Setting| Some((setting.key.name.to_owned(), (setting.show)(run, plan)?));
    let options = run.integrator.options().map(|(key, word)| (key.to_owned(), json!(word)));
    SETTINGS.iter().filter_map(shown).chain(options).collect()
}

/// `[simulation]`: its keys are those of the table.
pub static KIND: PartKind = PartKind {
    name: "simulation",
    doc: "How the machine is run; flags of the command line override it.",
    occurrence: Occurrence::Once,
    keys: &KEYS,
};

const KEYS: [Key; SETTINGS.len()] = {
    let mut keys = [SETTINGS[0].key; SETTINGS.len()];
    let mut row = 0;
    while row < keys.len() {
        keys[row] = SETTINGS[row].key;
        row += 1;
    }
    keys
};

const TIME: ValueKind = ValueKind::Number(Dimension::TIME);
const NUMBER: ValueKind = ValueKind::Number(Dimension::NONE);
/// Least and largest accuracy that can be asked for: what rounding leaves of a run, and what is hardly any.
const MIN_ACCURACY: f64 = 1e-9;
const MAX_ACCURACY: f64 = 0.1;
/// Tolerances that steps keep to one by one.
const LOCAL: [&str; 2] = ["rtol", "atol"];
/// Word for a step size that the error decides on.
pub(super) const AUTO: &str = "auto";

/// Shows what only a step size by the error has.
fn controlled(plan: &RunPlan, value: fn(&ErrorControl) -> Value) -> Option<Value> {
    plan.integration.error_control.as_ref().map(value)
}

/// Every setting, in the order in which they are read and listed: the options of methods follow the method.
pub const SETTINGS: &[Setting] = &{
    let mut rows = [FIRST[0]; FIRST.len() + OPTIONS.len() + LAST.len()];
    let mut row = 0;
    while row < rows.len() {
        rows[row] = match row.checked_sub(FIRST.len()) {
            None => FIRST[row],
            Some(place) if place < OPTIONS.len() => method::option(OPTIONS[place]),
            Some(place) => LAST[place - OPTIONS.len()],
        };
        row += 1;
    }
    rows
};

/// Largest time in s, 30 thousand million years: with more, squares and products of times overflow where nobody
/// expects it.
const MAX_TIME: f64 = 1e18;

/// Settings before the options of methods: times, steps and the method.
const FIRST: &[Setting] = &[
    Setting {
        key: Key::new("start-time", TIME, Need::Default("0")).doc("Time at which the run starts."),
        flag: None,
        read: |given, run| {
            run.start_time = given.number()?;
            given.check_time(run.start_time)
        },
        show: |_, plan| Some(json!(plan.start_time)),
    },
    Setting {
        key: Key::new("end-time", TIME, Need::Optional).doc("Time at which the run ends."),
        flag: flag("TIME", "End the run at this time in place of the model's `end-time`"),
        read: |given, run| {
            run.end_time = given.reader.optional_number(given.key)?;
            run.end_time.map_or(Ok(()), |end| given.check_time(end))?;
            match run.end_time {
                Some(end) if end <= run.start_time => {
                    let requirement = format!("after the start at {} s", run.start_time);
                    let error = given.reader.unsuitable(given.key, &requirement, end);
                    Err(error.with_hint("choose a later `end-time`").into())
                }
                _ => Ok(()),
            }
        },
        show: |_, plan| Some(json!(plan.end_time)),
    },
    Setting {
        key: Key::new("step", ValueKind::NumberOr(Dimension::TIME, &[AUTO]), Need::Optional)
            .doc(
                "Step size, or `auto`, as if not given, to let the error decide on it: that of the whole run (`accuracy`), or of each step (`rtol`).",
            ),
        flag: flag(
            "TIME",
            "Step size in place of the model's `step`, or `auto` to let the error decide on it",
        ),
        read: |given, run| {
            run.step = match given.reader.optional_number_or_word(given.key)? {
                Some(NumberOrWord::Number(step)) if step <= 0.0 => {
                    return Err(given.unsuitable("positive", step));
                }
                Some(NumberOrWord::Number(step)) => Some(StepSize::Fixed(step)),
                Some(NumberOrWord::Word(_)) => Some(StepSize::Auto),
                None => None,
            };
            Ok(())
        },
        show: |_, plan| Some(controlled(plan, |_| json!(AUTO)).unwrap_or(json!(plan.integration.step))),
    },
    Setting {
        key: Key::new("accuracy", NUMBER, Need::Default("1e-3")).doc(
            "Error of positions (relative to the diagonal of the machine, or to how far its parts move if that is larger) and of angles (in rad) that the run is to keep to the end: its steps follow from coarser runs. In place of a number for `step` and of `rtol`.",
        ),
        flag: flag("NUMBER", "Error that positions and angles may have in the whole run, in place of `--step` and `--rtol`"),
        read: |given, run| {
            run.accuracy = given.positive()?;
            if !given.reader.has(given.key) {
                return Ok(());
            }
            if !(MIN_ACCURACY..=MAX_ACCURACY).contains(&run.accuracy) {
                let requirement = format!("between {MIN_ACCURACY:e}, below which there is rounding, and {MAX_ACCURACY}");
                return Err(given.unsuitable(&requirement, run.accuracy));
            }
            if let Some(StepSize::Fixed(step)) = run.step {
                return Err(given.crowded("step", step));
            }
            if let Some(key) = LOCAL.into_iter().find(|key| given.reader.has(key)) {
                return Err(given.crowded(key, given.reader.number(key)?));
            }
            run.step = Some(StepSize::Auto);
            Ok(())
        },
        show: |_, plan| plan.accuracy.map(Value::from),
    },
    Setting {
        key: Key::new("rtol", NUMBER, Need::Default("1e-4"))
            .doc(
                "Lets the error of each step decide on its size, one by one, without a look at the whole run: it stays below 0.3 `rtol`^1.5, relative to the machine's length (or the distance from the origin, if larger) and to 1 rad. In place of `accuracy`.",
            ),
        flag: flag("NUMBER", "Relative tolerance of single steps, in place of `--accuracy` and the model's `rtol`"),
        read: |given, run| {
            run.rtol = given.positive()?;
            if run.rtol < LEAST_TOLERANCE {
                let requirement =
                    format!("at least {LEAST_TOLERANCE:e}, since a number has 16 digits and a step rounds it some fifty times");
                return Err(given.unsuitable(&requirement, run.rtol));
            }
            Ok(())
        },
        show: |_, plan| controlled(plan, |control| json!(control.rtol)),
    },
    Setting {
        key: Key::new("atol", NUMBER, Need::Default("1e-8"))
            .doc("Added to `rtol`, in lengths of the machine and rad."),
        flag: flag("NUMBER", "Absolute tolerance of single steps in place of the model's `atol`"),
        read: |given, run| {
            run.atol = given.not_negative()?;
            if LOCAL.into_iter().any(|key| given.reader.has(key)) {
                run.is_local = true;
                run.step = run.step.or(Some(StepSize::Auto));
            }
            Ok(())
        },
        show: |_, plan| controlled(plan, |control| json!(control.atol)),
    },
    Setting {
        key: Key::new("accuracy-of", choice::<AccuracyOf>(), Need::Default("\"positions\""))
            .doc(
                "What `accuracy` is of: positions and angles alone, or also velocities, reactions, or both, in parts of their largest values. Velocities of what vibrates and forces of impacts may take far more steps, or never get there.",
            ),
        flag: flag("WORD", "What `--accuracy` is of"),
        read: |given, run| {
            run.accuracy_of = given.word()?;
            if given.reader.has(given.key) && run.accuracy().is_none() {
                let requirement = "left out where steps do not follow from `accuracy`";
                let error = given.reader.unsuitable(given.key, requirement, "given");
                return Err(error.with_hint("leave it out, or name an `accuracy` in place of `step` and `rtol`").into());
            }
            Ok(())
        },
        show: |run, plan| plan.accuracy.map(|_| json!(run.accuracy_of.word())),
    },
    Setting {
        key: Key::new("min-step", TIME, Need::Optional)
            .doc("Where the error decides on steps: smallest step; 1e-10 of the run if not given."),
        flag: flag("TIME", "Smallest step of steps by the error in place of the model's `min-step`"),
        read: |given, run| given.optional_positive().map(|step| run.min_step = step),
        show: |_, plan| controlled(plan, |control| json!(control.min_step)),
    },
    Setting {
        key: Key::new("max-step", TIME, Need::Optional)
            .doc("Where the error decides on steps: largest step; a tenth of the run if not given."),
        flag: flag("TIME", "Largest step of steps by the error in place of the model's `max-step`"),
        read: |given, run| {
            run.max_step = given.optional_positive()?;
            match (run.min_step, run.max_step) {
                (Some(min), Some(max)) if min > max => {
                    let requirement = format!("at least `min-step`, which is {min} s");
                    Err(given.unsuitable(&requirement, format!("{max} s")))
                }
                _ => Ok(()),
            }
        },
        show: |_, plan| controlled(plan, |control| json!(control.max_step)),
    },
    Setting {
        key: Key::new("initial-step", TIME, Need::Optional).doc(
            "Where the error decides on steps: first step, cut until its error is small enough; 0.6 % of the run if not given.",
        ),
        flag: flag("TIME", "First step of steps by the error in place of the model's `initial-step`"),
        read: |given, run| given.optional_positive().map(|step| run.initial_step = step),
        show: |_, plan| controlled(plan, |control| json!(control.initial_step)),
    },
    Setting {
        key: Key::new("output-step", TIME, Need::Optional)
            .doc("Distance of output times; if not given a thousandth of the run where steps follow from `accuracy`, and otherwise every step."),
        flag: flag("TIME", "Distance of output times in place of the model's `output-step`"),
        read: |given, run| given.optional_positive().map(|step| run.output_step = step),
        show: |_, plan| Some(json!(plan.output_step)),
    },
    method::METHOD,
];

/// Settings after the options of methods.
const LAST: &[Setting] = &[
    method::SPECTRAL_RADIUS,
    method::HHT_ALPHA,
    method::ALPHA_PARAMETERS,
    Setting {
        key: Key::new("starting-values", choice::<Start>(), Need::Default("\"order-preserving\""))
            .doc(
                "Starting values of the generalized-α methods: those that keep second order in every component; accelerations improved alone, or found with the first step; or `trivial` ones, with transients in the reactions.",
            ),
        flag: flag("WORD", "Starting values in place of the model's"),
        read: |given, run| given.word().map(|start| run.integrator.start = start),
        show: |run, _| Some(json!(run.integrator.start.word())),
    },
    Setting {
        key: Key::new("predictor", choice::<Predictor>(), Need::Default("\"adaptive\""))
            .doc(
                "First guess of Newton's iteration: accelerations and reactions as would have been best for the last step, along a line, constant, or zero.",
            ),
        flag: flag("WORD", "First guess of Newton's iteration in place of the model's"),
        read: |given, run| given.word().map(|predictor| run.integrator.predictor = predictor),
        show: |run, _| Some(json!(run.integrator.predictor.word())),
    },
    Setting {
        key: Key::new("iteration-matrix", choice::<IterationMatrix>(), Need::Default("\"mixed\""))
            .doc(
                "Matrix of Newton's iteration: exact but for the section forces of beams, exact, or simplified, without damping, stiffness and curvature.",
            ),
        flag: flag("WORD", "Matrix of Newton's iteration in place of the model's"),
        read: |given, run| given.word().map(|matrix| run.integrator.iteration_matrix = matrix),
        show: |run, _| Some(json!(run.integrator.iteration_matrix.word())),
    },
    Setting {
        key: Key::new("matrix-renewal", choice::<Refresh>(), Need::Default("\"when-cheaper\""))
            .doc("When the matrix of Newton's iteration is made anew."),
        flag: flag("WORD", "When the matrix is made anew, in place of the model's"),
        read: |given, run| given.word().map(|refresh| run.integrator.newton.refresh = refresh),
        show: |run, _| Some(json!(run.integrator.newton.refresh.word())),
    },
    Setting {
        key: Key::new("line-search", ValueKind::Boolean, Need::Default("true"))
            .doc("Whether corrections of Newton's iteration that lead uphill are cut."),
        flag: flag("BOOL", "Whether corrections that lead uphill are cut, in place of the model's"),
        read: |given, run| {
            given.reader.boolean(given.key).map(|wanted| run.integrator.newton.line_search = wanted)
        },
        show: |run, _| Some(json!(run.integrator.newton.line_search)),
    },
    Setting {
        key: Key::new("newton-stop", choice::<Stop>(), Need::Default("\"estimated-error\""))
            .doc(
                "When Newton's iteration ends: when the error that is left is small, when a correction is, or when the residual is (see `residual-tolerances`).",
            ),
        flag: flag("WORD", "When Newton's iteration ends, in place of the model's"),
        read: |given, run| given.word().map(|stop| run.integrator.newton.stop = stop),
        show: |run, _| Some(json!(run.integrator.newton.stop.word())),
    },
    Setting {
        key: Key::new("residual-tolerances", ValueKind::Numbers(Dimension::NONE, &[2]), Need::Optional)
            .doc(
                "With `newton-stop = \"small-residual\"`: norms of forces and moments that are not balanced (N, N m) and of violated constraints (m, rad) below which the iteration ends.",
            ),
        flag: flag("NUMBERS", "`[balance, violation]` in place of the model's `residual-tolerances`"),
        read: |given, run| {
            let (numbers, by_residual) =
                (given.optional_numbers()?, run.integrator.newton.stop == Stop::SmallResidual);
            match numbers.as_deref() {
                None if by_residual => {
                    let hint = "add `residual-tolerances = [1e-6, 1e-9]`, or stop by `newton-rtol`";
                    Err(given.reader.missing(given.key, hint).into())
                }
                None => Ok(()),
                Some(_) if !by_residual => {
                    Err(given.unsuitable("left out unless `newton-stop` is \"small-residual\"", "given"))
                }
                Some(&[balance, violation]) if balance > 0.0 && violation > 0.0 => {
                    run.integrator.residual_tolerances = [balance, violation];
                    Ok(())
                }
                Some(numbers) => Err(given.unsuitable("positive", format!("{numbers:?}"))),
            }
        },
        show: |run, _| {
            let by_residual = run.integrator.newton.stop == Stop::SmallResidual;
            by_residual.then(|| json!(run.integrator.residual_tolerances))
        },
    },
    Setting {
        key: Key::new("velocity-projection", ValueKind::Numbers(Dimension::TIME, &[]), Need::Optional)
            .doc(
                "Times at which velocities are projected onto the hidden constraints, to study: with `index3` reactions lose an order for some hundred steps.",
            ),
        flag: flag("TIMES", "Times at which velocities are projected, in place of the model's"),
        read: |given, run| {
            let Some(times) = given.optional_numbers()? else { return Ok(()) };
            let method = run.integrator.method;
            if method.family() == Family::Fixed {
                let requirement = format!("left out with `{}`, whose past would not follow", method.word());
                return Err(given.unsuitable(&requirement, "given"));
            }
            if let Some(early) = times.iter().find(|time| **time <= run.start_time) {
                let requirement = format!("after the start at {} s", run.start_time);
                return Err(given.unsuitable(&requirement, format!("{early} s")));
            }
            run.velocity_projection = times;
            Ok(())
        },
        show: |run, _| (!run.velocity_projection.is_empty()).then(|| json!(run.velocity_projection)),
    },
    Setting {
        key: Key::new("newton-rtol", NUMBER, Need::Default("1e-10"))
            .doc("Relative tolerance of Newton's iteration."),
        flag: None,
        read: |given, run| given.positive().map(|rtol| run.integrator.newton_rtol = rtol),
        show: |run, _| Some(json!(run.integrator.newton_rtol)),
    },
    Setting {
        key: Key::new("newton-atol", NUMBER, Need::Default("1e-12"))
            .doc("Absolute tolerance of Newton's iteration, in units of the machine's length."),
        flag: None,
        read: |given, run| given.positive().map(|atol| run.integrator.newton_atol = atol),
        show: |run, _| Some(json!(run.integrator.newton_atol)),
    },
    Setting {
        key: Key::new("mass-scale", ValueKind::Number(Dimension::MASS), Need::Optional)
            .doc(
                "m of the scaling k + m/h² of forces in Newton's iteration; the mean mass of the bodies if left out; 0 for a scaling by k alone.",
            ),
        flag: None,
        read: |given, run| given.optional_not_negative().map(|scale| run.integrator.mass_scale = scale),
        show: |run, _| run.integrator.mass_scale.map(Value::from),
    },
    Setting {
        key: Key::new("stiffness-scale", ValueKind::Number(Dimension::STIFFNESS), Need::Optional)
            .doc(
                "k of the scaling k + m/h² of forces in Newton's iteration; the mean stiffness at the start if left out.",
            ),
        flag: None,
        read: |given, run| {
            run.integrator.stiffness_scale = given.optional_not_negative()?;
            match (run.integrator.mass_scale, run.integrator.stiffness_scale) {
                // Without m and k there is nothing to divide forces by.
                (Some(0.0), Some(0.0)) => {
                    let requirement = "positive where `stiffness-scale` is zero";
                    let error = given.reader.unsuitable("mass-scale", requirement, 0.0);
                    Err(error.with_hint("leave out one of them").into())
                }
                _ => Ok(()),
            }
        },
        show: |run, _| run.integrator.stiffness_scale.map(Value::from),
    },
    Setting {
        key: Key::new("group", choice::<BodyGroup>(), Need::Default("\"se3\""))
            .doc("Lie group of bodies that do not name their own."),
        flag: flag("GROUP", "Lie group of bodies that do not name their own"),
        read: |given, run| given.word().map(|group| run.group = group),
        show: |run, _| Some(json!(run.group.word())),
    },
    Setting {
        key: Key::new("planar", choice::<Plane>(), Need::Optional)
            .doc("Plane of the world that all bodies stay parallel to, for machines that are flat. Joints keep what moves in the plane and no more, so that a linkage on hinges has no redundant equations: hinges stand across the plane, slides lie in it, and parts of machines in space are refused. What acts across the plane is held by it, as a table holds a weight, and shows in no joint."),
        flag: None,
        read: |given, run| {
            let word = given.reader.optional_choice(given.key)?;
            run.plane = word.and_then(Plane::from_word);
            Ok(())
        },
        show: |run, _| run.plane.map(|plane| json!(plane.word())),
    },
    Setting {
        key: Key::new("off-at-start", ValueKind::References(&[]), Need::Optional)
            .doc(
                "Forces, springs, joints, drives and locks that are switched off when the run starts; events switch them on.",
            ),
        flag: None,
        read: |given, run| {
            let names = given.reader.optional_references(given.key)?;
            run.off_at_start = names.unwrap_or_default();
            Ok(())
        },
        show: |_, _| None,
    },
    Setting {
        key: Key::new("default-sensors", ValueKind::Boolean, Need::Default("true"))
            .doc(
                "Whether positions, joint coordinates, reactions, energies and residuals are recorded beside the sensors of the model.",
            ),
        flag: None,
        read: |given, run| given.reader.boolean(given.key).map(|wanted| run.default_sensors = wanted),
        show: |_, _| None,
    },
    Setting {
        key: Key::new("start", choice::<StartFrom>(), Need::Default("\"given\""))
            .doc(
                "Where the run starts: at the positions of the model, or (`static`) at the equilibrium under the loads at `start-time`.",
            ),
        flag: None,
        read: |given, run| given.word().map(|start| run.start = start),
        show: |run, _| Some(json!(run.start.word())),
    },
    Setting {
        key: Key::new("error-estimate", ValueKind::Boolean, Need::Default("false")).doc(
            "Whether the run is repeated with larger steps to estimate its error; it takes about twice as long.",
        ),
        flag: flag("BOOL", "Repeat the run with larger steps and tell how large its error is"),
        read: |given, run| given.reader.boolean(given.key).map(|wanted| run.error_estimate = wanted),
        show: |_, plan| plan.error_estimate.then_some(json!(true)),
    },
];
