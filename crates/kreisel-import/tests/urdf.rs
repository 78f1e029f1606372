//! What becomes of URDF files, good and bad.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{model_as, moves_as_two_circles_say, read_as, refused_as};
use kreisel::machine::shape::Geometry;
use kreisel_import::{Choices, Folder, import, import_text, to_urdf};
use std::path::Path;

const MASS: &str = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>";

fn read(text: &str) -> Result<Folder, String> {
    read_as("urdf", text)
}

/// Two links and a joint of this type with these elements.
fn pair(joint: &str, inside: &str) -> String {
    format!(
        "<robot name='pair'>\n<link name='a'>{MASS}</link>\n<link name='b'>{MASS}</link>\n\
         <joint name='j' type='{joint}'><parent link='a'/><child link='b'/>{inside}</joint>\n</robot>"
    )
}

fn refused(text: &str, line: usize, reason: &str) {
    refused_as("urdf", text, line, reason);
}

#[test]
fn bad_files_are_refused_with_line_and_reason() {
    refused("<robot>\n<link name='a'>\n</robot>", 3, "not valid XML");
    refused("<robot name='r'/>", 1, "no links");
    refused("<sdf/>", 1, "holds a `<robot>`");
    refused(&pair("revolut", ""), 4, "unknown type `revolut`");
    refused(&pair("revolute", ""), 4, "needs an element `<limit>`");
    refused(&pair("continuous", "<axis xyz='0 0 0'/>"), 4, "no direction");
    refused(&pair("continuous", "<axis xyz='0 0 NaN'/>"), 4, "finite numbers, not `NaN`");
    refused(&pair("continuous", "<axis xyz='0 1'/>"), 4, "3 number(s), not 2");
    refused(&pair("continuous", "<mimic joint='k'/>"), 4, "no joint `k`");
    refused(&pair("continuous", "<mimic joint='j'/>"), 4, "follows itself");
    refused(&pair("continuous", "<dynamics damping='-1'/>"), 4, "damping of the joint `j` is negative");
    refused(&pair("fixed", "").replace("child link='b'", "child link='c'"), 4, "no link `c`");
    refused(&pair("fixed", "").replace("name='b'", "name='a'"), 3, "there twice");
    let weightless = pair("continuous", "").replace(&format!("'b'>{MASS}"), "'b'>");
    refused(&weightless, 3, "moves but has no mass");
    let zero = pair("continuous", "").replace("ixx='1' iyy='1' izz='1'", "ixx='0' iyy='0' izz='0'");
    refused(&zero, 3, "a mass but no inertia");
    refused(&pair("continuous", "").replace("izz='1'", "izz='3'"), 3, "an inertia that no body has");
}

#[test]
fn cycles_and_loose_links_are_refused() {
    let third = |parent: &str, child: &str| {
        format!(
            "<joint name='k' type='fixed'><parent link='{parent}'/><child link='{child}'/></joint></robot>"
        )
    };
    refused(&pair("fixed", "").replace("</robot>", &third("b", "a")), 1, "cycle");
    refused(&pair("fixed", "").replace("</robot>", &third("a", "b")), 5, "moved by two joints");
    let loose = pair("fixed", "").replace("</robot>", "<link name='c'/></robot>");
    refused(&loose, 5, "no joint connects");
}

#[test]
fn fixed_links_are_one_body_with_the_sum_of_masses() {
    let folder = read(&pair("fixed", "<origin xyz='2 0 0'/>")).unwrap();
    assert_eq!(folder.counts, [1, 0]);
    // Two masses of 1 kg at a distance of 1 m from their centre.
    assert!(
        folder.model.contains("mass = 2\ninertia = [2, 4, 4]\nposition = [1, 0, 0]\n"),
        "{}",
        folder.model
    );
}

#[test]
fn limits_losses_and_mimics_become_parts() {
    let limit = "<limit lower='-1' upper='2' effort='50'/><dynamics damping='0.5' friction='0.1'/>";
    let folder = read(&pair("revolute", limit)).unwrap();
    for part in ["[[torsional-end-stop]]", "damping = 0.5", "torque = 0.1", "torque = \"j_torque\""] {
        assert!(folder.model.contains(part), "{part}: {}", folder.model);
    }
    // 50 Nm over 0.01 rad, less than the inertia of 1 kg m² at 20 Hz asks for.
    assert!(folder.model.contains("stiffness = 15800\n"), "{}", folder.model);
}

#[test]
fn every_type_of_joint_makes_a_model_that_can_be_read() {
    let limit = "<limit lower='-1' upper='1' effort='1'/>";
    for joint in ["fixed", "revolute", "continuous", "prismatic", "planar", "floating", "spherical"] {
        for floating in [false, true] {
            let folder = import_text("urdf", &pair(joint, limit), Choices { floating }).unwrap().unwrap();
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("pair.toml");
            std::fs::write(&path, &folder.model).unwrap();
            if let Err(errors) = kreisel::read(&path) {
                panic!("{joint}: {}\n{}", errors.render(false), folder.model);
            }
        }
    }
}

#[test]
fn missing_surfaces_are_told_with_their_line_and_others_are_kept() {
    let place = tempfile::tempdir().unwrap();
    let corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]].map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    std::fs::write(place.path().join("t.obj"), corners.concat() + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        .unwrap();
    let visual = |file: &str| format!("<visual><geometry><mesh filename='{file}'/></geometry></visual>");
    let text = pair("continuous", "").replacen("</link>", &format!("{}</link>", visual("t.obj")), 1);
    let text =
        text.replace("</link>\n<joint", &format!("\n{}</link>\n<joint", visual("package://none/gone.stl")));
    let path = place.path().join("r.urdf");
    std::fs::write(&path, text).unwrap();
    let folder = import(&path, Choices::default()).unwrap();
    assert_eq!(folder.left, ["line 4: the surface `package://none/gone.stl`: the file is not found"]);
    assert_eq!(folder.surfaces.len(), 1);
    assert!(folder.model.contains("position = [0.25, 0.25, 0.25]"), "{}", folder.model);
}

#[test]
fn hostile_names_and_depths_do_no_harm() {
    let text = pair("continuous", "").replace("'a'", "'a\"]&#10;[[x]]'").replace("'b'", "'ground'");
    let folder = read(&text).unwrap();
    assert!(folder.model.contains("name = \"a_____x__\"") && folder.model.contains("name = \"ground_link\""));
    let deep = format!("<robot>{}{}</robot>", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(read(&deep).is_err());
}

#[test]
fn what_is_not_taken_over_is_listed() {
    let left = |text: &str| read(text).unwrap().left.join("\n");
    assert_eq!(left(&pair("continuous", "")), "");
    let told = |text: &str, what: &str| assert!(left(text).contains(what), "{}", left(text));
    told(&pair("continuous", "<gadget/>"), "`<gadget>` of a joint");
    told(
        &pair("continuous", "").replace("<link name='b'>", "<link name='b'><gadget/>"),
        "`<gadget>` of a link",
    );
    told(&pair("planar", "<limit lower='-1' upper='1'/>"), "bounds of `j`");
    told(&pair("floating", "<dynamics damping='1'/>"), "damping and friction of `j`");
    told(&pair("spherical", "<dynamics damping='1'/>"), "damping, friction and stiffness");
    let light = pair("fixed", "").replace("'b'><inertial><mass value='1'", "'b'><inertial><mass value='0'");
    told(&light, "the inertia of `b`");
}

/// A four-bar cut open where the coupler meets the rocker: URDF has no loops.
const CUT: &str = "<robot name='four-bar'>
    <link name='base'/>
    <link name='crank'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>
    <link name='coupler'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>
    <link name='rocker'><inertial><origin xyz='0 0 0.8'/><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>
    <joint name='a' type='continuous'><parent link='base'/><child link='crank'/><axis xyz='0 1 0'/></joint>
    <joint name='b' type='continuous'><origin xyz='0 0 0.3'/><parent link='crank'/><child link='coupler'/><axis xyz='0 1 0'/></joint>
    <joint name='d' type='continuous'><origin xyz='1 0 0'/><parent link='base'/><child link='rocker'/><axis xyz='0 1 0'/></joint>
    </robot>";

#[test]
fn a_loop_is_closed_by_hand_with_one_more_joint() {
    let joint = "\n[[spherical]]\nname = 'c'\nbodies = ['coupler', 'rocker']\npoint = [1, 0, 0.8]\n";
    moves_as_two_circles_say(&(model_as("urdf", CUT) + joint));
}

/// The model of a text, written as URDF.
fn exported(model: &str) -> Result<kreisel_import::Exported, String> {
    let reader = kreisel::part::MachineReader::new();
    let document = kreisel::model::Document::from_text("model.toml", model, &reader.kinds(), &[]);
    let made = document.and_then(|document| {
        let machine = reader.document(&document)?;
        to_urdf("robot", &document, &machine)
    });
    made.map_err(|errors| errors.render(false))
}

/// Accelerations of some joints at some states.
fn accelerations(model: &str, joints: &[&str]) -> Vec<f64> {
    let names: Vec<String> = joints.iter().map(|&joint| joint.to_owned()).collect();
    let led = kreisel::part::MachineReader::new().led_text("model.toml", model, Some(&names)).unwrap();
    let dynamics = kreisel::run::Dynamics::new(led);
    let mut at = dynamics.evaluator();
    let numbers = |seed: usize, size: f64| -> Vec<f64> {
        (0..joints.len()).map(|joint| size * ((3 * joint + 7 * seed) as f64).sin()).collect()
    };
    (0..4)
        .flat_map(|seed| {
            // Fingers stay within their 10 mm.
            at.set_state(&numbers(seed, 0.009), &numbers(seed + 10, 2.0)).unwrap();
            at.forward(&numbers(seed + 20, 5.0)).unwrap()
        })
        .collect()
}

fn assert_same(one: &[f64], other: &[f64]) {
    let size = one.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    for (a, b) in one.iter().zip(other) {
        // Rounding of frames that are put together anew.
        assert!((a - b).abs() < 1e-11 * size, "{a} {b}");
    }
}

#[test]
fn an_arm_goes_to_a_model_and_back_and_accelerates_the_same() {
    let model = model_as("urdf", include_str!("../../../models/arm.urdf"));
    let urdf = exported(&model).unwrap();
    let again = model_as("urdf", &urdf.text);
    let joints = ["turn", "shoulder", "elbow", "left"];
    assert_same(&accelerations(&model, &joints), &accelerations(&again, &joints));
    // Bounds, losses, the joint that follows, the tool and looks are there again.
    for words in [
        "lower = -1.2\nupper = 2\n",
        "damping = 0.3",
        "torque = 0.2",
        "[\"right\", \"left\"]",
        "name = \"tool\"",
    ] {
        assert!(again.contains(words), "{words}: {again}");
    }
    for kind in ["box", "cylinder", "sphere"] {
        let count = |text: &str| text.matches(&format!("kind = \"{kind}\"")).count();
        assert_eq!(count(&model), count(&again), "{kind}");
    }
    assert!(again.contains("name = \"base\"") && !again.contains("world"), "{again}");
    assert!(urdf.left.iter().any(|left| left.contains("joint-force `shoulder_motor`")), "{:?}", urdf.left);
}

/// Bodies turned oddly, a joint whose first body is the far one, axes along which angles of URDF are singular.
const ODD: &str = r#"
[simulation]
end-time = 1
[[body]]
name = "a"
mass = 2
inertia = [0.1, 0.2, 0.25, 0.01, -0.02, 0.03]
position = [0.3, 0.1, 0.2]
orientation = { axis = [1, 2, 3], angle = 1.1 }
[[body]]
name = "b"
mass = 1
inertia = [0.1, 0.12, 0.15]
position = [0.9, 0.1, 0.4]
orientation = { axis = [0, 1, 0], angle = "90 deg" }
[[body]]
name = "c"
mass = 0.5
inertia = [0.02, 0.03, 0.04]
position = [1.2, 0.3, 0.4]
[[revolute]]
name = "one"
bodies = ["ground", "a"]
point = [0, 0, 0.1]
axis = [1, 0, 0]
[[revolute]]
name = "two"
bodies = ["b", "a"]
point = [0.6, 0.1, 0.3]
axis = [-1, 0.2, 0.3]
[[prismatic]]
name = "three"
bodies = ["b", "c"]
axis = [0, 1, 1]
"#;

#[test]
fn joints_of_any_direction_and_order_of_bodies_come_back() {
    let urdf = exported(ODD).unwrap();
    let again = model_as("urdf", &urdf.text);
    let joints = ["one", "two", "three"];
    assert_same(&accelerations(ODD, &joints), &accelerations(&again, &joints));
}

#[test]
fn surfaces_are_written_beside_and_stand_where_they_stood() {
    let place = tempfile::tempdir().unwrap();
    let corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]].map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    std::fs::write(place.path().join("t.obj"), corners.concat() + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        .unwrap();
    let visual = "<visual><origin xyz='0 0 2'/><geometry><mesh filename='t.obj'/></geometry></visual></link>";
    let path = place.path().join("r.urdf");
    // On the second link, which moves.
    std::fs::write(&path, pair("continuous", "").replace("</link>\n<joint", &format!("{visual}\n<joint")))
        .unwrap();
    let write = |folder: &str, surfaces: &[(String, Vec<u8>)], file: &str, text: &str| {
        let folder = place.path().join(folder);
        std::fs::create_dir_all(folder.join("meshes")).unwrap();
        surfaces.iter().for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes).unwrap());
        std::fs::write(folder.join(file), text).unwrap();
        folder.join(file)
    };
    let reader = kreisel::part::MachineReader::new();
    let read = |path: &Path| {
        let document = kreisel::model::Document::read(path, &reader.kinds(), &[]).unwrap();
        let machine = reader.document(&document).unwrap();
        (document, machine)
    };
    // Corners of the surface in the world.
    let corners = |machine: &kreisel::machine::Machine| -> Vec<nalgebra::Vector3<f64>> {
        let body = machine.frames().bodies().iter().find(|body| body.name == "b").unwrap();
        let solid = &machine.look_of(body.node).unwrap().shapes[0].solid;
        let Geometry::Mesh(triangles) = &solid.geometry else { panic!("a surface") };
        let frame = body.pose.compose(&solid.frame);
        triangles.iter().flatten().map(|corner| frame.transform_point(corner)).collect()
    };
    let first = import(&path, Choices::default()).unwrap();
    let (document, machine) = read(&write("model", &first.surfaces, "r.toml", &first.model));
    let urdf = to_urdf("r", &document, &machine).unwrap();
    assert_eq!(urdf.surfaces.len(), 1);
    let again = import(&write("urdf", &urdf.surfaces, "r.urdf", &urdf.text), Choices::default()).unwrap();
    let (_, back) = read(&write("back", &again.surfaces, "r.toml", &again.model));
    let [one, other] = [&machine, &back].map(corners);
    assert_eq!(one.len(), 12);
    assert!((one.iter().map(|corner| corner.z).fold(0.0, f64::max) - 3.0).abs() < 1e-6);
    for (one, other) in one.iter().zip(&other) {
        // Surfaces have numbers of 24 bits.
        assert!((one - other).norm() < 1e-6, "{one} {other}");
    }
}

#[test]
fn what_urdf_cannot_say_is_refused_by_name_and_line() {
    let cases = [
        ("[[spherical]]\nname = 'odd'\nbodies = ['c', 'ground']\npoint = [1, 0, 0]", "`[[spherical]]`"),
        (
            "[[revolute]]\nname = 'odd'\nbodies = ['c', 'ground']\npoint = [1, 0, 0]",
            "`three` must be a joint of a tree",
        ),
        ("[[force]]\nname = 'odd'\nbody = 'c'\nforce = [1, 0, 0]", "`[[force]]`"),
        ("[[torsional-spring-damper]]\nname = 'odd'\njoint = 'one'\nstiffness = 3", "a spring"),
        ("[[body]]\nname = 'odd'\nmass = 1\ninertia = [1, 1, 1]", "moves apart"),
    ];
    for (more, reason) in cases {
        let message = exported(&format!("{ODD}{more}\n")).err().unwrap();
        // Of a loop the joint is named that is the last one on the way around.
        let line = if reason.contains("three") { "model.toml:31:" } else { "model.toml:35:" };
        assert!(message.contains(reason) && message.contains(line), "{message}");
        assert!(message.contains("`odd`") || reason.contains("three"), "{message}");
    }
}
