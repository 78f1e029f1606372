//! What bodies weigh that are made of several shapes and lumps: closed forms, and no place is special.

use crate::common::{column, read, within};
use kreisel::lie::{Matrix3, Pose, UnitQuaternion, Vector3};
use kreisel::machine::{BodyEntry, Machine};

fn machine(text: &str) -> Machine {
    read(text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn body(keys: &str) -> BodyEntry {
    machine(&format!("[[body]]\nname = 'it'\n{keys}")).frames().bodies()[0].clone()
}

/// Mass, centre of mass from the origin, inertia about it, against what is expected.
fn assert_weighs(name: &str, body: &BodyEntry, mass: f64, centre: [f64; 3], inertia: [f64; 6]) {
    // Some ten roundings of numbers below ten.
    within(name, (body.mass - mass).abs(), 1e-13 * mass);
    within(name, (-body.origin - Vector3::from(centre)).norm(), 1e-14);
    let [xx, yy, zz, xy, xz, yz] = inertia;
    let expected = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    within(name, (body.inertia - expected).amax(), 1e-13 * expected.amax());
}

#[test]
fn two_shapes_weigh_what_the_parallel_axes_theorem_says() {
    // A dumbbell: balls of 2 kg and 6 kg, 0.4 m apart on x; the centre of mass is 0.3 m from the first.
    let balls = "shapes = [{ kind = 'sphere', radius = 0.1, mass = 2 }, { kind = 'sphere', radius = 0.2, position = [0.4, 0, 0], mass = 6 }]";
    let own = 0.4 * (2.0 * 0.01 + 6.0 * 0.04);
    let across = own + 2.0 * 0.09 + 6.0 * 0.01;
    assert_weighs("dumbbell", &body(balls), 8.0, [0.3, 0.0, 0.0], [own, across, across, 0.0, 0.0, 0.0]);
    // A T of a bar of steel, 10 mm square and 0.2 m long on z from the origin, with a rod across on top of it: 20 mm
    // in radius, 0.1 m long on x, of 1000 kg/m³.
    let (rho, a) = (7850.0, 0.01);
    let stem = rho * a * a * 0.2;
    let tee = body(
        "density = 7850\nshapes = [{ kind = 'box', size = [0.01, 0.01, 0.2], position = [0, 0, 0.1] }, \
         { kind = 'cylinder', radius = 0.02, length = 0.1, position = [0, 0, 0.2], orientation = { z-axis = [1, 0, 0] }, density = 1000 }]",
    );
    let rod = 1000.0 * std::f64::consts::PI * 4e-4 * 0.1;
    let z = (stem * 0.1 + rod * 0.2) / (stem + rod);
    let apart = stem * (z - 0.1).powi(2) + rod * (0.2 - z).powi(2);
    let (thin, long) = (stem * 2.0 * a * a / 12.0, stem * (a * a + 0.04) / 12.0);
    let (along, over) = (rod * 4e-4 / 2.0, rod * (4e-4 / 4.0 + 0.01 / 12.0));
    let expected = [long + along + apart, long + over + apart, thin + over, 0.0, 0.0, 0.0];
    assert_weighs("T", &tee, stem + rod, [0.0, 0.0, z], expected);
    // The mass of the whole is shared by volume: a T of two bars of steel by its density, and by its mass.
    let bar = rho * a * a * 0.1;
    let shapes = "shapes = [{ kind = 'box', size = [0.01, 0.01, 0.2], position = [0, 0, 0.1] }, { kind = 'box', size = [0.1, 0.01, 0.01], position = [0, 0, 0.205] }]";
    let by_density = body(&format!("density = 7850\n{shapes}"));
    let by_mass = body(&format!("mass = {}\n{shapes}", stem + bar));
    within("shared", (by_density.inertia - by_mass.inertia).amax(), 1e-13 * by_density.inertia.amax());
    within("shared", (by_density.origin - by_mass.origin).norm(), 1e-15);
}

#[test]
fn lumps_and_a_centre_of_mass_elsewhere_add_up() {
    // 3 kg with the centre at y = 0.2, and a lump of 1 kg at y = −0.2: 0.1 in common, arms 0.1 and −0.3.
    let keys = "mass = 3\ninertia = [0.4, 0.5, 0.6]\ncentre-of-mass = [0, 0.2, 0]\nlumps = [{ mass = 1, position = [0, -0.2, 0] }]";
    let more = 3.0 * 0.01 + 1.0 * 0.09;
    assert_weighs("lump", &body(keys), 4.0, [0.0, 0.1, 0.0], [0.4 + more, 0.5, 0.6 + more, 0.0, 0.0, 0.0]);
    // A product of inertia: two lumps of 1 kg at ±(0.3, 0.4, 0) beside a ball.
    let keys = "mass = 3\ninertia = [1, 1, 1]\nlumps = [{ mass = 1, position = [0.3, 0.4, 0] }, { mass = 1, position = [-0.3, -0.4, 0] }]";
    assert_weighs("pair", &body(keys), 5.0, [0.0; 3], [1.32, 1.18, 1.5, -0.24, 0.0, 0.0]);
    // Four lumps alone: a square of 1 m, 1 kg each.
    let keys = "lumps = [{ mass = 1 }, { mass = 1, position = [1, 0, 0] }, { mass = 1, position = [0, 1, 0] }, { mass = 1, position = [1, 1, 0] }]";
    assert_weighs("square", &body(keys), 4.0, [0.5, 0.5, 0.0], [1.0, 1.0, 2.0, 0.0, 0.0, 0.0]);
}

#[test]
fn where_and_how_shapes_are_drawn_on_a_body_does_not_change_it() {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.4, -0.9, 0.7));
    let moved = Pose::new(turn, Vector3::new(0.3, -0.5, 0.2));
    let pieces = [
        ("kind = 'box', size = [0.1, 0.2, 0.3], density = 700", [0.1, 0.0, 0.0], [0.0, 0.0, 0.3]),
        ("kind = 'cone', radius = 0.1, length = 0.4, mass = 2", [0.0, 0.3, -0.1], [0.5, 0.1, 0.0]),
        ("kind = 'capsule', radius = 0.05, length = 0.2, density = 900", [-0.2, 0.0, 0.4], [0.0, 1.0, 0.2]),
    ];
    let written = |world: &Pose| {
        let shapes = pieces.map(|(keys, place, turned)| {
            let frame =
                world.compose(&Pose::new(UnitQuaternion::from_scaled_axis(turned.into()), place.into()));
            let (p, q) = (frame.position, frame.rotation);
            format!(
                "{{ {keys}, position = [{}, {}, {}], orientation = {{ quaternion = [{}, {}, {}, {}] }} }}",
                p.x, p.y, p.z, q.w, q.i, q.j, q.k
            )
        });
        let lump = world.transform_point(&Vector3::new(0.1, 0.2, 0.3));
        body(&format!(
            "shapes = [{}]\nlumps = [{{ mass = 0.7, position = [{}, {}, {}] }}]",
            shapes.join(", "),
            lump.x,
            lump.y,
            lump.z
        ))
    };
    let (here, there) = (written(&Pose::identity()), written(&moved));
    within("mass", (here.mass - there.mass).abs(), 1e-14);
    within("centre", (moved.transform_point(&-here.origin) + there.origin).norm(), 1e-14);
    let rotation = turn.to_rotation_matrix().into_inner();
    let turned = rotation * here.inertia * rotation.transpose();
    within("inertia", (turned - there.inertia).amax(), 1e-14);
}

#[test]
fn a_pendulum_of_shapes_swings_like_the_one_of_their_mass_and_inertia() {
    let common = "[simulation]\nend-time = 1\nstep = 1e-3\nmethod = 'index2'\n[[revolute]]\nname = 'hinge'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n";
    let of_shapes = machine(&format!(
        "{common}[[body]]\nname = 'arm'\nposition = [0, 0, 0]\nvelocity = [0, 0, 0]\ncolour = 'red'\n\
         shapes = [{{ kind = 'sphere', radius = 0.1, position = [0.4, 0, 0], mass = 2 }}, {{ kind = 'sphere', radius = 0.1, position = [0.8, 0, 0], mass = 2, colour = '#00FF00', visible = true }}]\n\
         markers = [{{ name = 'end', position = [1, 0, 0] }}]\n[[marker]]\nname = 'middle'\nbody = 'arm'\nposition = [0.5, 0, 0]\n"
    ));
    let own = 2.0 * 0.4 * 2.0 * 0.01;
    let across = own + 2.0 * 2.0 * 0.04;
    let by_numbers = machine(&format!(
        "{common}[[body]]\nname = 'arm'\nmass = 4\ninertia = [{own}, {across}, {across}]\nposition = [0.6, 0, 0]\n"
    ));
    let ends = [&of_shapes, &by_numbers]
        .map(|machine| column(&machine.simulate().unwrap(), "hinge.angle").last().copied().unwrap());
    within("angle", (ends[0] - ends[1]).abs(), 1e-10);
    let entry = &of_shapes.frames().bodies()[0];
    let marker = |name: &str| {
        entry.markers.iter().find(|(known, _)| known == name).map(|(_, pose)| pose.position.x).unwrap()
    };
    for (name, place) in [("end", 0.4), ("middle", -0.1), ("origin", -0.6)] {
        within(name, (marker(name) - place).abs(), 1e-15);
    }
    let shapes = &of_shapes.scene().bodies[0].shapes;
    let colours: Vec<_> = shapes.iter().map(|shape| shape.colour.as_deref()).collect();
    assert_eq!(colours, [Some("#c8372d"), Some("#00ff00")]);
    within("drawn", (shapes[1].frame.position[0] - 0.2).abs(), 1e-15);
    assert_eq!(shapes[1].linear_colour(), Some([0.0, 1.0, 0.0]));
}

#[test]
fn the_marker_at_the_origin_is_there_wherever_the_centre_of_mass_comes_out() {
    for place in [-0.1, 0.0, 0.1] {
        let keys = format!("mass = 1\ninertia = [1, 1, 1]\ncentre-of-mass = [{place}, 0, 0]");
        let origin =
            body(&keys).markers.iter().find(|(name, _)| name == "origin").map(|(_, pose)| pose.position.x);
        assert_eq!(origin, Some(-place));
    }
    assert!(body("mass = 1\ninertia = [1, 1, 1]").markers.is_empty());
}

#[test]
fn what_is_not_visible_weighs_and_is_not_drawn() {
    let shapes =
        |keys: &str| machine(&format!("[[body]]\nname = 'it'\n{keys}")).scene().bodies[0].shapes.len();
    let two = "shapes = [{ kind = 'sphere', radius = 0.1, mass = 2 }, { kind = 'sphere', radius = 0.2, mass = 6, visible = false }]";
    assert_eq!(shapes(two), 1);
    assert_eq!(body(two).mass, 8.0);
    assert_eq!(shapes("mass = 1\ninertia = [1, 1, 1]\nvisible = false"), 0);
    assert!(shapes("mass = 1\ninertia = [1, 1, 1]") > 0);
}

#[test]
fn names_of_markers_belong_to_their_body() {
    let two = "[[body]]\nname = 'a'\nmass = 1\ninertia = [1, 1, 1]\n[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\nposition = [1, 0, 0]\n";
    let marker = |body: &str| format!("[[marker]]\nname = 'tip'\nbody = '{body}'\nposition = [0.1, 0, 0]\n");
    let sensor = "[[sensor]]\nquantity = 'position'\nof = 'b.tip'\n";
    let run = machine(&format!(
        "[simulation]\nend-time = 0.01\n{two}{}{}{}{sensor}",
        marker("a"),
        marker("b"),
        marker("ground")
    ))
    .simulate()
    .unwrap();
    within("b.tip", (column(&run, "b.tip.position.x")[0] - 1.1).abs(), 1e-15);
    let message = read(&format!("{two}{}{}", marker("a"), marker("a"))).map(drop).unwrap_err();
    assert!(message.contains("tip") && message.contains("used twice"), "{message}");
}

#[test]
fn a_mistake_in_a_repeated_part_is_told_once() {
    for text in [
        "[[body]]\nname = 'a{i}'\nrepeat = 50\nmass = -1\ninertia = [1, 1, 1]\n",
        "[[body]]\nname = 'a'\nrepeat = 50\nmass = 1\ninertia = [1, 1, 1]\n",
        "[[body]]\nname = 'a{i}'\nrepeat = 50\nmass = 1\ninertia = [1, 1, 1]\nposition = ['i + lenght', 0, 0]\n",
    ] {
        let message = read(text).map(drop).unwrap_err();
        assert_eq!(message.matches("error").count(), 1, "{message}");
    }
}

#[test]
fn mistakes_in_shapes_and_lumps_are_told() {
    for (keys, words) in [
        ("shapes = [{ kind = 'sphere', radius = 0.1 }]", "density"),
        ("shapes = []\ndensity = 1", "one shape at least"),
        ("mass = 2\nshapes = [{ kind = 'sphere', radius = 0.1, mass = 1 }]", "left out"),
        ("mass = 2\ndensity = 2\nshapes = [{ kind = 'sphere', radius = 0.1 }]", "exactly one of"),
        (
            "density = 2\nshapes = [{ kind = 'sphere', radius = 0.1, mass = 1, density = 1 }]",
            "exactly one of",
        ),
        (
            "density = 2\nshape = { kind = 'sphere', radius = 0.1 }\nshapes = [{ kind = 'sphere', radius = 0.1 }]",
            "exactly one of",
        ),
        (
            "mass = 2\ninertia = [1, 1, 1]\nshapes = [{ kind = 'sphere', radius = 0.1, density = 1 }]",
            "density",
        ),
        (
            "lumps = [{ mass = 1 }, { mass = 1, position = [1, 0, 0] }]",
            "three points that do not lie on one line",
        ),
        ("mass = 1\ninertia = [1, 1, 1]\nlumps = [{ mass = 0 }]", "positive"),
        ("mass = 1\ninertia = [1, 1, 1]\ncolour = 'bleu'", "`blue`"),
        (
            "density = 1\ncentre-of-mass = [1, 0, 0]\nshape = { kind = 'sphere', radius = 0.1 }",
            "centre-of-mass",
        ),
    ] {
        let message = read(&format!("[[body]]\nname = 'it'\n{keys}\n")).map(drop).unwrap_err();
        assert!(message.contains(words), "{keys}: {message}");
    }
}
