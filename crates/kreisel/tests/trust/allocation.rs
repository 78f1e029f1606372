//! A step allocates nothing: everything is made at the start.

use kreisel::integrate::{
    EXPLICIT8, EXTRAPOLATED, INDEX2, INDEX3, Integrator, Method, Parameters, SYMPLECTIC, Settings,
};
use kreisel::lie::Group;
use kreisel::machine::Machine;
use kreisel::solve::newton::Refresh;
use kreisel_papers::problem::HeavyTop;

fn allocations_of_a_thousand_steps(method: Method, group: Group, refresh: Refresh) -> u64 {
    let top = HeavyTop::new(group);
    let mut settings =
        Settings::new(method, Parameters::chung_hulbert(0.9).expect("0.9 is a spectral radius"), 1e-3);
    settings = settings.with_refresh(refresh);
    let mut run = Integrator::with(settings).start(&top, top.initial()).expect("consistent");
    for _ in 0..2 {
        run.step().expect("the first steps converge");
    }
    let counted = allocation_counter::measure(|| {
        for _ in 0..1000 {
            run.step().expect("every step converges");
        }
    });
    counted.count_total
}

#[test]
fn steps_of_the_heavy_top_allocate_nothing() {
    for method in [INDEX3, INDEX2, EXPLICIT8, EXTRAPOLATED, SYMPLECTIC] {
        for group in [Group::So3xR3, Group::Se3] {
            for refresh in [Refresh::EveryIteration, Refresh::EveryStep, Refresh::WhenSlow] {
                let allocations = allocations_of_a_thousand_steps(method, group, refresh);
                assert_eq!(allocations, 0, "{method:?} {group:?} {refresh:?}");
            }
        }
    }
}

/// A chain of bodies on spherical joints, large enough for the sparse factorisation.
#[test]
fn a_step_of_an_assembled_machine_allocates_nothing() {
    let text = "
        [[body]]
        name = 'link-{i}'
        repeat = 20
        mass = 1
        inertia = [0.01, 0.01, 0.01]
        position = ['i + 0.5', 0, 0]
        [[spherical]]
        name = 'anchor'
        bodies = ['ground', 'link-0']
        point = [0, 0, 0]
        [[spherical]]
        name = 'joint-{i}'
        repeat = 19
        bodies = ['link-{i}', 'link-{i+1}']
        point = ['i + 1', 0, 0]
    ";
    steps_allocate_nothing(text);
}

/// Machines with beams keep their matrices from step to step and renew them now and then.
#[test]
fn a_step_of_a_beam_allocates_nothing() {
    steps_allocate_nothing(
        "
        [[beam]]
        name = 'beam'
        from = [0, 0, 0]
        to = [1, 0, 0]
        start = 'ground'
        elements = 10
        section.axial-stiffness = 1e4
        section.shear-stiffness = [1e4, 1e4]
        section.torsional-stiffness = 10
        section.bending-stiffness = [10, 10]
        section.mass-per-length = 1
        section.inertia-per-length = [0.02, 0.01, 0.01]
    ",
    );
}

/// The equation of a sum over many bodies is assembled in parts.
#[test]
fn a_step_of_a_sum_over_eight_bodies_allocates_nothing() {
    steps_allocate_nothing(
        "
        [[body]]
        name = 'weight-{i}'
        repeat = 8
        mass = 'i + 1'
        inertia = [1, 1, 1]
        position = ['i', 0, 0]
        [[prismatic]]
        name = 'rail-{i}'
        repeat = 8
        bodies = ['ground', 'weight-{i}']
        axis = [0, 0, 1]
        [[coupling]]
        joints = ['rail-0', 'rail-1', 'rail-2', 'rail-3', 'rail-4', 'rail-5', 'rail-6', 'rail-7']
        factors = [1, 2, 1, 2, 1, 2, 1, 2]
    ",
    );
}

fn steps_allocate_nothing(text: &str) {
    let machine =
        Machine::from_text("machine.toml", text).map_err(|errors| errors.render(false)).expect("sound");
    for method in [INDEX3, INDEX2, EXPLICIT8] {
        let parameters = Parameters::chung_hulbert(0.9).expect("0.9 is a spectral radius");
        let settings = Settings::new(method, parameters, 1e-3);
        let integrator = Integrator::with(settings);
        let mut run = integrator.start(machine.system(), machine.initial().clone()).expect("consistent");
        for _ in 0..2 {
            run.step().expect("the first steps converge");
        }
        let counted = allocation_counter::measure(|| {
            for _ in 0..100 {
                run.step().expect("every step converges");
            }
        });
        assert_eq!(counted.count_total, 0, "{method:?}");
    }
}
