//! The steps of `cargo xtask test`.

use crate::{book, cargo, dist, house, python, root, say, supply, viewer};
use std::time::{Duration, Instant};

/// Something that must hold before a change lands.
pub struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<(), String>,
}

/// In the order in which they run: what fails fast comes first. A new step is one line.
const STEPS: &[Step] = &[
    step("format", "the code is formatted", || cargo::run(&["fmt", "--all", "--check"])),
    step("lint", "clippy has nothing to say", || {
        cargo::run(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
        // The library without its page, for those who have a view of their own.
        cargo::run(&["clippy", "--package", "kreisel", "--no-default-features", "--", "-D", "warnings"])
    }),
    step("house", "rooms, traits and names keep their limits", || house::run(&[])),
    step("test", "every Rust test passes, examples in the documentation included", || {
        cargo::run(&["test", "--workspace", "--no-fail-fast"])
    }),
    step("doc", "the documentation builds without warnings", || {
        cargo::run_with(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])
    }),
    step("book", "the book's links and included code exist", || book::check(&root().join("book"))),
    step("pages", "mdBook builds the book, and every page of it opens in Chromium", book::look),
    step("viewer", "the committed page is what viewer/ builds", viewer::check),
    step("browser", "pages of models work in Chromium, and animations are valid glTF", viewer::browse),
    step("read-back", "result files open in VTK, h5py and NumPy", || {
        let python = python::environment("read-back", &["h5py", "numpy", "vtk"])?;
        let variables = [("KREISEL_PYTHON", python.to_string_lossy())];
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
        cargo::test("doors", &["results_vtkhdf::"], &variables)
    }),
    step(
        "python",
        "the Python package works: its tests, its examples, its types, its command",
        python::check_package,
    ),
    step("robots", "imported robots move as Pinocchio says", python::check_robots),
    step("drift", "redundant equations hold over a hundred thousand steps", || {
        cargo::test("laws", &["redundancy::", "--", "--ignored"], &[])
    }),
    step("fuzz", "hostile input makes no reader fail", || {
        cargo::test("found", &[], &[("KREISEL_EXECUTIONS", "40000")])
    }),
    step("soak", "a minute of random machines agrees with what is said of them", || {
        // The same machines on every computer: as many as a quiet one with two processors does in a minute.
        let variables = [("KREISEL_SECONDS", "300"), ("KREISEL_MACHINES", "1500")];
        cargo::test("trust", &["soak::many", "--", "--ignored"], &variables)
    }),
    step("workflows", "workflow files keep to their schema", || {
        let python = python::environment("workflows", &["check-jsonschema"])?;
        let mut command = std::process::Command::new(python);
        command.args(["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]);
        command.args([".github/workflows/test.yml", ".github/workflows/release.yml"]);
        python::output(&mut command).map(|_| ())
    }),
    step("dist", "from the archive to the first page in seconds, without Rust", dist::check),
    step("supply-chain", "dependencies are as deny.toml allows", supply::check),
    step("reproduce", "every experiment of the papers comes out", || cargo::kreisel(&["reproduce", "all"])),
];

const fn step(name: &'static str, what: &'static str, run: fn() -> Result<(), String>) -> Step {
    Step { name, what, run }
}

/// Prints the steps.
pub fn list() {
    for Step { name, what, .. } in STEPS {
        say(&format!("{name:12} {what}\n"));
    }
}

/// The steps of these names in the order of the table, or all without names; an unknown name is the error.
pub fn choose(names: &[&str]) -> Result<Vec<&'static Step>, String> {
    if let Some(unknown) = names.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        return Err((*unknown).to_owned());
    }
    Ok(STEPS.iter().filter(|step| names.is_empty() || names.contains(&step.name)).collect())
}

/// Runs the steps, all of them even if one fails, and says how many passed; true if none failed.
pub fn run(steps: &[&Step], mut say: impl FnMut(&str)) -> bool {
    let mut endings: Vec<(&Step, Result<(), String>, Duration)> = Vec::new();
    for step in steps {
        say(&format!("\n=== {}: {} ===\n", step.name, step.what));
        let start = Instant::now();
        let result = (step.run)();
        if let Err(failure) = &result {
            say(&format!("{failure}\n"));
        }
        endings.push((*step, result, start.elapsed()));
    }
    say("\n");
    for (step, result, elapsed) in &endings {
        let verdict = if result.is_ok() { "passed" } else { "FAILED" };
        say(&format!("{verdict}  {:12} {:6.1} s\n", step.name, elapsed.as_secs_f64()));
    }
    let failed = endings.iter().filter(|(_, result, _)| result.is_err()).count();
    say(&format!("{} passed, {failed} failed\n", endings.len() - failed));
    failed == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(chosen: &[&Step]) -> Vec<&'static str> {
        chosen.iter().map(|step| step.name).collect()
    }

    #[test]
    fn without_names_every_step_is_chosen_and_with_names_those() {
        assert_eq!(choose(&[]).unwrap().len(), STEPS.len());
        assert_eq!(names(&choose(&["book", "format"]).unwrap()), ["format", "book"]);
        assert_eq!(choose(&["format", "frmat"]).err().unwrap(), "frmat");
    }

    #[test]
    fn a_failing_step_fails_the_whole_and_the_others_still_run() {
        let good = step("good", "", || Ok(()));
        let bad = step("bad", "", || Err("because".to_owned()));
        let mut said = String::new();
        assert!(run(&[&good], |words| said += words));
        assert!(said.ends_with("\n1 passed, 0 failed\n"), "{said}");
        assert!(!run(&[&bad, &good], |words| said += words));
        assert!(said.ends_with("\n1 passed, 1 failed\n"), "{said}");
    }
}
