//! What the papers offer can be chosen in model files and by flags, with the same effect as in Rust.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::integrate::{
    HHT_SOI2, INDEX3, Integrator, IterationMatrix, Parameters, PastMass, Predictor, Settings, Start,
};
use kreisel::machine::{Machine, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::solve::newton::{NewtonSettings, Refresh, Stop};

const TOP: &str = include_str!("../../../../models/heavy-top.toml");
const BODY: &str = "[[body]]\nmass = 1\ninertia = [1, 1, 1]\n";

/// Settings of the study, each as key and text.
const KEYS: [(&str, &str); 10] = [
    ("method", "index3"),
    ("alpha-parameters", "[0.1, 0.3, 0.4, 0.7]"),
    ("starting-values", "improved-acceleration"),
    ("predictor", "constant"),
    ("iteration-matrix", "simplified"),
    ("matrix-renewal", "when-slow"),
    ("line-search", "false"),
    ("newton-stop", "small-residual"),
    ("residual-tolerances", "[1e-3, 1e-7]"),
    ("velocity-projection", "[0.5, '250 ms']"),
];

/// The model of a body with these keys.
fn model(keys: &[(&str, &str)]) -> String {
    let quoted = |text: &str| match text {
        "false" => text.to_owned(),
        _ if text.starts_with('[') => text.to_owned(),
        _ => format!("'{text}'"),
    };
    let lines: String = keys.iter().map(|(key, text)| format!("{key} = {}\n", quoted(text))).collect();
    format!("[simulation]\nend-time = 1\nstep = 0.01\n{lines}{BODY}")
}

fn read(text: &str, texts: &SettingTexts) -> Result<Machine, String> {
    MachineReader::new().with_settings(texts).text("m.toml", text).map_err(|errors| errors.to_string())
}

fn by_flags(keys: &[(&str, &str)]) -> SettingTexts {
    keys.iter().fold(SettingTexts::default(), |texts, (key, text)| texts.with(*key, text))
}

#[test]
fn keys_and_flags_say_what_rust_says() {
    let newton = NewtonSettings {
        refresh: Refresh::WhenSlow,
        line_search: false,
        stop: Stop::SmallResidual,
        ..NewtonSettings::default()
    };
    let expected = Settings::new(INDEX3, Parameters::new(0.1, 0.3, 0.4, 0.7).unwrap(), 0.01)
        .with_start(Start::ImprovedAcceleration)
        .with_predictor(Predictor::ConstantAcceleration)
        .with_iteration_matrix(IterationMatrix::Simplified)
        .with_newton(newton)
        .with_residual_tolerances(1e-3, 1e-7);
    let by_keys = read(&model(&KEYS), &SettingTexts::default()).unwrap();
    let flags = read(&model(&[]), &by_flags(&KEYS)).unwrap();
    for machine in [by_keys, flags] {
        let plan = machine.plan().unwrap();
        assert_eq!(plan.integration, expected);
        assert_eq!(plan.velocity_projection, [0.5, 0.25]);
        let words = machine.settings().words(&plan);
        assert_eq!(words["starting-values"], "improved-acceleration");
        assert_eq!(words["alpha-parameters"], serde_json::json!([0.1, 0.3, 0.4, 0.7]));
        assert_eq!(words["velocity-projection"], serde_json::json!([0.5, 0.25]));
    }
}

#[test]
fn hht_and_the_mass_of_the_step_before_are_chosen_by_words() {
    let keys = [("method", "hht-soi2"), ("hht-alpha", "0.05"), ("past-mass", "renewed")];
    let plan = read(&model(&keys), &SettingTexts::default()).unwrap().plan().unwrap();
    let parameters = Parameters::hht(0.05).unwrap();
    assert_eq!(plan.integration, Settings::new(HHT_SOI2, parameters, 0.01).with_option(PastMass::Renewed));
    let plan = read(&model(&[("method", "index3"), ("hht-alpha", "0.05")]), &SettingTexts::default());
    assert_eq!(plan.unwrap().plan().unwrap().integration, Settings::new(INDEX3, parameters, 0.01));
}

#[test]
fn parameters_that_do_not_suit_are_refused_with_the_reason() {
    for (keys, reason) in [
        (&[("hht-alpha", "0.4")][..], "must be between 0 and 1/3, not 0.4"),
        (&[("alpha-parameters", "[0, 0, 0.25, 0.6]")], "of second order, with γ = 1/2 - (α_m - α_f) = 0.5"),
        (&[("alpha-parameters", "[0, 0, 0, 0.5]")], "β > 0"),
        (&[("alpha-parameters", "[0, 0]")], "4"),
        (&[("method", "bdf2"), ("hht-alpha", "0.1")], "left out with `bdf2`, which has no parameters"),
        (&[("method", "hht-i3"), ("alpha-parameters", "[0.1, 0.3, 0.4, 0.7]")], "α_m = 0"),
        (&[("spectral-radius", "0.9"), ("hht-alpha", "0.1")], "`spectral-radius`"),
        (&[("alpha-parameters", "[0, 0.1, 0.3025, 0.6]"), ("hht-alpha", "0.1")], "`alpha-parameters`"),
        (&[("step", "auto"), ("hht-alpha", "0")], "at most 0.98"),
        (&[("residual-tolerances", "[1, 1]")], "left out unless `newton-stop`"),
        (&[("newton-stop", "small-residual")], "residual-tolerances"),
        (&[("newton-stop", "small-residual"), ("residual-tolerances", "[1, 0]")], "positive"),
        (&[("method", "bdf2"), ("velocity-projection", "[0.5]")], "whose past would not follow"),
        (&[("velocity-projection", "[0.5, 0]")], "after the start at 0 s, not 0 s"),
        (&[("predictor", "cubic")], "predictor"),
    ] {
        let error = read(&model(&[]).replace("step = 0.01\n", ""), &by_flags(keys)).err().unwrap();
        assert!(error.contains(reason), "{keys:?}: {error}");
    }
}

/// Size of B v at a time between two projections and at the second one.
fn hidden_residuals(projection: &str) -> [f64; 2] {
    let keys = [("velocity-projection", projection), ("step", "1 ms"), ("starting-values", "trivial")];
    let machine = read(TOP, &by_flags(&keys)).unwrap();
    let mut run = machine.start(&machine.plan().unwrap()).unwrap();
    [0.45, 0.7].map(|time| {
        run.advance_to(time, &mut ());
        assert_eq!(run.integration().values().time, time);
        run.integration().velocity_residual().iter().map(|value| value * value).sum::<f64>().sqrt()
    })
}

#[test]
fn a_stop_by_the_residual_without_tolerances_is_refused_in_rust_too() {
    let machine = read(TOP, &SettingTexts::default()).unwrap();
    let newton = NewtonSettings { stop: Stop::SmallResidual, ..NewtonSettings::default() };
    let settings = machine.plan().unwrap().integration.with_newton(newton);
    let outcome = Integrator::with(settings).start(machine.system(), machine.initial().clone());
    assert!(outcome.err().unwrap().to_string().contains("residual-tolerances"));
}

#[test]
fn velocities_are_projected_at_the_times_that_are_named() {
    let [between, at] = hidden_residuals("[0.7, 0.2]");
    let [_, without] = hidden_residuals("[0.2]");
    // Without a projection it is h² B r, some 1e-2; a projection leaves rounding errors of velocities of 150
    // rad/s.
    assert!(between > 1e-3 && without > 1e-3, "{between:e} {without:e}");
    assert!(at < 1e-11, "{at:e}");
}
