//! `[[state]]`, `[[algebraic]]`, `[[transfer-function]]`, `[[state-space]]`, `[[pid]]`: states and what
//! changes them.
//!
//! The states are declared where the part is read, so that forces can use them; their equations are made when
//! every name is known, so that states can use each other in any order.

use nalgebra::DMatrix;

use crate::element::{MAX_STATES, StateEquations, StateId};
use crate::machine::{MachineBuilder, PartEntry, SignalCollector, StateSignal, SteadyStates};
use crate::model::{
    Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, SignalLaw, ValueKind,
};
use crate::results::channel::is_writable;

const SIGNAL: ValueKind = ValueKind::Signal(Dimension::NONE);
const NUMBER: ValueKind = ValueKind::Number(Dimension::NONE);
const NUMBERS: ValueKind = ValueKind::Numbers(Dimension::NONE, &[]);

const INPUT: Key = Key::new("input", SIGNAL, Need::Required)
    .doc("Input: a number, a law of time, or an expression of `t`, measured quantities and states.");
const SCALE: Key = Key::new("scale", NUMBER, Need::Default("1"))
    .doc("Size against which its error is judged where it is small.");
const UNIT: Key = Key::new("unit", ValueKind::Text, Need::Default("\"1\"")).doc("Unit in result files.");

/// Keys of `[[state]]`.
static STATE: PartKind = PartKind {
    name: "state",
    doc: "A first-order state: its rate is an expression of `t`, measured quantities and states (`\"-3*charge.value + crank.angle-rate\"`). Its value is the signal `NAME.value`, which forces and other states may use.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("initial", NUMBER, Need::Default("0")).doc("Value at the start."),
        Key::new("rate", SIGNAL, Need::Required).doc("Rate per second."),
        SCALE,
        UNIT,
    ],
};

/// Keys of `[[algebraic]]`.
static ALGEBRAIC: PartKind = PartKind {
    name: "algebraic",
    doc: "An algebraic unknown `NAME.value`: at every time the value for which an expression of `t`, measured quantities, states and the unknown itself vanishes.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("zero-of", SIGNAL, Need::Required).doc("The expression that vanishes."),
        Key::new("guess", NUMBER, Need::Default("0")).doc("First guess at the start."),
        SCALE,
        UNIT,
    ],
};

/// Keys of `[[transfer-function]]`.
static TRANSFER_FUNCTION: PartKind = PartKind {
    name: "transfer-function",
    doc: "A transfer function b(s)/a(s) from its input to the signal `NAME.output`; it may have as many zeros as poles, but not more.",
    occurrence: Occurrence::Many,
    keys: &[
        INPUT,
        Key::new("numerator", NUMBERS, Need::Required)
            .doc("Coefficients of b(s), the highest power first."),
        Key::new("denominator", NUMBERS, Need::Required)
            .doc("Coefficients of a(s), the highest power first."),
        Key::new("initial", NUMBERS, Need::Optional)
            .doc("States at the start, `[0, 0]` for a step response of second order. If left out the block is steady: its output is b(0)/a(0) times the input of the start, and zero where a(0) = 0, as in an integrator."),
        UNIT,
    ],
};

/// Keys of `[[state-space]]`.
static STATE_SPACE: PartKind = PartKind {
    name: "state-space",
    doc: "A linear block ẋ = A x + B u, y = C x + D u from its inputs u to the signal `NAME.output`, or with several outputs `NAME.output-1` and so on; the states are the signals `NAME.state-1` and so on.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("input", SIGNAL, Need::Optional)
            .doc("The input, where there is only one; as in `[[transfer-function]]`."),
        Key::new("inputs", ValueKind::Signals(Dimension::NONE), Need::Optional)
            .doc("The inputs, where there are several."),
        Key::new("a", NUMBERS, Need::Required)
            .doc("A, row by row in one array."),
        Key::new("b", NUMBERS, Need::Required)
            .doc("B, likewise: a row per state, a number per input."),
        Key::new("c", NUMBERS, Need::Required)
            .doc("C, likewise: a row per output, a number per state."),
        Key::new("d", NUMBERS, Need::Optional)
            .doc("D, likewise: a row per output, a number per input; zeros if left out."),
        Key::new("initial", NUMBERS, Need::Optional)
            .doc("x at the start, `[0, 0]` say. If left out the block is steady, x = −A⁻¹B u with the inputs of the start; zeros where A has no inverse."),
        UNIT,
    ],
};

/// Keys of `[[pid]]`.
static PID: PartKind = PartKind {
    name: "pid",
    doc: "A controller: the signal `NAME.output` is proportional · e + integral · ∫e dt + derivative · ė with the error e, where ė is taken through a filter 1/(1 + T s).",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("error", SIGNAL, Need::Required)
            .doc("Error: setpoint less measured quantity, as an expression."),
        Key::new("proportional", NUMBER, Need::Default("0"))
            .doc("Gain of the error."),
        Key::new("integral", NUMBER, Need::Default("0"))
            .doc("Gain of the integrated error."),
        Key::new("derivative", NUMBER, Need::Default("0"))
            .doc("Gain of the filtered rate of the error."),
        Key::new("filter-time", ValueKind::Number(Dimension::TIME), Need::Optional)
            .doc("Time constant T of the filter; needed with `derivative`."),
        Key::new("initial", NUMBERS, Need::Optional)
            .doc("States at the start: the integral of the error and, with `derivative`, the filtered error: `[0, 0]`. If left out the integral starts at zero and the filter at the error of the start, so that no derivative kicks."),
        UNIT,
    ],
};

/// A block: names and initial values of its states, A, B and how many of them are algebraic.
struct StateBlock {
    /// Word for the signal and initial value, of each state.
    states: Vec<(String, f64)>,
    /// A, row by row.
    matrix: Vec<f64>,
    /// B, row by row.
    input: Vec<f64>,
    /// How many of the last states are algebraic: the outputs.
    output_count: usize,
    /// Whether each state starts where its rate vanishes.
    steady: Vec<bool>,
    scale: f64,
}

impl StateBlock {
    fn single(word: &str, initial: f64, scale: f64, algebraic: bool) -> Self {
        Self {
            states: vec![(word.to_string(), initial)],
            matrix: vec![0.0],
            input: vec![1.0],
            output_count: usize::from(algebraic),
            steady: vec![false],
            scale,
        }
    }

    /// ẋ = A x + B u with the outputs 0 = y − C x − D u. Without initial values the block starts steady, if
    /// it has a steady state: where A can be inverted x = −A⁻¹B u.
    fn linear(block: &Matrices, initial: Option<&[f64]>) -> Self {
        let Matrices { a, b, c, d } = block;
        let (order, outputs) = (a.nrows(), c.nrows());
        let count = order + outputs;
        let mut matrix = DMatrix::zeros(count, count);
        matrix.view_mut((0, 0), (order, order)).copy_from(a);
        matrix.view_mut((order, 0), (outputs, order)).copy_from(&-c);
        matrix.view_mut((order, order), (outputs, outputs)).fill_with_identity();
        let mut input = DMatrix::zeros(count, b.ncols());
        input.view_mut((0, 0), (order, b.ncols())).copy_from(b);
        input.view_mut((order, 0), (outputs, b.ncols())).copy_from(&-d);
        let value = |i: usize| initial.map_or(0.0, |initial| initial[i]);
        let mut states: Vec<(String, f64)> =
            (0..order).map(|i| (format!("state-{}", i + 1), value(i))).collect();
        let is_steady = initial.is_none() && order > 0 && can_be_inverted(a);
        let steady = (0..count).map(|i| is_steady && i < order).collect();
        let word = |i: usize| if outputs == 1 { "output".to_string() } else { format!("output-{}", i + 1) };
        states.extend((0..outputs).map(|i| (word(i), 0.0)));
        // What is row by row in the element is column by column in the transpose.
        let by_rows = |matrix: DMatrix<f64>| matrix.transpose().as_slice().to_vec();
        let (matrix, input) = (by_rows(matrix), by_rows(input));
        Self { states, matrix, input, output_count: outputs, steady, scale: 1.0 }
    }
}

/// Whether a matrix has an inverse, its rows compared with their own size.
fn can_be_inverted(matrix: &DMatrix<f64>) -> bool {
    let mut scaled = matrix.clone();
    scaled.row_iter_mut().for_each(|mut row| row /= row.amax().max(f64::MIN_POSITIVE));
    let factors = scaled.full_piv_lu().u();
    // Rows are of size one: some thousand ε are rounding.
    factors.diagonal().iter().all(|pivot| pivot.abs() > 1e-12)
}

/// A linear block: ẋ = A x + B u, y = C x + D u.
struct Matrices {
    a: DMatrix<f64>,
    b: DMatrix<f64>,
    c: DMatrix<f64>,
    d: DMatrix<f64>,
}

impl Matrices {
    /// A block with one input and one output.
    fn single(a: DMatrix<f64>, b: &[f64], c: &[f64], d: f64) -> Self {
        Self {
            a,
            b: DMatrix::from_column_slice(b.len(), 1, b),
            c: DMatrix::from_row_slice(1, c.len(), c),
            d: DMatrix::from_element(1, 1, d),
        }
    }
}

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[
    PartEntry::new(
        &STATE,
        &add_state,
        on_body!("[[state]]\nname = 'charge'\ninitial = 1\nrate = '-charge.value'\n"),
    )
    .changeable(),
    PartEntry::new(
        &ALGEBRAIC,
        &add_algebraic,
        on_body!("[[algebraic]]\nname = 'root'\nzero-of = 'root.value - t'\n"),
    )
    .changeable(),
    PartEntry::new(
        &TRANSFER_FUNCTION,
        &add_transfer_function,
        on_body!(
            "[[transfer-function]]\nname = 'filter'\ninput = 'arm.position.x'\nnumerator = [1]\n\
         denominator = [1, 1]\n"
        ),
    )
    .changeable(),
    PartEntry::new(
        &STATE_SPACE,
        &add_state_space,
        on_body!("[[state-space]]\nname = 'filter'\ninput = 'arm.position.x'\na = [-1]\nb = [1]\nc = [1]\n"),
    )
    .changeable(),
    PartEntry::new(
        &PID,
        &add_pid,
        on_hinge!("[[pid]]\nname = 'controller'\nerror = '-hinge.angle'\nproportional = 1\nintegral = 1\n"),
    )
    .changeable(),
];

/// Adds a state.
fn add_state(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let block = StateBlock::single("value", reader.number("initial")?, reader.positive("scale")?, false);
    let rate = reader.signal("rate")?;
    declare(part, &reader, builder, block, vec![rate])?;
    reader.finish()
}

/// Adds an algebraic unknown.
fn add_algebraic(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let block = StateBlock::single("value", reader.number("guess")?, reader.positive("scale")?, true);
    let zero = reader.signal("zero-of")?;
    declare(part, &reader, builder, block, vec![zero])?;
    reader.finish()
}

/// Adds a transfer function in its controllable form.
fn add_transfer_function(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let (numerator, denominator) = (reader.numbers("numerator")?, reader.numbers("denominator")?);
    let Some((&leading, rest)) = denominator.split_first().filter(|(leading, _)| **leading != 0.0) else {
        let requirement = "coefficients that begin with one other than 0";
        return Err(reader.unsuitable("denominator", requirement, "none").into());
    };
    let order = rest.len();
    let zeros =
        numerator.iter().position(|value| *value != 0.0).map_or(0, |first| numerator.len() - 1 - first);
    if zeros > order {
        let found = format!("of degree {zeros} over degree {order}");
        let requirement = "of no higher degree than the denominator: no more zeros than poles";
        let error = reader.unsuitable("numerator", requirement, found);
        return Err(error.with_hint("a pure derivative is not a state; add a pole: (s)/(1 + T s)").into());
    }
    check_size(&reader, "denominator", order)?;
    // a(s) = sⁿ + a₁ sⁿ⁻¹ + …, b(s) = b₀ sⁿ + b₁ sⁿ⁻¹ + …; x = (s^(n−1), …, 1)/a(s) u.
    let poles: Vec<f64> = rest.iter().map(|value| value / leading).collect();
    let mut zeros = vec![0.0; order + 1 - numerator.len().min(order + 1)];
    let excess = numerator.len().saturating_sub(order + 1);
    zeros.extend(numerator[excess..].iter().map(|value| value / leading));
    let direct = zeros[0];
    let a = DMatrix::from_fn(order, order, |row, column| match row {
        0 => -poles[column],
        _ => f64::from(u8::from(column + 1 == row)),
    });
    let b: Vec<f64> = (0..order).map(|row| f64::from(u8::from(row == 0))).collect();
    let c: Vec<f64> = (0..order).map(|i| zeros[i + 1] - direct * poles[i]).collect();
    let initial = initial_states(&reader, order, "the denominator")?;
    let block = StateBlock::linear(&Matrices::single(a, &b, &c, direct), initial.as_deref());
    let input = reader.signal("input")?;
    declare(part, &reader, builder, block, vec![input])?;
    reader.finish()
}

/// Adds a block in state space.
fn add_state_space(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let inputs = match (reader.optional_signal("input")?, reader.optional_signals("inputs")?) {
        (Some(input), None) => vec![input],
        (None, Some(inputs)) if !inputs.is_empty() => inputs,
        (one, several) => {
            let found = match (one, several) {
                (Some(_), Some(_)) => "both are given",
                (None, Some(_)) => "`inputs` is empty",
                _ => "none is given",
            };
            return Err(reader.ambiguous(&["input", "inputs"], found).into());
        }
    };
    let (matrices, initial) = matrices(&reader, inputs.len())?;
    declare(part, &reader, builder, StateBlock::linear(&matrices, initial.as_deref()), inputs)?;
    reader.finish()
}

/// Matrices of a block with some inputs, and the states at the start.
fn matrices(reader: &PartReader, inputs: usize) -> Result<(Matrices, Option<Vec<f64>>), ModelErrors> {
    let (a, b, c) = (reader.numbers("a")?, reader.numbers("b")?, reader.numbers("c")?);
    let order = a.len().isqrt();
    let is_square = order * order == a.len();
    reader.require(is_square, "a", "a square matrix, row by row: 1, 4, 9, … numbers", a.len())?;
    let direct = reader.optional_numbers("d")?;
    // Without states the direct part alone says how many outputs there are.
    let outputs =
        c.len().checked_div(order).or_else(|| Some(direct.as_ref()?.len() / inputs)).unwrap_or(1).max(1);
    let d = direct.unwrap_or_else(|| vec![0.0; outputs * inputs]);
    check_size(reader, "a", order + outputs - 1)?;
    let initial = reader.optional_numbers("initial")?;
    for (key, count, rows, columns) in [
        ("b", b.len(), order, inputs),
        ("c", c.len(), outputs, order),
        ("d", d.len(), outputs, inputs),
        ("initial", initial.as_ref().map_or(order, Vec::len), order, 1),
    ] {
        if count != rows * columns {
            let requirement = format!("{} numbers, {rows} × {columns}", rows * columns);
            let hint = format!("A is {order} × {order} and there are {inputs} inputs");
            return Err(reader.unsuitable(key, &requirement, count).with_hint(hint).into());
        }
    }
    let rows = |rows, columns, values: &[f64]| DMatrix::from_row_slice(rows, columns, values);
    let matrices = Matrices {
        a: rows(order, order, &a),
        b: rows(order, inputs, &b),
        c: rows(outputs, order, &c),
        d: rows(outputs, inputs, &d),
    };
    Ok((matrices, initial))
}

/// Adds a controller.
fn add_pid(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let [p, i, d] =
        [reader.number("proportional")?, reader.number("integral")?, reader.number("derivative")?];
    let filter = match d {
        0.0 => None,
        _ if !reader.has("filter-time") => {
            let hint =
                "a derivative needs a filter: `filter-time`, a tenth of the fastest time that counts, say";
            return Err(reader.missing("filter-time", hint).into());
        }
        _ => Some(reader.positive("filter-time")?),
    };
    // States: ∫e with the rate e; the filtered error f with ḟ = (e − f)/T, so that ė ≈ ḟ.
    let (mut a, mut b, mut c, mut direct) = (DMatrix::zeros(1, 1), vec![1.0], vec![i], p);
    if let Some(time) = filter {
        a = DMatrix::from_row_slice(2, 2, &[0.0, 0.0, 0.0, -1.0 / time]);
        b.push(1.0 / time);
        c.push(-d / time);
        direct += d / time;
    }
    let initial = initial_states(&reader, b.len(), "the integral and the filter")?;
    let mut block = StateBlock::linear(&Matrices::single(a, &b, &c, direct), initial.as_deref());
    block.states[0].0 = "integral".to_string();
    if filter.is_some() {
        block.states[1].0 = "filtered-error".to_string();
        // The integral of an error has no steady value, the filter has: the error.
        block.steady[1] = initial.is_none();
    }
    let error = reader.signal("error")?;
    declare(part, &reader, builder, block, vec![error])?;
    reader.finish()
}

/// The states of a block at the start, if they are given; `whose` says what has so many.
fn initial_states(reader: &PartReader, order: usize, whose: &str) -> Result<Option<Vec<f64>>, ModelErrors> {
    let initial = reader.optional_numbers("initial")?;
    match &initial {
        Some(given) if given.len() != order => {
            let requirement = format!("one number per state of {whose}: {order}");
            Err(reader.unsuitable("initial", &requirement, given.len()).into())
        }
        _ => Ok(initial),
    }
}

/// States that one block may have, beside its output and what its input reads.
const MAX_ORDER: usize = MAX_STATES - 4;

fn check_size(reader: &PartReader, key: &str, order: usize) -> Result<(), ModelErrors> {
    if order > MAX_ORDER {
        let requirement = format!("of order {MAX_ORDER} at most");
        return Err(reader.unsuitable(key, &requirement, format!("of order {order}")).into());
    }
    Ok(())
}

/// Declares the states of a block now, and makes their equations when all names are known.
fn declare(
    part: &Part,
    reader: &PartReader,
    builder: &mut MachineBuilder,
    block: StateBlock,
    inputs: Vec<SignalLaw>,
) -> Result<(), ModelErrors> {
    let unit = reader.text("unit")?.content().to_string();
    if !is_writable(&unit) {
        let requirement = "without commas, quotes, brackets and control characters, which no table can hold";
        return Err(reader.unsuitable("unit", requirement, format!("`{unit}`")).into());
    }
    let first_output = block.states.len() - block.output_count;
    let last = block.states.len() - 1;
    let mut states: Vec<StateId> = Vec::new();
    for (index, (word, initial)) in block.states.iter().enumerate() {
        let name = format!("{}.{word}", part.name());
        let algebraic = index >= first_output;
        let state = if algebraic {
            builder.system_mut().algebraic_state(&name, *initial, block.scale)
        } else {
            builder.system_mut().state(&name, *initial, block.scale)
        };
        let unit = if algebraic || index == last { unit.clone() } else { "1".to_string() };
        let place = reader.place().clone();
        builder.signals_mut().add_state(StateSignal { name, state, unit, algebraic, place });
        states.push(state);
    }
    let steady: Vec<StateId> =
        states.iter().zip(&block.steady).filter(|(_, steady)| **steady).map(|(state, _)| *state).collect();
    if !steady.is_empty() {
        builder.start_steady(SteadyStates { states: steady, min_rate: 0.0 });
    }
    let (name, description) = (part.name().to_string(), reader.description().to_string());
    builder.defer(move |builder| {
        let mut collector = SignalCollector::new(builder, &description, Vec::new());
        let quantities = inputs.iter().map(|input| collector.quantity(input)).collect::<Result<_, _>>()?;
        let used = collector.finish();
        let StateBlock { matrix, input, .. } = block;
        let equations = StateEquations::new(used.nodes, states, matrix, input, quantities, used.signals);
        let element = builder.add_element(&name, equations.with_inputs(used.initial));
        builder.signals_mut().connect_inputs(element, used.inputs);
        Ok(())
    });
    Ok(())
}
