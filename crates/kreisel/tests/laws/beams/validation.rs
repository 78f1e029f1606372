//! Cases of other programs, where their data lie beside the project.

use kreisel::run::Trajectory;
use serde_json::Value;

use super::{at, machine};
use crate::common::{number, validation_case};

fn rows(value: &Value) -> String {
    value.to_string()
}

/// Keys of a section with equal stiffness about both axes.
fn section(problem: &Value, polar: f64, bending: f64) -> String {
    let [ea, ga, ei, gj, mass] = ["EA", "GA", "EI", "GJ", "rhoA"].map(|key| number(&problem[key]));
    format!(
        "section.axial-stiffness = {ea}
        section.shear-stiffness = [{ga}, {ga}]
        section.torsional-stiffness = {gj}
        section.bending-stiffness = [{ei}, {ei}]
        section.mass-per-length = {mass}
        section.inertia-per-length = [{polar}, {bending}, {bending}]"
    )
}

fn assert_near(what: &str, run: &Trajectory, signal: &str, time: f64, expected: f64, tolerance: f64) {
    let found = at(run, signal, time);
    assert!(
        (found - expected).abs() < tolerance,
        "{what} at {time}: {found} instead of {expected} ± {tolerance}"
    );
}

const STILL: &str = "[gravity]\nacceleration = [0, 0, 0]\n";

#[test]
fn flying_spaghetti_in_the_plane_agrees_with_aerobeams_and_a_planar_program() {
    let Some(case) = validation_case("flying_spaghetti_2d") else { return };
    let section = section(&case["problem"], 20.0, number(&case["problem"]["rhoI"]));
    let run = machine(&format!(
        "[simulation]
        end-time = 7.5
        step = 0.01
        spectral-radius = 1
        {STILL}
        [[beam]]
        name = \"beam\"
        from = [0, 0, 8]
        to = [6, 0, 0]
        elements = 60
        {section}
        [[force]]
        body = \"beam.end\"
        force = [\"8*step(2.5 - t)\", 0, 0]
        torque = [0, \"80*step(2.5 - t)\", 0]
        [[sensor]]
        of = \"beam.end\"
        quantity = \"displacement\"
        [[sensor]]
        of = \"beam.start\"
        quantity = \"displacement\""
    ))
    .simulate()
    .unwrap();
    for entry in case["external_reference"].as_array().unwrap() {
        let (time, tolerance) = (number(&entry["t"]), number(&entry["tol_abs"]));
        for (axis, value) in ["x", "z"].iter().zip(entry["value"].as_array().unwrap()) {
            let signal = format!("beam.end.displacement.{axis}");
            assert_near("AeroBeams", &run, &signal, time, number(value), tolerance);
        }
    }
    // The planar program: converged to 1e-3; 20 elements and steps of 0.01 s allow the tolerance that the
    // case states.
    let tolerance = number(&case["tolerance"]["tip_abs_vs_computed"]);
    let computed = case["computed"]["runs"].as_array().unwrap().last().unwrap();
    for state in computed["states"].as_array().unwrap() {
        let time = number(&state["t"]);
        for (end, key) in [("end", "loaded_end"), ("start", "free_end")] {
            for (axis, value) in ["x", "z"].iter().zip(state[key].as_array().unwrap()) {
                let signal = format!("beam.{end}.displacement.{axis}");
                assert_near("planar program", &run, &signal, time, number(value), tolerance);
            }
        }
    }
}

#[test]
fn flying_spaghetti_in_space_agrees_with_aerobeams() {
    let Some(case) = validation_case("flying_spaghetti_3d") else { return };
    let inertia = &case["problem"]["rho_inertia_section"];
    let section = section(&case["problem"], number(&inertia["polar"]), number(&inertia["bending"]));
    let load = "max(0, min(80*t, 200*(2 - t/2.5)))";
    let run = machine(&format!(
        "[simulation]
        end-time = 3.5
        step = 0.01
        {STILL}
        [[beam]]
        name = \"beam\"
        from = [0, 0, 8]
        to = [6, 0, 0]
        elements = 20
        {section}
        [[force]]
        body = \"beam.end\"
        force = [\"{load}/10\", 0, 0]
        torque = [0, \"{load}\", \"{load}/2\"]
        [[sensor]]
        of = \"beam.end\"
        quantity = \"displacement\""
    ))
    .simulate()
    .unwrap();
    for entry in case["external_reference"].as_array().unwrap() {
        let (time, tolerance) = (number(&entry["t"]), number(&entry["tol_abs"]));
        for (axis, value) in ["x", "y", "z"].iter().zip(entry["value"].as_array().unwrap()) {
            let signal = format!("beam.end.displacement.{axis}");
            assert_near("AeroBeams", &run, &signal, time, number(value), tolerance);
        }
    }
}

#[test]
fn right_angle_cantilever_agrees_with_aerobeams() {
    let Some(case) = validation_case("right_angle_cantilever_dynamic") else { return };
    let inertia = &case["problem"]["rho_inertia_section"];
    let section = section(&case["problem"], number(&inertia["polar"]), number(&inertia["bending"]));
    let run = machine(&format!(
        "[simulation]
        end-time = 15
        step = 0.025
        {STILL}
        [[beam]]
        name = \"arm\"
        points = [[0, 0, 0], [10, 0, 0], [10, 10, 0]]
        start = \"ground\"
        elements = 20
        {section}
        [[force]]
        body = \"arm.at-0.5\"
        force = [0, 0, \"50*max(0, min(t, 2 - t))\"]
        [[sensor]]
        of = \"arm.at-0.5\"
        quantity = \"displacement\"
        [[sensor]]
        of = \"arm.end\"
        quantity = \"displacement\""
    ))
    .simulate()
    .unwrap();
    let reference = &case["external_reference"][0];
    let tolerance = number(&reference["tol_abs"]);
    for row in reference["value"].as_array().unwrap() {
        let (time, elbow, tip) = (number(&row[0]), number(&row[1]), number(&row[2]));
        assert_near("elbow", &run, "arm.at-0.5.displacement.z", time, elbow, tolerance);
        assert_near("tip", &run, "arm.end.displacement.z", time, tip, tolerance);
    }
}

#[test]
fn composite_cantilever_agrees_with_beamdyn() {
    let Some(case) = validation_case("composite_cantilever_dynamic") else { return };
    let problem = &case["problem"];
    // The case has translations first, a model file rotations; both in the axes of the section.
    let turned = |matrix: &dyn Fn(usize, usize) -> f64| {
        let entry = |i: usize, j: usize| matrix((i + 3) % 6, (j + 3) % 6);
        let row = |i: usize| (0..6).map(|j| format!("{:e}", entry(i, j))).collect::<Vec<_>>().join(", ");
        format!("[{}]", (0..6).map(|i| format!("[{}]", row(i))).collect::<Vec<_>>().join(", "))
    };
    let stiffness = turned(&|i, j| number(&problem["section_stiffness_6x6"][i][j]));
    let diagonal = &problem["section_mass_diag"];
    let mass = turned(&|i, j| if i == j { number(&diagonal[i]) } else { 0.0 });
    let force = rows(&problem["tip_force"]);
    let run = machine(&format!(
        "[simulation]
        end-time = 1
        step = 0.005
        spectral-radius = 0
        {STILL}
        [[beam]]
        name = \"beam\"
        from = [0, 0, 0]
        to = [10, 0, 0]
        start = \"ground\"
        elements = 20
        section.stiffness-matrix = {stiffness}
        section.mass-matrix = {mass}
        [[force]]
        body = \"beam.end\"
        force = {force}
        [[sensor]]
        of = \"beam.end\"
        quantity = \"displacement\""
    ))
    .simulate()
    .unwrap();
    for entry in case["external_reference"].as_array().unwrap() {
        let axis = match entry["quantity"].as_str().unwrap() {
            "tip ux" => "x",
            "tip uy" => "y",
            _ => "z",
        };
        let Some(time) = entry["t"].as_f64() else { continue };
        let signal = format!("beam.end.displacement.{axis}");
        assert_near("BeamDyn", &run, &signal, time, number(&entry["value"]), number(&entry["tol_abs"]));
    }
}
