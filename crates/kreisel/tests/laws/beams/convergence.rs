//! Orders in space and time, and why inertia belongs to the nodes.
//!
//! The tables of the book's chapter on beams come from here:
//! `cargo test -p kreisel --test beams convergence -- --nocapture`.

use kreisel::dae::{Dae, Point};
use kreisel::machine::Machine;
use nalgebra::DMatrix;

use super::{at, machine, model, settings, tangent};

/// Slender and stubby in one: EI small for bending, torsion like a bar.
const LENGTH: f64 = 1.0;

fn clamped(elements: usize) -> Machine {
    machine(&format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [[beam]]
        name = \"beam\"
        from = [0, 0, 0]
        to = [{LENGTH}, 0, 0]
        start = \"ground\"
        elements = {elements}
        order = 1
        section.axial-stiffness = 1e8
        section.shear-stiffness = [1e8, 1e8]
        section.torsional-stiffness = 100
        section.bending-stiffness = [1, 4]
        section.mass-per-length = 1
        section.inertia-per-length = [1, 1e-7, 1e-7]"
    ))
}

/// Mass and stiffness at the initial shape.
fn matrices(machine: &Machine) -> (DMatrix<f64>, DMatrix<f64>) {
    let zeros = vec![0.0; machine.initial().velocity.len()];
    let point = Point {
        time: 0.0,
        configuration: &machine.initial().configuration,
        velocity: &zeros,
        acceleration: &zeros,
        multipliers: &[],
        nonholonomic_multipliers: &[],
        internal_states: &[],
        memory: &vec![0.0; machine.system().shape().memory],
    };
    let tangent = tangent(machine.system(), &point);
    (tangent.dynamic.to_dense(), tangent.stiffness.to_dense())
}

/// Mass matrix of linearly interpolated velocities, for comparison: section mass times (h/3, h/6) of a
/// straight beam.
fn interpolated_mass(elements: usize) -> DMatrix<f64> {
    let section = [1.0, 1e-7, 1e-7, 1.0, 1.0, 1.0];
    let h = LENGTH / elements as f64;
    let mut mass = DMatrix::zeros(6 * elements, 6 * elements);
    for element in 0..elements {
        // Node 0 is clamped.
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (Some(row), Some(column)) = ((element + i).checked_sub(1), (element + j).checked_sub(1))
            else {
                continue;
            };
            for (k, value) in section.iter().enumerate() {
                mass[(6 * row + k, 6 * column + k)] += value * if i == j { h / 3.0 } else { h / 6.0 };
            }
        }
    }
    mass
}

/// Smallest angular frequency of the coordinates of one kind of motion.
fn frequency(mass: &DMatrix<f64>, stiffness: &DMatrix<f64>, kept: &[usize]) -> f64 {
    let indices: Vec<usize> = (0..mass.nrows()).filter(|i| kept.contains(&(i % 6))).collect();
    let part = |matrix: &DMatrix<f64>| matrix.select_rows(&indices).select_columns(&indices);
    // The largest 1/ω² of K⁻¹ M, which is well conditioned.
    let factor = part(stiffness).cholesky().unwrap().l();
    let inner = factor.solve_lower_triangular(&part(mass)).unwrap();
    let symmetric = factor.solve_lower_triangular(&inner.transpose()).unwrap();
    (0.5 * (&symmetric + symmetric.transpose())).symmetric_eigenvalues().max().sqrt().recip()
}

fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}

#[test]
fn frequencies_converge_with_second_order_and_mass_on_the_nodes_beats_interpolated_velocities() {
    let counts = [4, 8, 16];
    // Euler–Bernoulli: ω = β² √(EI/ρA)/L² with β the first root of cos β cosh β = −1; torsion ω = π/2
    // √(GJ/ρJ)/L.
    let bending = 1.875_104_068_711_961_f64.powi(2);
    let torsion = std::f64::consts::FRAC_PI_2 * 10.0;
    let (mut nodal, mut interpolated, mut twisting) = (Vec::new(), Vec::new(), Vec::new());
    for elements in counts {
        let (mass, stiffness) = matrices(&clamped(elements));
        nodal.push((frequency(&mass, &stiffness, &[1, 5]) / bending - 1.0).abs());
        interpolated
            .push((frequency(&interpolated_mass(elements), &stiffness, &[1, 5]) / bending - 1.0).abs());
        twisting.push((frequency(&mass, &stiffness, &[0]) / torsion - 1.0).abs());
    }
    assert!(orders(&nodal).iter().all(|order| (1.8..2.2).contains(order)), "{nodal:?}");
    assert!(orders(&interpolated).iter().all(|order| (1.8..2.2).contains(order)), "{interpolated:?}");
    assert!(orders(&twisting).iter().all(|order| (1.9..2.1).contains(order)), "{twisting:?}");
    assert!(nodal[1] < 0.6 * interpolated[1]);
}

/// Displacements of elbow and tip of the right-angle beam at whole seconds up to 4 s.
fn displacements(elements: usize, step: f64) -> Vec<f64> {
    let settings = settings(step, 0.9).with("end-time", "4");
    let elements = elements.to_string();
    let run = model("right-angle-beam", &[("elements", &elements)], &settings).simulate().unwrap();
    let signals = ["arm", "forearm"]
        .iter()
        .flat_map(|leg| ["x", "y", "z"].map(|axis| format!("{leg}.end.displacement.{axis}")));
    signals.flat_map(|signal| [1.0, 2.0, 3.0, 4.0].map(|time| at(&run, &signal, time))).collect()
}

/// Distances of successive solutions: with order p they fall by 2^p.
fn distances(solutions: &[Vec<f64>]) -> Vec<f64> {
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    solutions.windows(2).map(|pair| distance(&pair[0], &pair[1])).collect()
}

#[test]
fn the_right_angle_beam_converges_with_second_order_in_space_and_time() {
    let space = distances(&[2, 4, 8, 16].map(|elements| displacements(elements, 0.05)));
    let time = distances(&[0.1, 0.05, 0.025, 0.0125].map(|step| displacements(5, step)));
    for order in [orders(&space).last().copied(), orders(&time).last().copied()] {
        assert!((1.7..2.4).contains(&order.unwrap()), "{space:?} {time:?}");
    }
}
