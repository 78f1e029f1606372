//! Classical problems of very flexible beams, from the unloaded shape with the default settings.

use super::rod::{Frame, Rod};
use super::solve;
use kreisel::dae::{Control, Initial};
use kreisel::element::beam::{Beam, BeamEnd, Section, Segment, Span};
use kreisel::element::{Axes, MarkerForce, Quantity};
use kreisel::joint::{CoordinateJoint, lower_pair};
use kreisel::kinematics::NodeId;
use kreisel::lie::{Group, Matrix3, Matrix6, Pose, UnitQuaternion, Vector3, Vector6, se3};
use kreisel::statics::{self, Ending, Equilibrium, PathSettings, StaticSettings};
use kreisel::system::{System, SystemBuilder};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, TAU};

/// A section with stiffness (GJ, EI_y, EI_z, EA, GA_y, GA_z) and some mass, which statics does not see.
pub fn section(stiffness: [f64; 6]) -> Section {
    let stiffness = Matrix6::from_diagonal(&Vector6::from_column_slice(&stiffness));
    Section::new(stiffness, Matrix6::from_diagonal(&Vector6::new(0.02, 0.01, 0.01, 1.0, 1.0, 1.0))).unwrap()
}

/// Adds the elements of a beam along frames; gives the node of each frame, the first of which may be the
/// ground.
pub fn add_beam(
    builder: &mut SystemBuilder,
    first: Option<NodeId>,
    frames: &[Pose],
    section: &Section,
    group: Group,
) -> Vec<NodeId> {
    let mut last = match first {
        Some(node) => BeamEnd::on(node),
        None => BeamEnd { node: None, offset: Some(frames[0]) },
    };
    let mut nodes = Vec::new();
    for (index, pair) in frames.windows(2).enumerate() {
        let node = builder.node(format!("node-{}", index + 1), group, pair[1], Vector6::zeros());
        let span = Span::between(&pair[0], &pair[1]).unwrap();
        let end = BeamEnd::on(node);
        builder.element("beam", Beam::new([last, end], &span, section, 0.0));
        builder.element("beam", Segment::new(node, section.mass() * span.length(), Vector3::zeros(), 0.0));
        nodes.push(node);
        last = end;
    }
    nodes
}

/// Frames of a beam whose axis has a constant curvature.
pub fn frames(root: Pose, curvature: Vector3, length: f64, elements: usize) -> Vec<Pose> {
    let screw = |s: f64| {
        let mut twist = Vector6::zeros();
        twist.fixed_rows_mut::<3>(0).copy_from(&(s * curvature));
        twist[3] = s;
        root.compose(&se3::exp(&twist))
    };
    (0..=elements).map(|i| screw(length * i as f64 / elements as f64)).collect()
}

/// A dead load (torque, force) at a node.
pub fn add_load(builder: &mut SystemBuilder, node: NodeId, torque: Vector3, force: Vector3) {
    let components = [torque.x, torque.y, torque.z, force.x, force.y, force.z].map(Quantity::Constant);
    builder
        .element("load", MarkerForce::new(vec![node], Pose::identity(), Axes::World, components, Vec::new()));
}

pub fn cantilever(
    frames: &[Pose],
    stiffness: [f64; 6],
    torque: Vector3,
    force: Vector3,
    group: Group,
) -> (System, Initial) {
    let mut builder = SystemBuilder::new();
    let nodes = add_beam(&mut builder, None, frames, &section(stiffness), group);
    add_load(&mut builder, *nodes.last().unwrap(), torque, force);
    builder.scales(kreisel::dae::Scales { length: 1.0, arm: None, mass: 1.0, stiffness: 0.0 });
    builder.build(0.0).unwrap()
}

pub fn tip(system: &System, at: &Equilibrium) -> Pose {
    system.motion(NodeId(system.node_count() - 1), &at.point()).pose
}

#[test]
fn an_end_moment_rolls_a_cantilever_into_one_and_two_circles() {
    // In pure bending the elements are exact: what is left is what Newton leaves, magnified by the length
    // over an element.
    rolls_into_circles(cantilever);
}

/// Rolls cantilevers of a kind by an end moment into one and two circles, an arc at every step on the way.
pub fn rolls_into_circles(
    cantilever: impl Fn(&[Pose], [f64; 6], Vector3, Vector3, Group) -> (System, Initial),
) {
    for (circles, group) in [(1.0, Group::Se3), (2.0, Group::Se3), (1.0, Group::So3xR3)] {
        let (length, bending) = (1.0, 2.0);
        let torque = Vector3::new(0.0, 0.0, circles * TAU * bending / length);
        let frames = frames(Pose::identity(), Vector3::zeros(), length, 10);
        let stiffness = [1.0, bending, bending, 1e4, 1e4, 1e4];
        let (system, initial) = cantilever(&frames, stiffness, torque, Vector3::zeros(), group);
        let mut steps = 0;
        let found = statics::solve(&system, &initial, &StaticSettings::default(), |at| {
            steps += 1;
            // On the way it is an arc: the tip turns by M L/EI.
            let angle = at.load_factor * torque.z * length / bending;
            let exact = if angle == 0.0 {
                Vector3::new(length, 0.0, 0.0)
            } else {
                Vector3::new(angle.sin(), 1.0 - angle.cos(), 0.0) * (length / angle)
            };
            // Newton's tolerance.
            assert!((tip(&system, at).position - exact).norm() < 1e-8, "{steps}");
            Control::Continue
        })
        .unwrap();
        assert_eq!(found.ending, Ending::Reached);
        assert!(tip(&system, &found.equilibrium).position.norm() < 1e-8);
        // Twelve radians in steps of one at most, a dozen iterations each.
        assert!(found.statistics.iterations < 300, "{:?}", found.statistics);
    }
}

/// The 45-degree bend as a rod, for shooting.
pub fn bent_rod() -> Rod {
    Rod {
        length: 100.0 * FRAC_PI_4,
        curvature: Vector3::new(0.0, 0.0, 0.01),
        bending: Vector3::new(BEND[0], BEND[1], BEND[2]),
        stretching: Vector3::new(BEND[3], BEND[4], BEND[5]),
        root: Matrix3::identity(),
    }
}

/// Radius 100, an eighth of a circle in the x–y plane, section 1 × 1, E = 1e7, ν = 0, load along z.
fn bend(elements: usize, load: f64) -> Vector3 {
    let curvature = Vector3::new(0.0, 0.0, 0.01);
    let frames = frames(Pose::identity(), curvature, 100.0 * FRAC_PI_4, elements);
    let force = Vector3::new(0.0, 0.0, load);
    let (system, initial) = cantilever(&frames, BEND, Vector3::zeros(), force, Group::Se3);
    let found = solve(&system, &initial, &StaticSettings::default()).unwrap();
    tip(&system, &found.equilibrium).position
}

pub const BEND: [f64; 6] = [5e6 / 6.0, 1e7 / 12.0, 1e7 / 12.0, 1e7, 5e6 * 5.0 / 6.0, 5e6 * 5.0 / 6.0];

#[test]
fn the_45_degree_bend_agrees_with_shooting_and_with_published_tips() {
    let rod = bent_rod();
    // Tips (along the tangent at the root, towards the centre, along the load) with eight straight elements
    // [SimoVuQuoc1986Rods, pp. 79–116], and the displacement of [BatheBolourchi1979, p. 982] at the last
    // load. Straight elements and shear stiffnesses differ; one part in a hundred of the radius is what the
    // published tips agree to among each other.
    for (load, published) in [
        (300.0, Vector3::new(58.84, 22.33, 40.08)),
        (450.0, Vector3::new(52.32, 18.62, 48.39)),
        (600.0, Vector3::new(47.23, 15.79, 53.37)),
    ] {
        let exact = rod.tip(Vector3::new(0.0, 0.0, load));
        let errors: Vec<f64> = [8, 16, 32].iter().map(|n| (bend(*n, load) - exact).norm()).collect();
        // The curved shape is what is left of second order: most of the error falls with the fourth power.
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1]).log2() > 1.9, "{errors:?}");
        }
        assert!(errors[0] < 2e-3, "{errors:?}");
        assert!((bend(8, load) - published).amax() < 1.0, "{} {published}", bend(8, load));
    }
    let displacement = bend(32, 600.0) - Vector3::new(FRAC_PI_4.sin(), 1.0 - FRAC_PI_4.cos(), 0.0) * 100.0;
    let published = Vector3::new(-23.5, -13.4, 53.4);
    assert!((displacement - published).amax() < 0.5, "{displacement}");
}

/// Lee's frame: legs of 120, E = 720, ν = 0.3, section 3 × 2.
pub const LEE: Frame =
    Frame { length: 120.0, load_at: 0.2, bending: 1440.0, axial: 4320.0, shear: 720.0 / 2.6 * 5.0 };

pub fn lee(elements: usize) -> (System, Initial) {
    let mut builder = SystemBuilder::new();
    let length = LEE.length;
    let stiffness = [1000.0, 3240.0, LEE.bending, LEE.axial, LEE.shear, LEE.shear];
    let section = section(stiffness);
    let up = Pose::new(UnitQuaternion::from_scaled_axis(Vector3::z() * FRAC_PI_2), Vector3::zeros());
    let corner = Vector3::new(0.0, length, 0.0);
    let column = frames(up, Vector3::zeros(), length, elements);
    let beam = frames(Pose::new(UnitQuaternion::identity(), corner), Vector3::zeros(), length, elements);
    let foot = builder.node("foot", Group::Se3, column[0], Vector6::zeros());
    let column_nodes = add_beam(&mut builder, Some(foot), &column, &section, Group::Se3);
    // The corner is rigid: the beam starts at the column's last node, turned by a quarter.
    let last = *column_nodes.last().unwrap();
    let turned = column[elements].inverse().compose(&beam[0]);
    let second = builder.node("beam-1", Group::Se3, beam[1], Vector6::zeros());
    let span = Span::between(&beam[0], &beam[1]).unwrap();
    let start = BeamEnd { node: Some(last), offset: Some(turned) };
    builder.element("beam", Beam::new([start, BeamEnd::on(second)], &span, &section, 0.0));
    let nodes = add_beam(&mut builder, Some(second), &beam[1..], &section, Group::Se3);
    let end = *nodes.last().unwrap();
    for (name, node, frame) in [("foot", foot, column[0]), ("end", end, beam[elements])] {
        let hinge = Pose::new(UnitQuaternion::identity(), frame.position);
        let offset = frame.inverse().compose(&hinge);
        let joint = CoordinateJoint::between([None, Some(node)], [hinge, offset], lower_pair::revolute());
        builder.joint(name, joint);
    }
    let loaded = elements / 5 - 1;
    let node = if loaded == 0 { second } else { nodes[loaded - 1] };
    add_load(&mut builder, node, Vector3::zeros(), Vector3::new(0.0, -1.0, 0.0));
    builder.scales(kreisel::dae::Scales { length, arm: None, mass: 1.0, stiffness: 0.0 });
    builder.build(0.0).unwrap()
}

#[test]
fn the_arc_length_follows_lees_frame_through_both_limit_points() {
    let exact = LEE.limit_load();
    // Inextensible elastica: 18.552 EI/L² [LeeManuelRossow1968, pp. 521–547]; stretch and shear take about
    // one part in two hundred.
    assert!((exact / (18.552 * LEE.bending / LEE.length.powi(2)) - 1.0).abs() < 0.01, "{exact}");
    let limits: Vec<Vec<f64>> = [10, 20]
        .iter()
        .map(|&elements| {
            let (system, initial) = lee(elements);
            let path = Some(PathSettings { max_points: 300, ..PathSettings::default() });
            let settings = StaticSettings { path, target: 3.0, ..StaticSettings::default() };
            let found = solve(&system, &initial, &settings).unwrap();
            assert_eq!(found.ending, Ending::Reached, "{:?}", found.statistics);
            found.limit_points.iter().map(|point| point.load_factor).collect()
        })
        .collect();
    let errors: Vec<f64> = limits.iter().map(|limits| (limits[0] - exact).abs()).collect();
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1]).log2() > 1.8, "{errors:?}");
    }
    // So small that the order is that of the limit.
    assert!(errors[1] < 1e-2 * exact, "{errors:?} of {exact}");
    for limits in &limits {
        // The load falls below zero and rises again.
        assert!(limits.len() == 2 && limits[1] < 0.0, "{limits:?}");
    }
}

#[test]
fn loads_stop_at_the_limit_point_of_lees_frame_and_say_so() {
    let (system, initial) = lee(10);
    let settings = StaticSettings { target: 3.0, ..StaticSettings::default() };
    let mut last = 0.0;
    let outcome = statics::solve(&system, &initial, &settings, |at| {
        last = at.load_factor;
        Control::Continue
    });
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains("limit point") && message.contains("--arc-length"), "{message}");
    // Ten elements: two parts in a hundred.
    assert!((last / LEE.limit_load() - 1.0).abs() < 0.03, "{last}");
}

/// The Princeton beam: 508 mm of aluminium 7075, 12.7 mm × 3.2024 mm, held at an angle with a weight at its
/// tip
/// [DowellTraybarHodges1977, pp. 533–544].
#[test]
fn the_princeton_beam_agrees_with_shooting_at_every_angle() {
    let (length, width, thickness, young, shear) = (0.508, 12.7e-3, 3.2024e-3, 71.7e9, 26.9e9);
    let area: f64 = width * thickness;
    let [thick, wide] = [width * thickness.powi(3) / 12.0, thickness * width.powi(3) / 12.0];
    // Torsion of a narrow rectangle, 0.281 for this ratio of sides.
    let torsion: f64 = 0.281 * width * thickness.powi(3);
    let stiffness = [
        shear * torsion,
        young * wide,
        young * thick,
        young * area,
        shear * area * 5.0 / 6.0,
        shear * area * 5.0 / 6.0,
    ];
    for weight in [4.448, 8.896, 13.345] {
        for angle in [0.0_f64, 30.0, 45.0, 60.0, 90.0].map(f64::to_radians) {
            let rod = Rod {
                length,
                curvature: Vector3::zeros(),
                bending: Vector3::new(stiffness[0], stiffness[1], stiffness[2]),
                stretching: Vector3::new(stiffness[3], stiffness[4], stiffness[5]),
                root: Matrix3::identity(),
            };
            let force = weight * Vector3::new(0.0, angle.sin(), angle.cos());
            let exact = rod.tip(force);
            let errors: Vec<f64> = [10, 20]
                .iter()
                .map(|&elements| {
                    let frames = frames(Pose::identity(), Vector3::zeros(), length, elements);
                    let (system, initial) =
                        cantilever(&frames, stiffness, Vector3::zeros(), force, Group::Se3);
                    let found = solve(&system, &initial, &StaticSettings::default()).unwrap();
                    (tip(&system, &found.equilibrium).position - exact).norm()
                })
                .collect();
            let order = (errors[0] / errors[1]).log2();
            assert!(order > 1.8 || errors[1] < 1e-9 * length, "{weight} {angle} {errors:?}");
            // Lumped rotations of ten elements: a few thousandths of the deflection.
            let deflection = (exact - Vector3::new(length, 0.0, 0.0)).norm();
            assert!(errors[0] < 5e-3 * deflection, "{weight} {angle} {errors:?} of {deflection}");
        }
    }
}
