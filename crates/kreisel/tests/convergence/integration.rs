//! What an integration promises besides its order: restarts, interpolation, changes of step, refusals.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::constrained::ConsistencyError;
use kreisel::dae::{Dae, Initial, Point, Residual, Shape, Values};
use kreisel::integrate::{
    INDEX2, INDEX3, Integrator, IterationMatrix, Method, Parameters, Predictor, Saved, Settings, Start,
    StartError, StateError, StepError,
};
use kreisel::lie::{Group, Space};
use kreisel::solve::block::BlockMatrix;
use kreisel::solve::newton::NewtonSettings;
use kreisel_papers::problem::{HeavyTop, Pendulum, PrescribedCubic};

const METHODS: [Method; 2] = [INDEX3, INDEX2];

fn settings(method: Method, step: f64) -> Settings {
    Settings::new(method, Parameters::chung_hulbert(0.9).unwrap(), step)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Slopes between neighbours of a ladder in which each step is half of the one before.
fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}

#[test]
fn a_restart_from_bytes_continues_to_the_same_bits() {
    let top = HeavyTop::new(Group::So3xR3);
    for method in METHODS {
        let integrator = Integrator::with(settings(method, 1e-3));
        for steps_before in [0, 1, 17, 58] {
            let mut whole = integrator.start(&top, top.initial()).unwrap();
            for _ in 0..steps_before {
                whole.step().unwrap();
            }
            let saved = whole.save().to_bytes();
            let mut resumed = integrator.resume(&top, &Saved::from_bytes(&saved).unwrap()).unwrap();
            for _ in 0..60 {
                whole.step().unwrap();
                resumed.step().unwrap();
            }
            assert_eq!(whole.values(), resumed.values(), "{method:?} after {steps_before} steps");
        }
    }
}

#[test]
fn a_state_of_another_system_is_refused() {
    let top = HeavyTop::new(Group::Se3);
    let integrator = Integrator::with(settings(INDEX3, 1e-3));
    let state = integrator.start(&top, top.initial()).unwrap().save();
    let refusal = integrator.resume(&Pendulum::default(), &state).err().unwrap();
    assert_eq!(
        refusal.to_string(),
        StateError::OtherSystem { what: "configuration coordinates", found: 7, expected: 2 }.to_string()
    );
}

#[test]
fn values_between_steps_are_second_order_in_positions_velocities_and_multipliers() {
    let top = HeavyTop::new(Group::So3xR3);
    for method in METHODS {
        let mut errors = [Vec::new(), Vec::new(), Vec::new()];
        for step in [1e-3, 5e-4, 2.5e-4] {
            let mut run = Integrator::with(settings(method, step)).start(&top, top.initial()).unwrap();
            let mut sample = Values::default();
            let mut largest = [0.0_f64; 3];
            for n in 0..(0.1 / step) as usize {
                run.step().unwrap();
                let time = (n as f64 + 0.4) * step;
                run.interpolate(time, &mut sample);
                let exact = top.reference(&[time])[0];
                let (u, omega) = (exact.velocity, exact.angular_velocity);
                let q = distance(&sample.configuration[4..], exact.position.as_slice());
                let v = distance(&sample.velocity, &[omega.x, omega.y, omega.z, u.x, u.y, u.z]);
                let lambda = distance(&sample.multipliers, exact.multipliers.as_slice());
                for (largest, error) in largest.iter_mut().zip([q, v, lambda]) {
                    *largest = largest.max(error);
                }
            }
            errors.iter_mut().zip(largest).for_each(|(errors, error)| errors.push(error));
        }
        for (name, errors) in ["q", "v", "λ"].iter().zip(&errors) {
            let orders = orders(errors);
            assert!((orders[1] - 2.0).abs() < 0.15, "{method:?} {name}: {errors:?} {orders:?}");
        }
    }
}

#[test]
fn an_end_that_is_no_multiple_of_the_step_is_met_exactly() {
    let top = HeavyTop::new(Group::So3xR3);
    for method in METHODS {
        let mut run = Integrator::with(settings(method, 1e-3)).start(&top, top.initial()).unwrap();
        run.advance(0.10037).unwrap();
        assert_eq!(run.values().time, 0.10037);
        assert_eq!(run.statistics().steps, 101);
        let exact = top.reference(&[0.10037])[0];
        let error = distance(&run.values().configuration[4..], exact.position.as_slice());
        // Some times the error of a run with full steps only.
        assert!(error < 1e-3, "{method:?}: {error}");
        assert!(matches!(run.advance(0.05), Err(StepError::EndBeforeNow { .. })));
    }
}

#[test]
fn prescribed_motion_is_followed_with_second_order_reactions() {
    for method in METHODS {
        let errors: Vec<f64> = [0.02, 0.01, 0.005]
            .into_iter()
            .map(|step| {
                let initial = Initial::new(0.0, [0.0], [0.0]);
                let mut run =
                    Integrator::with(settings(method, step)).start(&PrescribedCubic, initial).unwrap();
                let mut largest = 0.0_f64;
                for n in 1..=(1.0 / step).round() as usize {
                    run.step().unwrap();
                    largest = largest.max((run.values().multipliers[0] + n as f64 * step).abs());
                }
                largest
            })
            .collect();
        // Exact for a cubic: with starting values that keep the order nothing but round-off ε/h² is left.
        assert!(errors.iter().all(|error| *error < 1e-9), "{method:?}: {errors:?}");
    }
}

/// The pendulum without any derivative of its own.
struct Plain(Pendulum);

impl Dae for Plain {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn residual(&self, at: &Point, out: &mut Residual) {
        self.0.residual(at, out);
    }
    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        self.0.gradient(at, out);
    }
}

#[test]
fn derivatives_by_differences_give_the_same_motion() {
    let pendulum = Pendulum::default();
    for method in METHODS {
        let integrator = Integrator::with(settings(method, 0.01));
        let mut exact = integrator.start(&pendulum, pendulum.initial(0.2)).unwrap();
        let plain = Plain(pendulum);
        let mut differenced = integrator.start(&plain, pendulum.initial(0.2)).unwrap();
        exact.advance(1.0).unwrap();
        differenced.advance(1.0).unwrap();
        let counts = [&exact, &differenced].map(|run| run.statistics().differenced);
        assert!(counts[0] == 0 && counts[1] > 0, "{method:?}: {counts:?}");
        let error = distance(&exact.values().configuration, &differenced.values().configuration);
        // The starting values carry the error of the differences, some 1e-10.
        assert!(error < 1e-8, "{method:?}: {error}");
    }
}

#[test]
fn every_choice_of_predictor_and_matrix_solves_the_same_equations() {
    let top = HeavyTop::new(Group::So3xR3);
    for method in METHODS {
        let run = |predictor, iteration_matrix| {
            let settings = settings(method, 5e-4).with_newton_tolerances(1e-13, 1e-14);
            let settings = settings.with_predictor(predictor).with_iteration_matrix(iteration_matrix);
            let mut run = Integrator::with(settings).start(&top, top.initial()).unwrap();
            run.advance(0.05).unwrap();
            run.values().configuration.clone()
        };
        let reference = run(Predictor::ConstantAcceleration, IterationMatrix::Exact);
        for (predictor, matrix) in [
            (Predictor::ZeroAcceleration, IterationMatrix::Exact),
            (Predictor::ConstantAcceleration, IterationMatrix::Simplified),
            (Predictor::ZeroAcceleration, IterationMatrix::Simplified),
        ] {
            let error = distance(&reference, &run(predictor, matrix));
            // The same discrete solution: Newton's tolerance of every step, carried on.
            assert!(error < 1e-9, "{method:?} {predictor:?} {matrix:?}: {error}");
        }
    }
}

#[test]
fn inconsistent_initial_values_are_projected_and_reported() {
    let pendulum = Pendulum::default();
    let initial = Initial::new(0.0, [0.3, -1.0], [1.0, 0.5]);
    let run = Integrator::with(settings(INDEX2, 0.01)).start(&pendulum, initial).unwrap();
    let (state, report) = (run.values(), run.start_report());
    // On the circle and along it to round-off; where on it, to the tolerance of the projection.
    assert!((norm(&state.configuration) - 1.0).abs() < 1e-14);
    // The nearest point of the circle lies on the same ray.
    let ray = state.configuration[0] / state.configuration[1];
    assert!((ray + 0.3).abs() < 1e-9, "{:?}", state.configuration);
    let along: f64 = state.configuration.iter().zip(&state.velocity).map(|(q, v)| q * v).sum();
    assert!(along.abs() < 1e-14);
    assert!((report.position_violation - 0.045).abs() < 1e-15);
    assert!((norm(&report.position_change) - (1.09_f64.sqrt() - 1.0)).abs() < 1e-9);
}

#[test]
fn the_first_output_shows_the_users_velocity() {
    let top = HeavyTop::new(Group::So3xR3);
    let initial = top.initial();
    let mut run = Integrator::with(settings(INDEX3, 1e-3)).start(&top, initial.clone()).unwrap();
    assert_eq!(run.values().velocity, initial.velocity);
    assert_ne!(run.base_velocity(), initial.velocity);
    let mut sample = Values::default();
    run.interpolate(0.0, &mut sample);
    assert_eq!(sample.velocity, initial.velocity);
}

#[test]
fn energy_without_numerical_damping_errs_by_second_order_and_drifts_by_third() {
    let pendulum = Pendulum::default();
    let drift = |step: f64| {
        let settings = settings(INDEX2, step).with_parameters(Parameters::chung_hulbert(1.0).unwrap());
        let initial = pendulum.initial(0.2);
        let energy = |q: &[f64], v: &[f64]| 0.5 * (v[0] * v[0] + v[1] * v[1]) + 9.81 * q[1];
        let start = energy(&initial.configuration, &initial.velocity);
        let mut run = Integrator::with(settings).start(&pendulum, initial).unwrap();
        let mut largest = [0.0_f64; 2];
        for half in &mut largest {
            for _ in 0..(10.0 / step) as usize {
                run.step().unwrap();
                let state = run.values();
                *half = half.max((energy(&state.configuration, &state.velocity) - start).abs());
            }
        }
        largest
    };
    let (coarse, fine) = (drift(0.02), drift(0.01));
    // An oscillation of order h², and per period a drift of order h³ that the stabilisation brings.
    assert!((3.5..4.5).contains(&(coarse[0] / fine[0])), "{coarse:?} {fine:?}");
    assert!(coarse[1] / fine[1] > 3.5 && coarse[1] < 2.0 * coarse[0], "{coarse:?} {fine:?}");
}

#[test]
fn what_cannot_be_integrated_is_refused_with_the_reason() {
    let pendulum = Pendulum::default();
    let start = |settings: Settings, initial: Initial| {
        Integrator::with(settings).start(&pendulum, initial).err().unwrap()
    };
    let good = || pendulum.initial(0.2);
    let undamped = settings(INDEX3, 0.01).with_parameters(Parameters::chung_hulbert(1.0).unwrap());
    assert_eq!(start(undamped, good()), StartError::UndampedMultipliers);
    assert!(Integrator::with(undamped.with_allow_unstable(true)).start(&pendulum, good()).is_ok());
    let unstable = settings(INDEX2, 0.01).with_parameters(Parameters::new(0.0, 0.0, 0.2, 0.5).unwrap());
    assert_eq!(start(unstable, good()), StartError::Unstable);
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(start(settings(INDEX2, step), good()), StartError::Step(_)));
    }
    let wrong = |q: Vec<f64>, v: Vec<f64>| start(settings(INDEX2, 0.01), Initial::new(0.0, q, v));
    assert!(matches!(
        wrong(vec![1.0], vec![0.0, 0.0]),
        StartError::Initial(ConsistencyError::Count { expected: 2, given: 1, .. })
    ));
    assert!(matches!(
        wrong(vec![f64::NAN, 1.0], vec![0.0, 0.0]),
        StartError::Initial(ConsistencyError::Values(_))
    ));
    assert!(matches!(
        wrong(vec![0.0, -1.0], vec![0.0, f64::INFINITY]),
        StartError::Initial(ConsistencyError::Values(_))
    ));
    // At the centre of the circle no direction leads to it.
    assert!(matches!(
        wrong(vec![0.0, 0.0], vec![0.0, 0.0]),
        StartError::Initial(ConsistencyError::Position { .. })
    ));
}

/// A constraint that moves although the shape does not say so.
struct Undeclared;

impl Dae for Undeclared {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(1)).with_constraints([1])
    }
    fn residual(&self, at: &Point, out: &mut Residual) {
        PrescribedCubic.residual(at, out);
    }
    fn gradient(&self, _: &Point, out: &mut BlockMatrix) {
        out.fill(1.0);
    }
}

/// A constraint whose gradient was forgotten.
struct Ungraded;

impl Dae for Ungraded {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(1)).with_constraints([1])
    }
    fn residual(&self, at: &Point, out: &mut Residual) {
        out.equilibrium[0] = at.acceleration[0] + at.multipliers[0];
        out.violation[0] = at.configuration[0];
    }
}

#[test]
fn constraints_without_a_gradient_are_refused() {
    let initial = Initial::new(0.0, [0.0], [0.0]);
    let refusal = Integrator::with(settings(INDEX3, 0.01)).start(&Ungraded, initial).err();
    assert!(matches!(refusal, Some(StartError::Initial(ConsistencyError::NoGradient { .. }))));
    assert!(refusal.unwrap().to_string().contains("`Dae::gradient`"));
}

#[test]
fn constraints_that_move_undeclared_are_found() {
    let initial = Initial::new(0.0, [0.0], [0.0]);
    let refusal = Integrator::with(settings(INDEX3, 0.01)).start(&Undeclared, initial).err();
    assert!(matches!(refusal, Some(StartError::Initial(ConsistencyError::UndeclaredTime { .. }))));
}

#[test]
fn a_failed_step_names_time_and_equation_and_leaves_the_state() {
    let top = HeavyTop::new(Group::So3xR3);
    // A quarter of a second is six turns of the top: no Newton iteration finds its way.
    let newton = NewtonSettings { max_iterations: 6, ..NewtonSettings::default() };
    let settings = settings(INDEX3, 0.25).with_start(Start::Trivial).with_newton(newton);
    let mut run = Integrator::with(settings).start(&top, top.initial()).unwrap();
    let before = run.values().configuration.clone();
    let error = run.step().unwrap_err();
    assert!(error.to_string().contains("0.25 s"), "{error}");
    assert_eq!(run.values().configuration, before);
    // Nor has the preparation for a step of another size left a trace.
    let (velocity, a) = (run.base_velocity().to_vec(), run.carried("algorithmic acceleration"));
    assert!(run.step_by(0.2).is_err());
    assert_eq!(run.base_velocity(), velocity);
    assert_eq!(run.carried("algorithmic acceleration"), a);
}

#[test]
fn a_projected_velocity_satisfies_the_hidden_constraints() {
    let top = HeavyTop::new(Group::So3xR3);
    let mut run = Integrator::with(settings(INDEX3, 1e-3)).start(&top, top.initial()).unwrap();
    run.advance(0.05).unwrap();
    assert!(norm(&run.velocity_residual()) > 1e-3);
    run.project_velocity().unwrap();
    // Round-off of velocities of 150.
    assert!(norm(&run.velocity_residual()) < 1e-12);
    assert_eq!(run.values().velocity, run.values().velocity);
}
