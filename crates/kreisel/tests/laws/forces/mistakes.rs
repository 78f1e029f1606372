//! Wrong forces, shapes and markers, each with the words that its message must have.

use super::read;

/// A wrong part beside a sound machine, and what the message must say.
const MISTAKES: &[(&str, &[&str])] = &[
    (
        "[[spring-damper]]\nbodies = [\"ground\", \"wheel.pin\"]\nstiffness = -1",
        &["`stiffness`", "zero or positive"],
    ),
    (
        "[[spring-damper]]\nbodies = [\"ground\", \"wheel\"]\nstiffness = 1",
        &["two points apart", "[[bushing]]"],
    ),
    (
        "[[spring-damper]]\nbodies = [\"ground\", \"wheel\"]\npoints = [[1, 0, 0], [0, 0, 0]]\nstiffness = 1\nfree-length = -1",
        &["`free-length`", "zero or positive"],
    ),
    ("[[spring-damper]]\nbodies = [\"ground\", \"wheel.pin\"]", &["of some effect", "`stiffness`"]),
    (
        "[[spring-damper]]\nbodies = [\"ground\", \"wheel.pin\"]\npoints = [[0, 0, 0], [1, 0, 0]]\nstiffness = 1",
        &["`points`", "no marker is named"],
    ),
    ("[[spring-damper]]\nbodies = [\"wheel.pin\", \"wheel\"]\nstiffness = 1", &["two different bodies"]),
    ("[[spring-damper]]\nbodies = [\"ground\", \"whell\"]\nstiffness = 1", &["no body `whell`", "wheel"]),
    (
        "[[spring-damper]]\nbodies = [\"ground\", \"wheel.pen\"]\nstiffness = 1",
        &["no marker `wheel.pen`", "wheel.pin"],
    ),
    ("[[spring-damper]]\nstiffness = 1", &["exactly one of `bodies`, `joint`", "none"]),
    (
        "[[spring-damper]]\njoint = \"axle\"\nstiffness = 1",
        &["the joint `axle` must be one with a displacement", "a revolute joint", "`angle`"],
    ),
    (
        "[[spring-damper]]\nbodies = [\"ground\", \"wheel.pin\"]\nstiffness = 1\nforce = { points = [[0, 0], [1, 1]] }",
        &["exactly one of `stiffness`, `force`"],
    ),
    (
        "[[spring-damper]]\nbodies = [\"ground\", \"wheel.pin\"]\nstiffness = \"1 Nm/rad\"",
        &["stiffness (N/m)"],
    ),
    ("[[torsional-spring-damper]]\njoint = \"axel\"\nstiffness = 1", &["no joint `axel`", "axle"]),
    (
        "[[torsional-spring-damper]]\njoint = \"ball\"\nstiffness = 1",
        &["the joint `ball` must be one with an angle", "a spherical joint", "no free coordinate"],
    ),
    ("[[torsional-spring-damper]]\njoint = \"axle\"\nstiffness = \"1 N/m\"", &["Nm/rad"]),
    (
        "[[torsional-spring-damper]]\njoint = \"axle.angel\"\nstiffness = 1",
        &["no joint coordinate `axle.angel`", "axle.angle"],
    ),
    ("[[torsional-spring-damper]]\njoint = \"axle\"\ndamping = -0.1", &["`damping`", "zero or positive"]),
    ("[[joint-friction]]\njoint = \"axle\"", &["exactly one of `force`, `torque`"]),
    ("[[joint-friction]]\njoint = \"axle\"\nforce = 1", &["must be one with a displacement"]),
    ("[[joint-friction]]\njoint = \"axle\"\ntorque = -1", &["`torque`", "zero or positive"]),
    (
        "[[joint-friction]]\njoint = \"axle\"\ntorque = 1\ntransition-rate = 0",
        &["`transition-rate`", "positive"],
    ),
    (
        "[[joint-friction]]\njoint = \"axle\"\ntorque = 1\ntransition-speed = 1",
        &["`transition-speed`", "no effect"],
    ),
    ("[[torsional-end-stop]]\njoint = \"axle\"\nstiffness = 1", &["needs the key `upper`", "`lower`"]),
    (
        "[[torsional-end-stop]]\njoint = \"axle\"\nlower = 1\nupper = 0\nstiffness = 1",
        &["above the lower bound 1"],
    ),
    ("[[torsional-end-stop]]\njoint = \"axle\"\nupper = 1\nstiffness = 0", &["`stiffness`", "positive"]),
    ("[[end-stop]]\njoint = \"axle\"\nupper = 1\nstiffness = 1", &["must be one with a displacement"]),
    (
        "[[bushing]]\nbodies = [\"ground\", \"wheel\"]\ntranslational-stiffness = [1, 1, 1]",
        &["joined at a place", "`point`"],
    ),
    ("[[bushing]]\nbodies = [\"ground\", \"wheel.pin\"]", &["of some effect", "translational-stiffness"]),
    (
        "[[bushing]]\nbodies = [\"ground\", \"wheel.pin\"]\ntranslational-stiffness = [1, -1, 1]",
        &["zero or positive in every direction", "-1"],
    ),
    (
        "[[bushing]]\nbodies = [\"ground\", \"wheel.pin\"]\ntranslational-stiffness = [1, 1, 1]\nrotational-stiffness = [1, 1, 1]\ncoupling-stiffness = [[0, 2, 0], [0, 0, 0], [0, 0, 0]]",
        &["`coupling-stiffness`", "small enough"],
    ),
    (
        "[[bushing]]\nbodies = [\"ground\", \"dot\"]\npoint = [0, 0, 0]\nrotational-stiffness = [1, 1, 1]",
        &["bodies that turn", "point mass `dot`"],
    ),
    ("[[joint-force]]\njoint = \"axle\"", &["exactly one of `force`, `torque`"]),
    ("[[joint-force]]\njoint = \"axle\"\nforce = 1", &["must be one with a displacement"]),
    ("[[joint-force]]\njoint = \"axle\"\ntorque = \"axle.torque.z\"", &["positions, velocities and states"]),
    ("[[force]]\nbody = \"ground\"\nforce = [1, 0, 0]", &["a body that can move", "the ground"]),
    ("[[force]]\nbody = \"wheel\"", &["needs the key `force`", "`torque`"]),
    ("[[force]]\nbody = \"dot\"\ntorque = [1, 0, 0]", &["point mass", "does not turn"]),
    (
        "[[force]]\nbody = \"wheel.pin\"\npoint = [0, 0, 0]\nforce = [1, 0, 0]",
        &["`point`", "no marker is named"],
    ),
    ("[[force]]\nbody = \"wheel\"\nforce = [\"axle.anlge\", 0, 0]", &["`axle.anlge`", "axle.angle"]),
    (
        "[[force]]\nbody = \"wheel\"\nforce = [\"-wheel.acceleration.x\", 0, 0]",
        &["positions, velocities and states", "added mass"],
    ),
    (
        "[[force]]\nbody = \"wheel\"\nforce = [\"2*axle.force.x\", 0, 0]",
        &["positions, velocities and states", "bushing"],
    ),
    (
        "[[force]]\nbody = \"wheel\"\nforce = [\"p0.position.x + p1.position.x + p2.position.x + p3.position.x\", 0, 0]",
        &["at most 4 bodies", "`p3.position.x`"],
    ),
    ("[[force]]\nbody = \"wheel\"\nforce = [\"1 kg\", 0, 0]", &["force (N)"]),
    ("[[point-mass]]\nmass = 0", &["`mass`", "positive"]),
    ("[[marker]]\nname = \"pin\"\nbody = \"wheel\"", &["`pin`", "once on `wheel`"]),
    ("[[marker]]\nname = \"there\"\nbody = \"nobody\"", &["no body `nobody`"]),
    ("[[body]]\nmass = 1", &["needs the key `inertia`", "`shape`"]),
    ("[[body]]\nshape = { kind = \"sphere\", radius = 1 }", &["exactly one of `density`, `mass`", "none"]),
    (
        "[[body]]\ndensity = 1\nmass = 1\nshape = { kind = \"sphere\", radius = 1 }",
        &["exactly one of", "both"],
    ),
    ("[[body]]\ndensity = -1\nshape = { kind = \"sphere\", radius = 1 }", &["`density`", "positive"]),
    ("[[body]]\ndensity = 1\nshape = { kind = \"sphere\" }", &["needs the key `radius`"]),
    ("[[body]]\ndensity = 1\nshape = { kind = \"sphere\", radius = 0 }", &["`radius`", "positive"]),
    (
        "[[body]]\ndensity = 1\nshape = { kind = \"sphere\", radius = 1, length = 1 }",
        &["`length`", "no effect"],
    ),
    ("[[body]]\ndensity = 1\nshape = { kind = \"box\", size = [1, 0, 1] }", &["three positive lengths"]),
    ("[[body]]\ndensity = 1\nshape = { kind = \"frustum\", radii = [0, 0], length = 1 }", &["`radii`"]),
    ("[[body]]\ndensity = 1\nshape = { kind = \"ball\", radius = 1 }", &["one of `sphere`", "\"ball\""]),
    ("[[body]]\ndensity = 1\nshape = { kind = \"sphere\", radius = 1e-200 }", &["volume"]),
    (
        "[[body]]\ndensity = 1\nshape = { kind = \"sphere\", radius = 1, position = [1, 0, 0] }",
        &["`position`", "no effect"],
    ),
    ("[[body]]\ndensity = 1\nshape = { kind = \"stl\", file = \"x.stl\" }", &["a text has no folder"]),
    ("[[body]]\nmass = 1\ndensity = 1\ninertia = [1, 1, 1]", &["`density`", "no effect"]),
];

#[test]
fn mistakes_are_named_with_their_remedy() {
    let sound = r#"
        [[body]]
        name = "wheel"
        mass = 1
        inertia = [1, 1, 1]
        markers = [{ name = "pin", position = [0.1, 0, 0] }]
        [[point-mass]]
        name = "dot"
        mass = 1
        [[point-mass]]
        name = "p{i}"
        repeat = 4
        mass = 1
        position = [0, 0, "i + 1"]
        [[revolute]]
        name = "axle"
        bodies = ["ground", "wheel"]
        point = [0, 0, 0]
        [[spherical]]
        name = "ball"
        bodies = ["wheel", "p0"]
        point = [0, 0, 1]
    "#;
    assert!(read(sound).is_ok());
    for (part, expected) in MISTAKES {
        let message = read(&format!("{sound}\n{part}")).err().unwrap_or_else(|| panic!("accepted:\n{part}"));
        for words in *expected {
            assert!(message.contains(words), "for\n{part}\nthe message lacks {words:?}:\n{message}");
        }
        assert!(message.contains("model.toml"), "{message}");
    }
}
