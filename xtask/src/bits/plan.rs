//! Which runs are compared: every model with every method, with its own step and with a step by error,
//! equilibria, modes, and options of methods.

use std::path::Path;

/// As `kreisel run --help` lists them, with what they need: `updated-lagrangian` refuses SE(3).
const METHODS: [(&str, &str); 7] = [
    ("index2", ""),
    ("index3", ""),
    ("soi2", ""),
    ("hht-i3", ""),
    ("hht-soi2", ""),
    ("updated-lagrangian", "--group so3xr3"),
    ("bdf2", ""),
];

/// Steps of a run with a fixed step.
const STEPS: f64 = 300.0;

/// Ends of models in which something happens later than that, in s: a latch opens, a beam is struck, friction
/// begins to stick.
const LATE: [(&str, f64); 4] = [("cam-beam", 0.52), ("door", 12.0), ("latch", 0.95), ("slipping-ball", 1.5)];

/// Relative tolerance of steps by error.
const RTOL: &str = "1e-4";

/// Steps of this size per output step are taken of models that leave the step to the error.
const STEPS_PER_OUTPUT: f64 = 2.0;

/// Models that run with all options of methods: positions and velocities constrained, redundant joints,
/// flexible.
const OPTION_MODELS: [&str; 4] = ["chain-spherical", "flying-beam", "four-bar", "heavy-top"];

/// Options of methods and of groups.
const OPTIONS: [&str; 15] = [
    "--method updated-lagrangian --group so3xr3 --parametrization crv",
    "--method updated-lagrangian --group se3",
    "--method bdf2 --form two-field --scaling left-right",
    "--method bdf2 --form two-field --scaling unscaled",
    "--method bdf2 --form three-field --scaling left-right-velocities",
    "--method bdf2 --form three-field --scaling left",
    "--method index2 --group se3",
    "--method index2 --group so3xr3",
    "--method index3 --group so3xr3",
    "--method soi2 --group se3",
    "--method index2 --spectral-radius 0.5",
    "--method index3 --spectral-radius 0",
    "--method index2 --condition",
    "--method index3 --output-step 0.0033",
    "--method index2 --step auto --rtol 1e-6 --initial-step 1e-5",
];

/// One call of `kreisel`.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// For people and for folders.
    pub name: String,
    /// Everything but the folder for results and the end.
    pub arguments: Vec<String>,
    /// Where the run ends, in s.
    pub end: Option<f64>,
    /// Whether it is also killed and goes on.
    pub resumed: bool,
}

impl Run {
    fn new(name: &str, arguments: &str, end: Option<f64>) -> Self {
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        Self { name: name.to_owned(), arguments, end, resumed: false }
    }
}

/// What must be known of a model: its name, its step and its output step in s.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub name: String,
    pub step: Option<f64>,
    pub output_step: Option<f64>,
}

impl Model {
    /// Out of the summary of a run.
    pub fn from_summary(name: &str, summary: &serde_json::Value) -> Self {
        let number = |key: &str| summary["settings"][key].as_f64();
        Self { name: name.to_owned(), step: number("step"), output_step: number("output-step") }
    }

    fn fixed_step(&self) -> f64 {
        self.step.or(self.output_step.map(|step| step / STEPS_PER_OUTPUT)).unwrap_or(1e-3)
    }

    fn end(&self) -> f64 {
        let late = LATE.iter().find(|(name, _)| *name == self.name);
        late.map_or_else(|| STEPS * self.fixed_step(), |&(_, end)| end)
    }
}

/// The models of a tree, by name.
pub fn model_names(tree: &Path) -> Result<Vec<String>, String> {
    let folder = tree.join("models");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let name =
        |entry: std::fs::DirEntry| entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned);
    let mut names: Vec<String> = entries.flatten().filter_map(name).collect();
    names.sort();
    Ok(names)
}

/// All runs of the models; quick: every third of them.
pub fn runs(models: &[Model], quick: bool) -> Vec<Run> {
    let mut runs: Vec<Run> =
        models.iter().enumerate().flat_map(|(number, model)| of_model(number, model)).collect();
    if quick {
        let mut number = 0..;
        runs.retain(|_| number.next().is_some_and(|number| number % 3 == 0));
    }
    runs
}

fn of_model(number: usize, model: &Model) -> Vec<Run> {
    let Model { name, .. } = model;
    let run = format!("run models/{name}.toml --no-report");
    let end = Some(model.end());
    let fixed = format!("--step {}", model.fixed_step());
    let mut runs = Vec::new();
    for (method_number, (method, needs)) in METHODS.iter().enumerate() {
        for (kind, step) in [("fixed", &*fixed), ("by error", &format!("--step auto --rtol {RTOL}"))] {
            let title = format!("{name} {method} {kind}");
            let whole = Run::new(&title, &format!("{run} --method {method} {needs} {step}"), end);
            // Every fourth: each model with several methods, each method with several models.
            let resumed = (number + method_number + usize::from(kind == "fixed")).is_multiple_of(4);
            runs.push(Run { resumed, ..whole });
        }
    }
    for command in ["static", "modes"] {
        runs.push(Run::new(&format!("{name} {command}"), &format!("{command} models/{name}.toml"), None));
    }
    if OPTION_MODELS.contains(&&**name) {
        for option in OPTIONS {
            let title = format!("{name} {}", option.replace("--", ""));
            runs.push(Run::new(&title, &format!("{run} {option}"), end));
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, step: Option<f64>, output_step: Option<f64>) -> Model {
        Model { name: name.to_owned(), step, output_step }
    }

    #[test]
    fn a_run_has_the_steps_of_the_model_or_half_its_output_steps() {
        assert_eq!(model("top", Some(0.5), None).end(), 150.0);
        assert_eq!(model("ball", None, Some(0.02)).end(), 3.0);
        assert_eq!(model("latch", Some(0.5), None).end(), 0.95);
        let summary = serde_json::json!({ "settings": { "step": "auto", "output-step": 0.02 } });
        assert_eq!(Model::from_summary("ball", &summary), model("ball", None, Some(0.02)));
    }

    #[test]
    fn every_model_runs_with_every_method_and_all_methods_are_among_the_quick_and_the_resumed_ones() {
        let models = ["a", "b", "c", "heavy-top"].map(|name| model(name, Some(0.1), None));
        let (all, quick) = (runs(&models, false), runs(&models, true));
        assert_eq!(all.len(), 4 * (2 * METHODS.len() + 2) + OPTIONS.len());
        assert_eq!(quick.len(), all.len().div_ceil(3));
        for (method, _) in METHODS {
            let with = |run: &&Run| run.arguments.iter().any(|word| word == method);
            assert!(quick.iter().any(|run| with(&run)), "{method}");
            assert!(all.iter().any(|run| run.resumed && with(&run)), "{method}");
        }
        let mut names: Vec<&str> = all.iter().map(|run| &*run.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }
}
