use num_dual::{Dual64, DualNum};
use proptest::prelude::*;

use super::*;

fn constants(name: &str) -> Option<f64> {
    match name {
        "l" => Some(0.5),
        "w0" => Some(3.0),
        "spring-rate" => Some(7.0),
        "spring" => Some(100.0),
        _ => None,
    }
}

fn names() -> Vec<String> {
    ["l", "w0", "spring-rate", "spring", "pi", "g0"].map(String::from).to_vec()
}

fn constant(text: &str) -> Result<f64, ModelError> {
    constant_value(&Text::standalone("test", text), Some(Dimension::LENGTH), &constants, None, &names)
}

fn compile(text: &str) -> Result<Expression, ModelError> {
    let known = |name: &str| {
        matches!(name, "t" | "x" | "y" | "crank.angle" | "crank-pin.at-0.5.rate").then(|| name.to_string())
    };
    let candidates = || ["t", "x", "y", "crank.angle", "crank-pin.at-0.5.rate"].map(String::from).to_vec();
    Expression::compile(&Text::standalone("test", text), Dimension::NONE, &constants, &known, &candidates)
}

#[test]
fn constant_expressions_have_the_value_of_their_arithmetic() {
    let cases = [
        ("1", 1.0),
        ("1.5e-3", 1.5e-3),
        (".5", 0.5),
        ("2 + 3*4", 14.0),
        ("(2 + 3)*4", 20.0),
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("2^-1*4", 2.0),
        ("10 - 4 - 3", 3.0),
        ("24/4/3", 2.0),
        ("--3", 3.0),
        ("+3", 3.0),
        ("2*w0", 6.0),
        ("sqrt(16) + abs(-1)", 5.0),
        ("min(2, 3)*max(2, 3)", 6.0),
        ("atan2(1, 1)*4", std::f64::consts::PI),
        ("pi", std::f64::consts::PI),
        ("g0", 9.80665),
        ("floor(-1.5) + ceil(-1.5)", -3.0),
        ("sign(-3) + sign(0) + sign(2)", 0.0),
        ("step(-1) + step(0)", 1.0),
        ("mod(-1, 3)", 2.0),
        ("if(w0 > 2, 10, 20)", 10.0),
        ("1 < 2 && 2 <= 2 && !(3 < 2)", 1.0),
        ("1 > 2 || 2 >= 3", 0.0),
        ("1 == 1 && 1 != 2", 1.0),
        ("1 + 1 == 2", 1.0),
        ("ln(exp(2)) + log10(1000)", 5.0),
        ("spring-rate", 7.0),
        ("spring - w0", 97.0),
        ("spring-w0", 97.0),
        ("spring-rate-w0", 4.0),
        ("w0-1", 2.0),
        ("  120   mm ", 0.12),
        ("10mm", 0.01),
        ("10 + 20 mm", 0.03),
        ("(l + 1) cm", 0.015),
        ("l mm", 0.0005),
        ("1 in", 0.0254),
        ("2e3 mm", 2.0),
    ];
    for (text, expected) in cases {
        let value = constant(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        // A few roundings.
        assert!((value - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(), "{text}: {value}");
    }
}

#[test]
fn mistakes_in_expressions_are_named_with_their_column() {
    let deep = "(".repeat(5_000);
    let signs = "-".repeat(5_000) + "1";
    let powers = "2^".repeat(4_000) + "1";
    let long = "1+".repeat(10_000) + "1";
    let cases = [
        ("", 1, "empty", ""),
        ("  ", 1, "empty", ""),
        ("2 +", 3, "missing", "ends too early"),
        ("2 + * 3", 5, "missing", ""),
        ("(1 + 2", 1, "never closed", "add `)`"),
        ("sin(1", 4, "never closed", ""),
        ("1 + 2)", 6, "never opened", ""),
        (")", 1, "never opened", ""),
        ("2*lenght", 3, "no parameter `lenght`", ""),
        ("2*w1", 3, "no parameter `w1`", "did you mean `w0`"),
        ("spring-rat + 1", 1, "no parameter `spring-rat`", "`spring-rate`"),
        ("sine(1)", 1, "no function `sine`", "`sin`"),
        ("sin 1", 1, "needs its arguments", "sin(…)"),
        ("sin(1, 2)", 1, "takes 1 argument(s), not 2", ""),
        ("min(1)", 1, "takes 2 argument(s), not 1", ""),
        ("sin()", 1, "takes 1 argument(s), not 0", ""),
        ("l(2)", 1, "not a function", "`l*(…)`"),
        ("1 $ 2", 3, "no meaning", ""),
        ("1 < 2 < 3", 7, "chained", "&&"),
        ("1 = 2", 3, "no meaning", "=="),
        ("1,5", 2, "operator is missing", "decimal"),
        ("7 % 2", 3, "no meaning", "mod"),
        ("2 3", 3, "operator is missing", ""),
        ("1/0", 1, "inf", "divided by zero"),
        ("sqrt(-1)", 1, "NaN", ""),
        ("5 parsec", 3, "no unit `parsec`", "known units"),
        ("5 deg", 3, "length (m), not of angle", "`m`"),
        ("5 mm + 1", 6, "not a unit", "one unit"),
        ("(5 mm)", 4, "operator is missing", "at the very end"),
        (&deep, 202, "nested more than 200", ""),
        (&signs, 202, "nested more than 200", ""),
        (&powers, 403, "nested more than 200", ""),
        (&long, 10_001, "longer than 10000", ""),
    ];
    for (text, column, reason, hint) in cases {
        let shown: String = text.chars().take(40).collect();
        let error = constant(text).expect_err(&shown);
        assert!(error.mistake().to_string().contains(reason), "{shown}: {error}");
        assert!(error.hint().unwrap_or("").contains(hint), "{shown}: {error}");
        assert_eq!(error.place().column(), column, "{shown}: {error}");
    }
}

#[test]
fn a_long_run_of_dashes_is_read_in_time() {
    // Every cut of the run is tried as a name only up to the longest name.
    assert!(constant(&("a-".repeat(4_000) + "a")).is_err());
}

#[test]
fn dotted_and_dashed_names_are_variables() {
    let expression = compile("2*crank.angle - crank-pin.at-0.5.rate-1").unwrap();
    assert_eq!(expression.variables(), ["crank.angle", "crank-pin.at-0.5.rate"]);
    assert_eq!(expression.value(&[3.0, 2.0]), 3.0);
    let error = compile("2*crank.angel").unwrap_err();
    assert_eq!(error.hint(), Some("did you mean `crank.angle`?"));
    assert_eq!(error.place().text(), "crank.angel");
}

/// Expressions of x and y that are smooth where both lie between 0.2 and 0.9.
const SMOOTH: &[&str] = &[
    "x + 2*y - x*y/3",
    "sin(x)*cos(y) + tan(x*y)",
    "asin(x*y) + acos(x) + atan(x/y) + atan2(x, y)",
    "sinh(x) + cosh(y*x) + tanh(x - y)",
    "exp(-x*y)*ln(x + 2) + log10(y)",
    "sqrt(x^2 + y^2) + x^3 + x^1.5 + y^-2",
    "x^y + 2^x + (x + 1)^(y + 1)",
    "abs(x - 5) + min(x, 10)*max(y, -1) + sign(x)*y",
    "if(x > 0, x^2*y, y^2) + step(x)*x + mod(x + 7, 3)",
    "(x - 3)^3*(y - 2)^2",
    "-(-x) + 0*y + 1*x + x/1 + 0/x + y^1 + y^0",
    "floor(x) + ceil(y) + !(x < y)*0 + x",
];

/// The same functions in dual numbers.
fn dual(index: usize, x: Dual64, y: Dual64) -> Dual64 {
    match index {
        0 => x + y * 2.0 - x * y / 3.0,
        1 => x.sin() * y.cos() + (x * y).tan(),
        2 => (x * y).asin() + x.acos() + (x / y).atan() + x.atan2(y),
        3 => x.sinh() + (y * x).cosh() + (x - y).tanh(),
        4 => (-x * y).exp() * (x + 2.0).ln() + y.log10(),
        5 => (x * x + y * y).sqrt() + x.powi(3) + x.powf(1.5) + y.powi(-2),
        6 => x.powd(y) + Dual64::from(2.0).powd(x) + (x + 1.0).powd(y + 1.0),
        7 => -(x - 5.0) + x * y + y,
        8 => x * x * y + x + x + 1.0,
        9 => (x - 3.0).powi(3) * (y - 2.0).powi(2),
        10 => x * 3.0 + y + 1.0,
        _ => x + 1.0,
    }
}

proptest! {
    #[test]
    fn value_and_gradient_agree_with_dual_numbers(x in 0.2..0.9, y in 0.2..0.9) {
        for (index, text) in SMOOTH.iter().enumerate() {
            let expression = compile(text).unwrap();
            let variables: Vec<f64> =
                expression.variables().iter().map(|name| if name == "x" { x } else { y }).collect();
            let mut gradient = vec![0.0; variables.len()];
            let value = expression.value_and_gradient(&variables, &mut gradient);
            prop_assert_eq!(value, expression.value(&variables));
            for (name, slope) in expression.variables().iter().zip(gradient) {
                let seed = |wanted| Dual64::new(if wanted == "x" { x } else { y }, f64::from(name == wanted));
                let expected = dual(index, seed("x"), seed("y"));
                // Both evaluate the same formula with some ten roundings; slopes reach about 250.
                prop_assert!((value - expected.re).abs() < 1e-12, "{}: {} {}", text, value, expected.re);
                prop_assert!((slope - expected.eps).abs() < 1e-11, "{}: {} {}", text, slope, expected.eps);
            }
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[ -~äµ²]{0,40}") {
        let _ = constant(&text);
        let _ = compile(&text);
    }
}

#[test]
fn the_branch_not_taken_does_not_spoil_the_slope() {
    let expression = compile("if(x > 0, sqrt(x), 0)").unwrap();
    let mut gradient = [1.0];
    assert_eq!(expression.value_and_gradient(&[0.0], &mut gradient), 0.0);
    assert_eq!(gradient, [0.0]);
}

#[test]
fn many_measured_quantities_are_refused() {
    let text = (0..150).map(|index| format!("x{index}")).collect::<Vec<_>>().join("+");
    let error = Expression::compile(
        &Text::standalone("test", text),
        Dimension::NONE,
        &|_| None,
        &|name| name.starts_with('x').then(|| name.to_string()),
        &Vec::new,
    );
    assert!(error.unwrap_err().to_string().contains("more than 100 measured"));
}

#[test]
fn a_long_series_and_its_derivatives_compile_and_run() {
    let text = (1..500).map(|k| format!("sin({k}*x)/{k}^2")).collect::<Vec<_>>().join(" + ");
    let expression = compile(&text).unwrap();
    let expected: f64 = (1..500).map(f64::from).map(|k| (0.3 * k).cos() / k).sum();
    let mut gradient = [0.0];
    expression.value_and_gradient(&[0.3], &mut gradient);
    // 500 terms of at most 1, each rounded a few times.
    assert!((gradient[0] - expected).abs() < 1e-12);
}

#[test]
fn expressions_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Expression>();
}

/// Names that a model could give: expressions that use each other, a curve and a grid.
fn named() -> OwnNames {
    use crate::model::table::{Interpolation, Outside, Table, TableGrid};
    let text = |content: &str| Text::standalone("test", content);
    let expressions = [
        ("pull", "3*gas-force(x) + push"),
        ("push", "2[mm] + y mm"),
        ("first", "second + 1"),
        ("second", "2*first"),
        ("wrong", "x + nothing"),
    ];
    let points: Vec<(f64, f64)> = (0..9).map(|k| 0.5 * f64::from(k)).map(|x| (x, (1.3 * x).sin())).collect();
    let curve = Table::new(&points, Interpolation::Smooth, Outside::Continue).unwrap();
    let axis: Vec<f64> = (0..7).map(|k| 0.7 * f64::from(k) - 1.0).collect();
    let rows: Vec<Vec<f64>> = axis.iter().map(|x| axis.iter().map(|y| (x * y).cos() + x).collect()).collect();
    let grid =
        TableGrid::new([axis.clone(), axis], &rows, Interpolation::Smooth, [Outside::Hold; 2]).unwrap();
    OwnNames {
        expressions: expressions.map(|(name, content)| (name.to_owned(), text(content))).into(),
        tables: [
            ("gas-force".to_owned(), Arc::new(TableFunction::Line(curve))),
            ("map".to_owned(), Arc::new(TableFunction::Grid(grid))),
        ]
        .into(),
    }
}

fn compile_named(text: &str) -> Result<Expression, ModelError> {
    let known = |name: &str| matches!(name, "t" | "x" | "y").then(|| name.to_string());
    let text = Text::standalone("test", text);
    Expression::compile_with(&named(), &text, None, &constants, &known, &Vec::new)
}

#[test]
fn a_unit_in_brackets_belongs_to_what_stands_before_it() {
    for (text, expected) in [
        ("1 + 20[mm]", 1.02),
        ("2[mm]^2*1e6", 4.0),
        ("(1 + 1)[cm]", 0.02),
        ("l[mm] + 1", 1.0005),
        ("sin(30[deg]) m", 0.5),
        ("-90[deg]/pi", -0.5),
        ("2 + 3[mm] mm", 2.003e-3),
        ("5 N/mm [mm]", f64::NAN),
        ("5[", f64::NAN),
        ("5[]", f64::NAN),
        ("5[furlong]", f64::NAN),
        ("[mm]", f64::NAN),
    ] {
        match constant(text) {
            // A few roundings.
            Ok(value) => assert!((value - expected).abs() < 1e-15, "{text}: {value}"),
            Err(error) => assert!(expected.is_nan(), "{text}: {error}"),
        }
    }
    let hint = constant("2 mm + l").unwrap_err();
    assert!(hint.hint().unwrap().contains("30[deg]"), "{hint}");
}

#[test]
fn named_expressions_and_tables_have_the_value_and_the_slopes_of_what_they_stand_for() {
    let expression = compile_named("pull*map(x, 2*y) + gas-force(x)^2 - pull").unwrap();
    assert_eq!(expression.variables(), ["x", "y"]);
    for [x, y] in [[0.3, 0.2], [2.1, -0.4], [1.7, 1.4], [-0.5, 0.1], [5.0, 9.0]] {
        let mut slopes = [0.0; 2];
        let value = expression.value_and_gradient(&[x, y], &mut slopes);
        assert_eq!(value, expression.value(&[x, y]));
        let tables = named().tables;
        let gas = tables["gas-force"].derivative([x, x], [0, 0]);
        let pull = 3.0 * gas + (2e-3 + y) * 1e-3;
        let by_hand = pull * tables["map"].derivative([x, 2.0 * y], [0, 0]) + gas * gas - pull;
        // A few roundings of numbers below 100.
        assert!((value - by_hand).abs() < 1e-12, "{x} {y}: {value} {by_hand}");
        for (place, slope) in slopes.into_iter().enumerate() {
            let at = |step: f64| {
                let mut at = [x, y];
                at[place] += step;
                expression.value(&at)
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            // Third derivatives times 1e-12, and ε/1e-6 of rounding.
            assert!((slope - difference).abs() < 1e-7, "{x} {y} {place}: {slope} {difference}");
        }
    }
    // Used twice, read once: otherwise this would take a power of two.
    let chain = |count: usize| {
        let mut named = named();
        let text = |content: String| Text::standalone("test", content);
        named.expressions.insert("n0".into(), text("x".into()));
        for k in 1..count {
            named.expressions.insert(format!("n{k}"), text(format!("n{0} + n{0}", k - 1)));
        }
        let known = |name: &str| (name == "x").then(|| name.to_string());
        let last = text(format!("n{}", count - 1));
        Expression::compile_with(&named, &last, None, &constants, &known, &Vec::new)
    };
    assert_eq!(chain(51).unwrap().value(&[1.0]), 2.0_f64.powi(50));
    let error = chain(1000).unwrap_err();
    assert_eq!(*error.mistake(), Mistake::Expression(ExpressionMistake::TooDeep));
}

#[test]
fn mistakes_in_named_expressions_and_calls_of_tables_are_told() {
    for (text, reason) in [
        ("first", "these expressions use each other: `first` → `second` → `first`"),
        ("wrong", "there is no parameter or measured quantity `nothing`"),
        ("gas-force(x, y)", "the function `gas-force` takes 1 argument(s), not 2"),
        ("map(x)", "the function `map` takes 2 argument(s), not 1"),
        ("gas-force", "a function needs its arguments in parentheses"),
        ("gas-forc(x)", "there is no function `gas-forc`"),
        ("pull(x)", "this name is not a function"),
    ] {
        let error = compile_named(text).unwrap_err();
        assert_eq!(error.mistake().to_string(), reason, "{text}");
    }
}

#[test]
fn corners_of_tables_are_those_of_their_arguments() {
    use crate::model::table::{Interpolation, Outside, Table};
    let table = |outside| {
        let points = [(0.0, 0.0), (0.5, 1.0), (2.0, 0.0)];
        Arc::new(TableFunction::Line(Table::new(&points, Interpolation::Linear, outside).unwrap()))
    };
    let named = OwnNames {
        expressions: BTreeMap::new(),
        tables: [("saw".into(), table(Outside::Repeat)), ("ramp".into(), table(Outside::Hold))].into(),
    };
    let corners = |text: &str| {
        let known = |name: &str| (name == "t").then(|| name.to_string());
        let text = Text::standalone("test", text);
        let expression =
            Expression::compile_with(&named, &text, None, &constants, &known, &Vec::new).unwrap();
        let mut corners = expression.corner_finder().unwrap().corners(0.0, 2.0);
        corners.retain(|time| (0.0..=2.0).contains(time));
        corners.sort_by(f64::total_cmp);
        corners
    };
    assert_eq!(corners("ramp(2*t - 1)"), [0.5, 0.75, 1.5]);
    assert_eq!(corners("saw(2*t)"), [0.0, 0.25, 1.0, 1.25, 2.0]);
}
