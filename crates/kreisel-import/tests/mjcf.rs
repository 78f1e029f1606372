//! What becomes of MJCF files, good and bad.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{model_as, moves_as_two_circles_say, read_as, refused_as};
use kreisel_import::{Choices, Folder, import};
use std::f64::consts::PI;

fn read(text: &str) -> Result<Folder, String> {
    read_as("xml", text)
}

/// A file with these lines in the world, the first of which is line 2.
fn world(inside: &str) -> String {
    format!("<mujoco><worldbody>\n{inside}\n</worldbody></mujoco>")
}

fn refused(text: &str, line: usize, reason: &str) {
    refused_as("xml", text, line, reason);
}

fn model(text: &str) -> String {
    model_as("xml", text)
}

/// The numbers of a key in the table of a part.
fn numbers(model: &str, part: &str, key: &str) -> Vec<f64> {
    let table = model.split("\n[[").find(|table| table.contains(&format!("name = \"{part}\""))).unwrap();
    let line = table.lines().find_map(|line| line.strip_prefix(&format!("{key} = "))).unwrap();
    line.trim_matches(['[', ']']).split(", ").map(|number| number.parse().unwrap()).collect()
}

fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    let size = expected.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    let off = |(found, expected): (&f64, &f64)| (found - expected).abs() > 1e-12 * size;
    assert!(!found.iter().zip(expected).any(off), "{found:?} is not {expected:?}");
}

#[test]
fn bad_files_are_refused_with_line_and_reason() {
    refused("<mujoco>\n<worldbody>\n</mujoco>", 3, "not valid XML");
    refused("<robot/>", 1, "holds a `<mujoco>`");
    refused("<mujoco/>", 1, "no bodies");
    refused("<mujoco>\n<compiler angle='grad'/></mujoco>", 2, "cannot be `grad`");
    refused("<mujoco>\n<compiler coordinate='global'/></mujoco>", 2, "global coordinates");
    refused("<mujoco>\n<include file='other.xml'/></mujoco>", 2, "a text has no folder");
    let body = |inside: &str| world(&format!("<body name='b'>\n{inside}\n<geom size='1'/></body>"));
    refused(&body("<joint type='screw'/>"), 3, "cannot be `screw`; known: free, ball, slide, hinge");
    refused(&body("<joint axis='0 0 0'/>"), 3, "no direction");
    refused(&body("<joint damping='-1'/>"), 3, "damping of the joint `b_joint` is negative");
    refused(&body("<joint class='c'/>"), 3, "no class `c`");
    refused(&body("<joint pos='0 0 x'/>"), 3, "finite numbers, not `x`");
    refused(&body("<geom type='box' size='1 1'/>"), 3, "needs 3 positive number(s)");
    refused(&body("<geom type='cube' size='1 1 1'/>"), 3, "cannot be `cube`");
    refused(&body("<replicate count='3'/>"), 3, "`<replicate>` is not read");
    refused(&body("<body name='b'/>"), 3, "there twice");
    refused(&world("<joint/>"), 2, "the world itself cannot move");
    refused(&world("<body>\n<joint/></body>"), 2, "moves but has no mass");
    let tail =
        |section: &str| body("<joint name='j'/>").replace("</mujoco>", &format!("\n{section}</mujoco>"));
    refused(&tail("<equality><connect body1='c'/></equality>"), 6, "no body `c`");
    refused(&tail("<equality><joint joint1='k'/></equality>"), 6, "no joint `k`");
    refused(&tail("<actuator><motor joint='k'/></actuator>"), 6, "no joint `k`");
}

#[test]
fn bodies_weigh_what_their_shapes_do() {
    // Density 1000 kg/m³ and moments about the centre, from tables of solids.
    let of = |geom: &str| model(&world(&format!("<body name='b'><freejoint/><geom {geom}/></body>")));
    let check = |geom: &str, mass: f64, [x, y, z]: [f64; 3]| {
        let model = of(geom);
        near(&numbers(&model, "b", "mass"), &[mass]);
        near(&numbers(&model, "b", "inertia"), &[x, y, z]);
    };
    let m = 4000.0 / 3.0 * PI * 0.001;
    check("size='0.1'", m, [0.004 * m; 3]);
    check("type='box' size='0.1 0.2 0.3'", 48.0, [48.0 * 0.13 / 3.0, 48.0 * 0.10 / 3.0, 48.0 * 0.05 / 3.0]);
    let m = 1000.0 * PI * 0.01 * 0.6;
    let across = m * (0.01 / 4.0 + 0.36 / 12.0);
    check("type='cylinder' size='0.1 0.3'", m, [across, across, 0.005 * m]);
    let m = 4000.0 / 3.0 * PI * 0.1 * 0.2 * 0.3;
    check("type='ellipsoid' size='0.1 0.2 0.3'", m, [0.026 * m, 0.02 * m, 0.01 * m]);
    // A given mass, and a line between two points: the axis is the first one of the world then.
    let model = of("type='cylinder' fromto='0 0 0 0.6 0 0' size='0.1' mass='2'");
    near(&numbers(&model, "b", "mass"), &[2.0]);
    near(&numbers(&model, "b", "position"), &[0.3, 0.0, 0.0]);
    near(&numbers(&model, "b", "inertia"), &[0.01, 0.065, 0.065]);
}

#[test]
fn classes_angles_and_several_joints_are_understood() {
    let text = "<mujoco><compiler angle='radian' autolimits='false'/><default><joint damping='0.5'/>\
        <default class='arm'><joint damping='2' range='-1 1' limited='true'/></default></default>\
        <worldbody><body name='b' childclass='arm' pos='0 0 1'>\
        <joint name='x' type='slide' axis='1 0 0'/><joint name='y' axis='0 1 0' ref='0.25' class='main'/>\
        <geom size='0.1'/></body></worldbody>\
        <equality><joint joint1='x' joint2='y' polycoef='0.1 3 0 0 0'/></equality>\
        <actuator><motor name='drive' joint='y' gear='50'/><position joint='x'/></actuator></mujoco>";
    let folder = read(text).unwrap();
    let model = model(text);
    assert!(model.contains("name = \"b_between_1\"") && model.contains("massless = true"), "{model}");
    assert!(model.contains("[[prismatic]]\nname = \"x\"\nbodies = [\"ground\", \"b_between_1\"]"), "{model}");
    assert!(model.contains("[[revolute]]\nname = \"y\"\nbodies = [\"b_between_1\", \"b\"]"), "{model}");
    near(&numbers(&model, "x_damper", "damping"), &[2.0]);
    near(&numbers(&model, "y_damper", "damping"), &[0.5]);
    near(&numbers(&model, "x_stop", "upper"), &[1.0]);
    assert!(!model.contains("y_stop"), "{model}");
    assert!(model.contains("torque = \"50*drive_torque\""), "{model}");
    assert!(model.contains("factors = [1, -3]\noffset = 0.1"), "{model}");
    let left = folder.left.join("\n");
    assert!(left.contains("`ref` of `y`") && left.contains("the actuator `position`"), "{left}");
}

#[test]
fn orientations_mean_the_same_in_every_form() {
    // A quarter turn about z and then one about the new x: x goes to y, y to z.
    let forms =
        ["euler='90 0 90'", "axisangle='1 1 1 120'", "xyaxes='0 1 0 0 0 1'", "quat='0.5 0.5 0.5 0.5'"];
    for form in forms {
        let text = world(&format!("<body name='b' {form}><freejoint/><geom size='0.1'/></body>"));
        let text = text.replace("<worldbody>", "<compiler eulerseq='zyx'/><worldbody>");
        let model = model(&text);
        let line = model.lines().find(|line| line.starts_with("orientation")).unwrap();
        let list = line.split(['[', ']']).nth(1).unwrap();
        let found: Vec<f64> = list.split(", ").map(|number| number.parse().unwrap()).collect();
        let off = found.iter().any(|part| (part - 0.5).abs() > 1e-15);
        assert!(!off, "{form}: {found:?}");
    }
    let text = world(
        "<body name='b' zaxis='1 0 0'><freejoint/><geom type='cylinder' size='0.1 0.3' mass='1'/></body>",
    );
    let moments = numbers(&model(&text), "b", "inertia");
    near(&moments, &[0.0325, 0.0325, 0.005]);
}

#[test]
fn included_files_stand_in_their_place_and_others_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let inside = place.path().join("robot");
    std::fs::create_dir(&inside).unwrap();
    let write = |name: &str, text: &str| std::fs::write(inside.join(name), text).unwrap();
    write("robot.xml", "<mujoco><include file='arm.xml'/></mujoco>");
    write(
        "arm.xml",
        "<mujoco><worldbody><body name='b'><freejoint/><include file='geom.xml'/></body></worldbody></mujoco>",
    );
    write("geom.xml", "<x><geom size='0.1' rgba='1 0 0 1'/></x>");
    let folder = import(&inside.join("robot.xml"), Choices::default()).unwrap();
    assert!(folder.model.contains("colour = \"#ff0000\""), "{}", folder.model);
    std::fs::write(place.path().join("outside.xml"), "<x/>").unwrap();
    write("robot.xml", "<mujoco>\n<include file='../outside.xml'/></mujoco>");
    let message = import(&inside.join("robot.xml"), Choices::default()).unwrap_err().render(false);
    assert!(message.contains("outside of the folder") && message.contains(":2:"), "{message}");
    // A file that includes itself comes to an end.
    write("robot.xml", "<mujoco><include file='robot.xml'/></mujoco>");
    let message = import(&inside.join("robot.xml"), Choices::default()).unwrap_err().render(false);
    assert!(message.contains("included twice"), "{message}");
}

#[test]
fn a_connected_four_bar_moves_as_two_circles_say() {
    let text = "<mujoco><worldbody>\
        <body name='crank'><joint name='a' axis='0 1 0'/><geom size='0.05' pos='0 0 0.15'/>\
        <body name='coupler' pos='0 0 0.3'><joint axis='0 1 0'/><geom size='0.05' pos='0.5 0 0.25'/></body></body>\
        <body name='rocker' pos='1 0 0'><joint axis='0 1 0'/><geom size='0.05' pos='0 0 0.8'/></body>\
        </worldbody><equality><connect body1='coupler' body2='rocker' anchor='1 0 0.5'/></equality></mujoco>";
    moves_as_two_circles_say(&model(text));
}

#[test]
#[cfg(unix)]
fn pipes_in_place_of_files_are_refused_and_not_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    for name in ["pipe.xml", "pipe.stl", "pipe.urdf", "pipe.sdf"] {
        assert!(std::process::Command::new("mkfifo").arg(path(name)).status().unwrap().success());
    }
    let refused = |name: &str| {
        let message = import(&path(name), Choices::default()).unwrap_err().render(false);
        assert!(message.contains("not a regular file"), "{name}: {message}");
        message
    };
    for name in ["pipe.xml", "pipe.urdf", "pipe.sdf"] {
        refused(name);
    }
    std::fs::write(path("whole.xml"), "<mujoco>\n<include file='pipe.xml'/>\n</mujoco>").unwrap();
    assert!(refused("whole.xml").contains("whole.xml:2:"));
    // What a surface is for is a look: it is left out, and that is told.
    let mesh = "<mujoco>\n<asset><mesh name='m' file='pipe.stl'/></asset>\n<worldbody><body name='b'>\n\
        <geom size='1'/><geom type='mesh' mesh='m' mass='0'/></body></worldbody></mujoco>";
    std::fs::write(path("mesh.xml"), mesh).unwrap();
    let left = import(&path("mesh.xml"), Choices::default()).unwrap().left;
    assert!(left.iter().any(|line| line.contains("not a regular file")), "{left:?}");
}
