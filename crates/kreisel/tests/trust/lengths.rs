//! The length against which positions are judged is that of the machine, however it is put together.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::machine::{Machine, SettingTexts};

use crate::common::{self, last, within};

fn length(text: &str) -> f64 {
    common::read(text).unwrap().characteristic_length()
}

fn example(name: &str) -> Machine {
    common::model(name, &[], &SettingTexts::default())
}

/// A cantilever of 1 m under its weight in eight elements, in one beam or in two.
fn cantilever(pieces: usize) -> String {
    let mut text = "[simulation]\nend-time = 0.1\nstep = '1 ms'\n".to_string();
    for piece in 0..pieces {
        let [from, to] = [piece, piece + 1].map(|end| end as f64 / pieces as f64);
        let start = if piece == 0 { "ground".to_string() } else { format!("b{}.end", piece - 1) };
        text += &format!(
            "[[beam]]\nname = 'b{piece}'\nfrom = [{from}, 0, 0]\nto = [{to}, 0, 0]\nstart = '{start}'\norder = 1\nelements = {}\n\
             section = {{ shape = 'circle', radius = 0.01, youngs-modulus = 70e9, poisson-ratio = 0.3, density = 2700 }}\n",
            8 / pieces
        );
    }
    text
}

#[test]
fn a_beam_in_two_pieces_is_as_long_and_moves_alike() {
    let [whole, cut] = [1, 2].map(cantilever);
    // Rounding.
    within("whole", (length(&whole) - 1.0).abs(), 1e-12);
    within("cut", (length(&cut) - 1.0).abs(), 1e-12);
    let tip = |text: &str, beam: &str| {
        let run = common::read(text).unwrap().simulate().unwrap();
        last(&run, &format!("{beam}.end.position.z"))
    };
    // The same equations in another order: what is left is Newton's tolerance, 1e-12 of the length a step.
    within("tip", (tip(&whole, "b0") - tip(&cut, "b1")).abs(), 1e-9);
}

#[test]
fn a_chain_is_as_long_as_its_links_together() {
    // Ten links of 0.1 m from the first hinge to the middle of the last link, or to its end.
    let found = example("chain-revolute").characteristic_length();
    assert!((0.95..=1.0 + 1e-12).contains(&found), "{found}");
}

#[test]
fn a_coin_is_as_large_as_it_is_whatever_is_measured_of_it() {
    let found = example("coin").characteristic_length();
    assert!((0.006..0.05).contains(&found), "{found}");
}

#[test]
fn bodies_at_one_point_are_as_large_as_their_inertia_says() {
    let hoop = |position: &str| {
        format!("[[body]]\nname = 'b'\nmass = 2\ninertia = [0.25, 0.25, 0.5]\nposition = {position}\n")
    };
    // m r² = 0.5 about the axis of the hoop.
    within("hoop", (length(&hoop("[0, 0, 0]")) - 0.5).abs(), 1e-12);
    within("hoop far away", (length(&hoop("[1e3, 1e3, 0]")) - 0.5).abs(), 1e-12);
    let point = "[[point-mass]]\nname = 'p'\nmass = 2\nposition = [0.3, 0, 0]\n";
    within("point mass", (length(point) - 1.0).abs(), 1e-12);
    let pin = "[[revolute]]\nbodies = ['ground', 'b']\npoint = [0.3, 0.4, 0]\naxis = [0, 0, 1]\n";
    within("half a metre beside a pin", (length(&format!("{}{pin}", hoop("[0, 0, 0]"))) - 0.5).abs(), 1e-12);
}
