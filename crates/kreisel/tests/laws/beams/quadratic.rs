//! Beams of elements with three nodes in model files.

use super::{at, damped_beam, is_bent_by_its_load, is_rolled_into_an_arc, model, momentum_errors, settings};
use kreisel::dae::Dae;

#[test]
fn a_moment_rolls_two_elements_into_an_arc_and_sensors_see_it_between_the_nodes() {
    is_rolled_into_an_arc("elements = 2\norder = 2", "beam.node-4");
}

#[test]
fn a_load_spread_over_elements_with_three_nodes_bends_them_as_timoshenko_says() {
    // Fourth order, 1/(24 · 4⁴) of it; two nodes an element leave 1/(4 · 8²) on as many nodes.
    is_bent_by_its_load("elements = 4\norder = 2", 5e-4);
}

#[test]
fn corners_lie_between_elements_with_three_nodes_and_their_middles_on_the_curve() {
    let machine = damped_beam("points = [[0, 0, 0], [1, 0, 0], [1, 2, 0]]\nelements = 3\norder = 2", "");
    let (beam, system) = (&machine.frames().beams()[0], machine.system());
    assert_eq!((beam.node_count(), beam.elements.len(), system.node_count()), (7, 3, 7));
    let places: Vec<[f64; 3]> = (0..7).map(|k| beam.node(k).unwrap().pose().position.into()).collect();
    let expected = [
        [0.0, 0.0, 0.0],
        [0.5, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 0.5, 0.0],
        [1.0, 1.0, 0.0],
        [1.0, 1.5, 0.0],
        [1.0, 2.0, 0.0],
    ];
    for (place, expected) in places.iter().zip(&expected) {
        // Some roundings of numbers of size one.
        assert!((0..3).all(|i| (place[i] - expected[i]).abs() < 1e-14), "{place:?} {expected:?}");
    }
    // 12 remembered numbers an element.
    assert_eq!(system.shape().memory, 36);
}

#[test]
fn a_flying_beam_of_elements_with_three_nodes_keeps_its_momenta() {
    let parameters = [("elements", "10"), ("order", "2")];
    let [coarse, fine] = [0.02, 0.01].map(|step| momentum_errors(step, &parameters));
    for (coarse, fine) in coarse.iter().zip(fine) {
        // Of second order, and as large as with elements of two nodes.
        assert!(*coarse < 2e-3, "{coarse:e}");
        assert!(fine < 0.35 * coarse, "{coarse:e} {fine:e}");
    }
}

/// Displacements of elbow and tip of the right-angle beam at 1, 2, 3 and 4 s.
fn displacements(elements: usize, order: usize, group: &str) -> Vec<f64> {
    let settings = settings(0.02, 0.9).with("end-time", "4").with("group", group);
    let (elements, order) = (elements.to_string(), order.to_string());
    let machine = model("right-angle-beam", &[("elements", &elements), ("order", &order)], &settings);
    let run = machine.simulate().unwrap();
    let signals = ["arm", "forearm"]
        .iter()
        .flat_map(|leg| ["x", "y", "z"].map(|axis| format!("{leg}.end.displacement.{axis}")));
    let values = signals.flat_map(|signal| [1.0, 2.0, 3.0, 4.0].map(|time| at(&run, &signal, time)));
    values.collect()
}

fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn the_right_angle_beam_needs_half_the_nodes_with_three_nodes_an_element() {
    let reference = displacements(16, 2, "se3");
    let errors = |order: usize, counts: &[usize]| -> Vec<f64> {
        counts
            .iter()
            .map(|&elements| {
                let found = displacements(elements, order, "se3");
                distance(&found, &reference)
            })
            .collect()
    };
    let (linear, quadratic) = (errors(1, &[4, 8, 16]), errors(2, &[2, 4, 8]));
    let orders: Vec<f64> = quadratic.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect();
    assert!(orders.iter().all(|order| *order > 3.0), "{quadratic:?}");
    // On as many nodes: a quarter, a twentieth, an eightieth.
    for ((linear, quadratic), most) in linear.iter().zip(&quadratic).zip([0.4, 0.1, 0.025]) {
        assert!(*quadratic < most * linear, "{linear:e} {quadratic:e}");
    }
    // The same element serves the other group: what differs is of the integrator.
    let other = displacements(4, 2, "so3xr3");
    let same = displacements(4, 2, "se3");
    let size = reference.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!(distance(&other, &same) < 1e-2 * size, "{}", distance(&other, &same));
}
