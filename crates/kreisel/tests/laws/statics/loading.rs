//! How loads are brought on: steps, preloads, ropes, stability, and what is told where it fails.

use crate::common::read;
use kreisel::dae::{Control, NoteKind};
use kreisel::machine::Machine;
use kreisel::run::{StaticOutcome, StaticRecorder, Trajectory};
use kreisel::statics::{Ending, PathSettings, StaticSettings, StaticsError};

fn machine(text: &str) -> Machine {
    read(text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Records every equilibrium.
fn record(machine: &Machine, settings: &StaticSettings) -> (StaticOutcome, Trajectory) {
    let mut recorder = StaticRecorder::new(machine, Trajectory::new(machine));
    let outcome = machine.find_equilibrium(settings, |at| recorder.record(at));
    (outcome, recorder.finish().unwrap())
}

/// A quarter of a car: 300 kg on a preloaded strut on a wheel of 25 kg, which stands on its tyre.
fn quarter_car(hub: &str, rest: &str) -> Machine {
    machine(&format!(
        "[[body]]
        name = 'car'
        mass = 300
        inertia = [1, 1, 1]
        position = [0, 0, 0.8]
        [[body]]
        name = 'carrier'
        mass = 5
        inertia = [1, 1, 1]
        position = [0, 0, 0.3]
        [[body]]
        name = 'wheel'
        mass = 20
        inertia = [1, 1, 1]
        position = [0, 0, 0.3]
        [[prismatic]]
        name = 'guide'
        bodies = ['ground', 'car']
        axis = [0, 0, 1]
        [[prismatic]]
        name = 'travel'
        bodies = ['car', 'carrier']
        axis = [0, 0, 1]
        [[{hub}]]
        name = 'hub'
        bodies = ['carrier', 'wheel']
        {rest}
        [[spring-damper]]
        name = 'strut'
        bodies = ['carrier', 'car']
        stiffness = 20e3
        preload = -2900
        [[contact]]
        name = 'tyre'
        bodies = ['ground', 'wheel']
        second-shape = {{ kind = 'sphere', radius = 0.305 }}
        stiffness = 200e3
        friction = 0.9"
    ))
}

#[test]
fn a_car_that_stands_on_preloaded_struts_finds_its_equilibrium_from_where_it_is_drawn() {
    for load_steps in [1, 4] {
        let machine = quarter_car("fixed", "");
        let settings = StaticSettings { load_steps, ..StaticSettings::default() };
        let (outcome, _) = record(&machine, &settings);
        let at = outcome.solution.unwrap_or_else(|error| panic!("{load_steps}: {error}")).equilibrium;
        let node = |name: &str| {
            let mut nodes = (0..machine.system().node_count()).map(kreisel::kinematics::NodeId);
            let node = nodes.find(|node| machine.system().node_name(*node) == name).unwrap();
            machine.system().motion(node, &at.point()).pose.position.z
        };
        // The tyre bears 325 kg; the strut 300 kg, of which 2900 N are preload.
        let gravity = 9.80665;
        let tyre = 0.305 - 325.0 * gravity / 200e3;
        let strut = 0.5 - (300.0 * gravity - 2900.0) / 20e3;
        assert!((node("wheel") - tyre).abs() < 1e-9, "{load_steps}: {} {tyre}", node("wheel"));
        assert!((node("car") - node("carrier") - strut).abs() < 1e-9);
    }
}

#[test]
fn a_wheel_that_nothing_holds_is_named() {
    let machine = quarter_car("revolute", "point = [0, 0, 0.3]\naxis = [0, 1, 0]");
    let (outcome, _) = record(&machine, &StaticSettings::default());
    let error = outcome.solution.unwrap_err().to_string();
    assert!(error.contains("the torque balance of `wheel` along y meets no stiffness"), "{error}");
}

/// A cantilever along z of EI = 1 N m² about one axis and 2 N m² about the other, with a force along z at its
/// end.
fn column(force: f64, keys: &str) -> Machine {
    machine(&format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [[beam]]
        name = 'b'
        from = [0, 0, 0]
        to = [0, 0, 1]
        start = 'ground'
        section.axial-stiffness = 1e6
        section.shear-stiffness = [1e6, 1e6]
        section.torsional-stiffness = 1
        section.bending-stiffness = [1, 2]
        section.mass-per-length = 1
        section.inertia-per-length = [2e-3, 1e-3, 1e-3]
        [[force]]
        name = 'f'
        body = 'b.end'
        force = [0, 0, {force}]
        {keys}"
    ))
}

#[test]
fn load_steps_are_as_many_and_as_long_as_was_asked_for_and_records_show_the_loads_of_each() {
    let machine = column(1.0, "[[sensor]]\nof = 'b.start'\nquantity = 'force'");
    let settings = StaticSettings { load_steps: 4, ..StaticSettings::default() };
    let (outcome, records) = record(&machine, &settings);
    assert!(outcome.solution.is_ok());
    assert_eq!(records.times, [0.0, 0.25, 0.5, 0.75, 1.0]);
    for (row, factor) in records.times.iter().enumerate() {
        let value = |signal: &str| crate::common::column(&records, signal)[row];
        // Rounding of the load, and Newton's tolerance of what carries it.
        assert!((value("f.force.z") - factor).abs() < 1e-12);
        assert!((value("b.start.force.x") - factor).abs() < 1e-6, "{}", value("b.start.force.x"));
        // F²L/2EA is stored; nothing is missing.
        assert!((value("energy.strain") - 0.5e-6 * factor * factor).abs() < 1e-11);
        assert_eq!(value("energy.balance"), 0.0);
    }
}

#[test]
fn an_unstable_equilibrium_is_told_with_its_directions_load_and_part() {
    // π² EI/4 = 2.467 N and 4.935 N.
    let machine = column(-6.0, "");
    let (outcome, _) = record(&machine, &StaticSettings::default());
    let found = outcome.solution.as_ref().unwrap().instability.clone().unwrap();
    let euler = std::f64::consts::PI.powi(2) / 4.0 / 6.0;
    assert_eq!((found.directions, found.from_start), (2, false));
    assert!((found.load_factor / euler - 1.0).abs() < 1e-3, "{} {euler}", found.load_factor);
    let notes = machine.static_notes(&outcome);
    let note = notes.into_iter().find(|note| note.kind == NoteKind::UnstableEquilibrium).unwrap();
    assert!(
        note.text.contains("unstable in 2 directions") && note.text.contains("`b.node-"),
        "{}",
        note.text
    );
    let (outcome, _) = record(&column(-2.4, ""), &StaticSettings::default());
    assert_eq!(outcome.solution.unwrap().instability, None);
    // So does a run that starts there, and would stand straight for ever.
    let starts = |force: f64| {
        let machine = column(force, "[simulation]\nend-time = 0.01\nstep = 1e-3\nstart = 'static'");
        let notes = machine.start_notes(&machine.begin(&machine.plan().unwrap()).unwrap());
        notes.into_iter().find(|note| note.kind == NoteKind::UnstableEquilibrium)
    };
    let note = starts(-6.0).unwrap();
    assert!(note.text.contains("starts at an equilibrium that is unstable in 2 directions"), "{}", note.text);
    assert_eq!(starts(-2.4), None);
}

#[test]
fn a_search_that_fails_tells_how_much_it_did() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/lee-frame.toml"));
    let machine = machine(&text.unwrap());
    let settings = StaticSettings { target: 3.0, ..StaticSettings::default() };
    let (outcome, _) = record(&machine, &settings);
    assert!(matches!(outcome.solution, Err(StaticsError::LimitPoint { .. })));
    assert!(outcome.statistics.steps > 0 && outcome.statistics.iterations > outcome.statistics.steps);
}

/// A rope of 10 m without much bending stiffness from the origin to a point.
fn rope(order: usize, to: &str, rest: &str) -> Machine {
    machine(&format!(
        "[[beam]]
        name = 'r'
        from = [0, 0, 0]
        to = {to}
        order = {order}
        elements = 16
        section.axial-stiffness = 1e5
        section.shear-stiffness = [1e5, 1e5]
        section.torsional-stiffness = 0.01
        section.bending-stiffness = [0.01, 0.01]
        section.mass-per-length = 1
        section.inertia-per-length = [2e-4, 1e-4, 1e-4]
        {rest}"
    ))
}

#[test]
fn a_limp_rope_hangs_from_where_it_is_drawn() {
    let top = |first: &str, second: &str| {
        format!(
            "[[universal]]\nname = 'top'\nbodies = ['ground', 'r.start']\nfirst-axis = {first}\nsecond-axis = {second}\n"
        )
    };
    let rests = |machine: &Machine, what: &str| {
        let found = machine.find_equilibrium(&StaticSettings::default(), |_| Control::Continue);
        found.solution.unwrap_or_else(|error| panic!("{what}: {error}")).equilibrium
    };
    let place = |machine: &Machine, at: &kreisel::statics::Equilibrium, node: usize| {
        machine.system().motion(kreisel::kinematics::NodeId(node), &at.point()).pose.position
    };
    let (gravity, tension) = (9.80665, 1e5);
    for order in [1, 2] {
        // ρA g L²/2EA longer by its own weight.
        let stretch = gravity * 100.0 / (2.0 * tension);
        let hanging = rope(order, "[0, 0, -10]", &top("[1, 0, 0]", "[0, 1, 0]"));
        let tip = place(&hanging, &rests(&hanging, "hanging"), 16 * order);
        assert!(tip.xy().norm() < 1e-6, "order {order}: {tip}");
        // The mesh moves the weight of the last element by half of it at most.
        assert!((tip.z + 10.0 + stretch).abs() < 0.1 * stretch, "order {order}: {tip}");
        // Drawn straight between two supports it is as long as they are apart: a flat parabola of sag f with
        // the pull H = ρA g L²/8f is longer by 8 f²/3L = H L/EA, so that f³ = 3 ρA g L⁴/64 EA.
        let ends =
            top("[0, 1, 0]", "[0, 0, 1]") + "[[spherical]]\nname = 'end'\nbodies = ['ground', 'r.end']";
        let across = rope(order, "[10, 0, 0]", &ends);
        let middle = place(&across, &rests(&across, "across"), 8 * order);
        let sag = (3.0 * gravity * 1e4 / (64.0 * tension)).cbrt();
        assert!((middle.z / -sag - 1.0).abs() < 0.01, "order {order}: {middle} {sag}");
    }
}

#[test]
fn a_clamped_beam_with_an_enormous_shear_stiffness_is_not_said_to_be_free() {
    let text = "[[beam]]
        name = 'b'
        from = [0, 0, 0]
        to = [1, 0, 0]
        start = 'ground'
        section.axial-stiffness = 1e14
        section.shear-stiffness = [1e14, 1e14]
        section.torsional-stiffness = 10
        section.bending-stiffness = [10, 10]
        section.mass-per-length = 1
        section.inertia-per-length = [2e-4, 1e-4, 1e-4]";
    let (outcome, _) = record(&machine(text), &StaticSettings::default());
    match outcome.solution {
        Err(error @ StaticsError::LostDigits { .. }) => {
            assert!(error.to_string().contains("forces are lost in round-off"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

/// Lee's frame with a stiffness against shear.
fn frame(order: u8, elements: usize, shear: f64) -> Machine {
    let leg = format!(
        "order = {order}
        elements = {elements}
        section.axial-stiffness = 4320
        section.shear-stiffness = [{shear}, {shear}]
        section.torsional-stiffness = 1000
        section.bending-stiffness = [3240, 1440]
        section.mass-per-length = 1
        section.inertia-per-length = [2, 1, 1]"
    );
    machine(&format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [[beam]]
        name = 'column'
        from = [0, 0, 0]
        to = [0, 120, 0]
        {leg}
        [[beam]]
        name = 'beam'
        start = 'column.end'
        to = [120, 120, 0]
        {leg}
        [[revolute]]
        name = 'foot'
        bodies = ['ground', 'column.start']
        axis = [0, 0, 1]
        [[revolute]]
        name = 'bearing'
        bodies = ['ground', 'beam.end']
        axis = [0, 0, 1]
        [[force]]
        name = 'load'
        body = 'beam.at-0.2'
        force = [0, -1, 0]"
    ))
}

#[test]
fn nearly_rigid_shear_does_not_make_a_path_long_and_its_steps_can_be_limited() {
    let points = |max_step: Option<f64>| {
        let path = Some(PathSettings { max_points: 400, max_step });
        let settings = StaticSettings { path, ..StaticSettings::default() };
        let (outcome, records) = record(&frame(2, 20, 1e7), &settings);
        outcome.solution.unwrap();
        records.times.len()
    };
    // 176 points by the number of iterations.
    let free = points(None);
    assert!(free < 100, "{free}");
    assert!(points(Some(0.002)) > free);
}

#[test]
fn nearly_rigid_shear_takes_no_more_points_past_both_limit_points_than_soft_shear() {
    let path = Some(PathSettings { max_points: 1000, max_step: None });
    let settings = StaticSettings { path, target: 3.0, ..StaticSettings::default() };
    let follow = |order: u8, elements: usize, shear: f64| {
        let (outcome, records) = record(&frame(order, elements, shear), &settings);
        let found = outcome.solution.unwrap();
        let limits: Vec<f64> = found.limit_points.iter().map(|point| point.load_factor).collect();
        assert_eq!(
            (found.ending, limits.len()),
            (Ending::Reached, 2),
            "order {order}, GA = {shear}: {limits:?}"
        );
        (records.times.len(), limits)
    };
    let (usual, _) = follow(1, 20, 1384.6154);
    for shear in [1e5, 1e6, 1e8] {
        // Both elements on as many nodes. Their meshes differ by 1e-4 at the second limit point, where the
        // frame is bent most.
        let ((first, limits), (second, others)) = (follow(1, 20, shear), follow(2, 10, shear));
        for points in [first, second] {
            assert!(points <= usual + usual / 5, "GA = {shear}: {points} of {usual} points");
        }
        for (limit, other) in limits.iter().zip(&others) {
            assert!((limit - other).abs() < 2e-4, "GA = {shear}: {limit} and {other}");
        }
    }
}

#[test]
fn a_limp_rope_that_is_drawn_horizontally_hangs_from_its_hook() {
    // The last is finer and ten times as stiff against stretch: it takes the longest to glide down.
    for (bending, tension, elements) in [(1e-2, 1e5, 16), (1e-4, 1e5, 16), (1e-6, 1e5, 16), (1e-6, 1e6, 32)] {
        let shear = 0.4 * tension;
        let machine = machine(&format!(
            "[[beam]]
            name = 'rope'
            from = [0, 0, 0]
            to = [2, 0, 0]
            elements = {elements}
            section.axial-stiffness = {tension}
            section.shear-stiffness = [{shear}, {shear}]
            section.torsional-stiffness = {bending}
            section.bending-stiffness = [{bending}, {bending}]
            section.mass-per-length = 0.5
            section.inertia-per-length = [1e-5, 5e-6, 5e-6]
            [[revolute]]
            name = 'hook'
            bodies = ['ground', 'rope.start']
            axis = [0, 1, 0]"
        ));
        let found = machine.equilibrium().unwrap_or_else(|error| panic!("{bending} {tension}: {error}"));
        let (name, way) = machine.largest_displacement(&found.equilibrium).unwrap();
        // Its end goes from (2, 0, 0) to (0, 0, −2 − stretch), stretched by m g l/(2 EA).
        let stretch: f64 = 0.5 * 0.5 * 9.80665 * 4.0 / tension;
        let expected = (4.0 + (2.0 + stretch).powi(2)).sqrt();
        assert!((way - expected).abs() < 1e-6, "{bending}: {name} {way} {expected}");
    }
}

#[test]
fn shear_that_is_next_to_rigid_costs_no_digits() {
    let tip = |shear: f64| {
        let machine = machine(&format!(
            "[[beam]]
            name = 'b'
            from = [0, 0, 0]
            to = [1, 0, 0]
            start = 'ground'
            elements = 10
            order = 2
            section.axial-stiffness = 1e6
            section.shear-stiffness = [{shear}, {shear}]
            section.torsional-stiffness = 1
            section.bending-stiffness = [1, 1]
            section.mass-per-length = 0.1
            section.inertia-per-length = [1e-5, 5e-6, 5e-6]"
        ));
        let found = machine.equilibrium().unwrap_or_else(|error| panic!("{shear:e}: {error}"));
        machine.largest_displacement(&found.equilibrium).unwrap().1
    };
    // Shear adds 4 EI/(GA L²) of the deflection under a load along the beam: 4e-9 of it at 1e9 N.
    let expected = tip(1e9);
    for shear in [1e10, 1e11, 1e13, 1e17] {
        assert!((tip(shear) / expected - 1.0).abs() < 1e-8, "{shear:e}: {} {expected}", tip(shear));
    }
}
