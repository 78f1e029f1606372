//! Frequencies, damping and shapes against closed forms and other programs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod beams;
mod jointed;
mod slender;

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use crate::common::ROD_ON_PIN;
use kreisel::dae::{Couplings, Dae, Notes, Point, Residual, Shape, Wanted};
use kreisel::lie::{Group, Space};
use kreisel::machine::Machine;
use kreisel::modes::{Linearized, Mode, ModeSettings, ModesError};
use kreisel::run::About;
use kreisel::solve::block::BlockPattern;
use nalgebra::Complex;

/// Masses of 2 kg in a row, each between springs of 50 N/m and dampers, every mass free to move in some
/// directions.
struct Chain {
    masses: usize,
    directions: usize,
    damping: f64,
    /// Whether the ends are tied to walls.
    walls: bool,
}

const MASS: f64 = 2.0;
const STIFFNESS: f64 = 50.0;

impl Chain {
    fn new(masses: usize) -> Self {
        Self { masses, directions: 1, damping: 0.0, walls: true }
    }

    /// Number of springs at a mass.
    fn springs(&self, mass: usize) -> f64 {
        let ends = usize::from(mass == 0) + usize::from(mass + 1 == self.masses);
        2.0 - if self.walls { 0.0 } else { ends as f64 }
    }

    fn linearized(&self) -> Linearized {
        let zeros = vec![0.0; self.masses * self.directions];
        let at = Point {
            time: 0.0,
            configuration: &zeros,
            velocity: &zeros,
            acceleration: &zeros,
            multipliers: &[],
            nonholonomic_multipliers: &[],
            internal_states: &[],
            memory: &[],
        };
        Linearized::at(self, &at).unwrap()
    }

    fn frequencies(&self, settings: ModeSettings) -> Vec<f64> {
        self.linearized().modes(settings).unwrap().modes.iter().map(Mode::frequency).collect()
    }

    /// ω = 2 √(k/m) sin(i π / (2 (n + 1))) between walls; of a free chain sin((i − 1) π / (2 n)).
    fn exact(&self, mode: usize) -> f64 {
        let n = self.masses as f64;
        let angle = if self.walls { mode as f64 / (n + 1.0) } else { (mode as f64 - 1.0) / n };
        2.0 * (STIFFNESS / MASS).sqrt() * (0.5 * PI * angle).sin() / TAU
    }
}

impl Dae for Chain {
    fn shape(&self) -> Shape {
        Shape::new(Space::new(vec![Group::Vector(self.directions); self.masses]))
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let d = self.directions;
        for (i, force) in out.equilibrium.iter_mut().enumerate() {
            let neighbours = [i.checked_sub(d), (i + d < at.configuration.len()).then_some(i + d)];
            let pull = |x: &[f64]| {
                self.springs(i / d) * x[i] - neighbours.iter().flatten().map(|&j| x[j]).sum::<f64>()
            };
            *force = MASS * at.acceleration[i]
                + self.damping * pull(at.velocity)
                + STIFFNESS * pull(at.configuration);
        }
    }

    fn couplings(&self, _: Option<&[f64]>) -> Couplings {
        let sizes = vec![self.directions; self.masses];
        let near = (0..self.masses).flat_map(|i| {
            let (low, high) = (i.saturating_sub(1), (i + 1).min(self.masses - 1));
            (low..=high).map(move |j| (i, j))
        });
        Couplings {
            force_node: Arc::new(BlockPattern::new(&sizes, &sizes, near)),
            ..Couplings::dense(&Shape::new(Space::new([])))
        }
    }

    fn answer(&self, _: &Point, wanted: &mut Wanted) {
        let Some((weights, out)) = wanted.tangent.take() else { return };
        let pattern = Arc::clone(out.dynamic.pattern());
        for (block, i, j) in pattern.blocks() {
            let springs = if i == j { self.springs(i) } else { -1.0 };
            let mass = if i == j { MASS } else { 0.0 };
            let dynamic = weights.mass * mass + weights.damping * self.damping * springs;
            for k in 0..self.directions {
                out.dynamic.block_mut(block)[(k, k)] += dynamic;
                if weights.stiffness {
                    out.stiffness.block_mut(block)[(k, k)] += STIFFNESS * springs;
                }
            }
        }
    }
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn a_chain_between_walls_has_the_frequencies_of_its_closed_form() {
    for masses in [12, 1000] {
        let chain = Chain::new(masses);
        let found = chain.frequencies(ModeSettings { count: 9 });
        for (index, frequency) in found.iter().enumerate() {
            let exact = chain.exact(index + 1);
            // λ has the round-off of K/λ₁ digits: 1e-16 · 4e6 for a thousand masses.
            assert_near(*frequency, exact, 1e-9 * exact);
        }
        assert_eq!(found.len(), 9);
    }
}

#[test]
fn modes_that_move_the_whole_machine_have_frequency_zero() {
    let chain = Chain { walls: false, ..Chain::new(40) };
    let found = chain.frequencies(ModeSettings { count: 5 });
    assert_eq!(found[0], 0.0);
    for (index, frequency) in found.iter().enumerate().skip(1) {
        let exact = chain.exact(index + 1);
        // The round-off of K/λ₂, as above, beside the motion of the whole.
        assert_near(*frequency, exact, 1e-8 * exact);
    }
}

#[test]
fn equal_frequencies_are_all_found() {
    let chain = Chain { directions: 3, ..Chain::new(60) };
    let found = chain.frequencies(ModeSettings { count: 9 });
    for (index, frequency) in found.iter().enumerate() {
        let exact = chain.exact(index / 3 + 1);
        // The round-off of K/λ₁, as above.
        assert_near(*frequency, exact, 1e-9 * exact);
    }
}

#[test]
fn damping_ratios_are_those_of_dampers_beside_the_springs() {
    // With C = (c/k) K every mode has ζ = c ω₀/(2 k).
    for masses in [20, 400] {
        let chain = Chain { damping: 0.3, ..Chain::new(masses) };
        let modes = chain.linearized().modes(ModeSettings { count: 4 }).unwrap().modes;
        for (index, mode) in modes.iter().enumerate() {
            let undamped = TAU * chain.exact(index + 1);
            let ratio = 0.3 * undamped / (2.0 * STIFFNESS);
            assert_near(mode.damping_ratio(), ratio, 1e-7);
            let exact = undamped * (1.0 - ratio * ratio).sqrt() / TAU;
            assert_near(mode.frequency(), exact, 1e-8 * exact);
        }
    }
}

#[test]
fn overdamped_modes_are_real() {
    let chain = Chain { damping: 100.0, ..Chain::new(1) };
    let found = chain.linearized().modes(ModeSettings::default()).unwrap();
    assert_eq!(found.modes, []);
    let modes = found.overdamped;
    // 2 s² + 200 s + 100 = 0.
    let expected = [-50.0 + 2450.0_f64.sqrt(), -50.0 - 2450.0_f64.sqrt()];
    for (mode, s) in modes.iter().zip(expected) {
        assert!((mode.eigenvalue - Complex::new(s, 0.0)).norm() < 1e-10, "{}", mode.eigenvalue);
        assert_near(mode.damping_ratio(), 1.0, 1e-15);
    }
    assert_eq!(modes.len(), 2);
}

#[test]
fn no_modes_and_no_freedom_are_refused() {
    let chain = Chain::new(3).linearized();
    assert_eq!(chain.modes(ModeSettings { count: 0 }), Err(ModesError::NoModes));
    let rigid = ROD_ON_PIN.replace("revolute", "fixed").replace("axis = [0, 1, 0]\n", "");
    let machine = Machine::from_text("rigid.toml", &rigid).unwrap();
    let message = machine.modes(About::Initial, ModeSettings::default()).unwrap_err().to_string();
    assert!(message.contains("cannot move"), "{message}");
}

#[test]
fn constraints_are_projected_out_of_a_compound_pendulum() {
    let machine = Machine::from_text("pendulum.toml", ROD_ON_PIN).unwrap();
    let exact = (2.0 * 9.80665 * 0.5 / (0.2_f64 + 2.0 * 0.25)).sqrt() / TAU;
    let found = machine.modes(About::Static, ModeSettings { count: 10 }).unwrap();
    assert_eq!(found.modes.len(), 1);
    // The equilibrium is found to 1e-10, and the frequency with it.
    assert_near(found.modes[0].frequency(), exact, 1e-9);
    assert_eq!(found.modes[0].dominant_node(), 0);
    assert_eq!(found.notes, Notes::default());
    let falling = machine.modes(About::Initial, ModeSettings::default()).unwrap();
    let warnings = falling.notes.texts();
    assert!(warnings[0].contains("not of an equilibrium"), "{warnings:?}");
}

#[test]
fn the_state_space_has_the_eigenvalues_of_the_modes() {
    let machine = Machine::from_text("pendulum.toml", ROD_ON_PIN).unwrap();
    let found = machine.modes(About::Static, ModeSettings::default()).unwrap();
    let space = found.linearized.state_space().unwrap().unwrap();
    assert_eq!(space.state.shape(), (2, 2));
    assert_eq!(space.input.shape(), (2, 6));
    let omega = TAU * found.modes[0].frequency();
    // The same matrices by another way: rounding.
    assert_near(space.state[(1, 0)], -omega * omega, 1e-9 * omega * omega);
    // The free coordinate is one of the velocity coordinates, and the basis says so.
    assert_near(space.basis[(space.coordinates[0], 0)], 1.0, 1e-14);
    // A torque about the hinge accelerates by the inverse inertia about it.
    let name = &machine.coordinate_names()[space.coordinates[0]];
    assert!(name.starts_with("rod."), "{name}");
    assert_near(space.basis[(1, 0)] * space.input[(1, 1)], 1.0 / 0.7, 1e-9);
}

/// An upright top that sleeps: A about the pivot, C about the axis, spin n. In space it moves like exp(iωt)
/// with A ω² − C n ω + m g l = 0; an observer on the top sees ω − n.
#[test]
fn a_sleeping_top_precesses_and_nutates_as_in_its_closed_form() {
    let [mass, length, transverse, axial, spin] = [2.0_f64, 0.5, 0.3, 0.2, 40.0];
    let text = format!(
        r#"
[[body]]
name = "top"
mass = {mass}
inertia = [{transverse}, {transverse}, {axial}]
position = [0, 0, {length}]
angular-velocity = [0, 0, {spin}]

[[spherical]]
name = "pivot"
bodies = ["ground", "top"]
point = [0, 0, 0]
"#
    );
    let machine = Machine::from_text("top.toml", &text).unwrap();
    let about_pivot = transverse + mass * length * length;
    let root = ((axial * spin).powi(2) - 4.0 * about_pivot * mass * 9.80665 * length).sqrt();
    let mut exact: Vec<f64> = [root, -root]
        .iter()
        .map(|root| ((axial * spin + root) / (2.0 * about_pivot) - spin).abs() / TAU)
        .collect();
    exact.sort_by(f64::total_cmp);
    let found = machine.modes(About::Initial, ModeSettings::default()).unwrap();
    let frequencies: Vec<f64> = found.modes.iter().map(Mode::frequency).filter(|f| *f > 1e-3).collect();
    assert_eq!(frequencies.len(), 2, "{:?}", found.modes);
    for (found, exact) in frequencies.iter().zip(&exact) {
        assert_near(*found, *exact, 1e-8 * exact);
    }
    for mode in &found.modes {
        // Nothing damps it: rounding of a spin of many rad/s.
        assert!(mode.eigenvalue.re.abs() < 1e-10, "{}", mode.eigenvalue);
    }
}
