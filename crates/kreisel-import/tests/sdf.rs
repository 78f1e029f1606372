//! What becomes of SDF files, good and bad.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{model_as, moves_as_two_circles_say, read_as, refused_as};
use kreisel::part::MachineReader;
use kreisel_import::Folder;

fn read(text: &str) -> Result<Folder, String> {
    read_as("sdf", text)
}

fn refused(text: &str, line: usize, reason: &str) {
    refused_as("sdf", text, line, reason);
}

fn model(text: &str) -> String {
    model_as("sdf", text)
}

/// Two links and a joint of this type with these elements, in line 3.
fn pair(joint: &str, inside: &str) -> String {
    format!(
        "<sdf version='1.7'><model name='pair'>\n<link name='a'/><link name='b'><pose>0 0 1 0 0 0</pose></link>\n\
         <joint name='j' type='{joint}'><parent>a</parent><child>b</child>{inside}</joint></model></sdf>"
    )
}

#[test]
fn bad_files_are_refused_with_line_and_reason() {
    refused("<sdf version='1.7'>\n<model></sdf>", 2, "not valid XML");
    refused("<robot/>", 1, "holds an `<sdf>`");
    refused("<sdf/>", 1, "needs the attribute `version`");
    refused("<sdf version='new'/>", 1, "no version");
    refused("<sdf version='1.7'/>", 1, "no models");
    refused("<sdf version='1.7'><model name='m'/></sdf>", 1, "no links");
    refused(&pair("hinge", ""), 3, "unknown type `hinge`");
    refused(&pair("revolute", ""), 3, "needs an element `<axis>`");
    refused(&pair("revolute", "<axis><xyz>0 0 0</xyz></axis>"), 3, "no direction");
    refused(&pair("revolute", "<axis><xyz>0 1</xyz></axis>"), 3, "3 numbers, not 2");
    let axis = |inside: &str| pair("revolute", &format!("<axis><xyz>0 0 1</xyz>{inside}</axis>"));
    refused(&axis("<dynamics><damping>-1</damping></dynamics>"), 3, "damping of the joint `j` is negative");
    refused(&pair("fixed", "").replace("child>b", "child>c"), 3, "no link `c`");
    refused(&pair("fixed", "").replace("<child>b", "<child>a"), 3, "holds a link to itself");
    refused(&pair("fixed", "").replace("'b'>", "'a'>"), 2, "there twice");
    refused(&pair("fixed", "<pose relative_to='k'>0 0 0 0 0 0</pose>"), 3, "no frame `k`");
    let round = pair("fixed", "").replace("<pose>", "<pose relative_to='b'>");
    refused(&round, 2, "counts from itself");
    refused(&pair("fixed", "<pose>1 2 3</pose>"), 3, "6 numbers");
    refused(&pair("screw", "<axis><xyz>0 0 1</xyz></axis>"), 3, "needs `<screw_thread_pitch>`");
    let heavy = pair("fixed", "").replace("'a'/>", "'a'><inertial><mass>0</mass></inertial></link>");
    refused(&heavy, 2, "must be positive");
    let other = pair("fixed", "").replace("</model>", "\n<include/></model>");
    refused(&other, 4, "models in other files");
}

#[test]
fn every_type_of_joint_makes_a_model_that_can_be_read() {
    let axes = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>\
        <screw_thread_pitch>0.01</screw_thread_pitch>";
    for joint in ["fixed", "revolute", "continuous", "prismatic", "ball", "universal", "revolute2", "screw"] {
        let text = pair(joint, axes);
        assert!(model(&text).contains("mass = "), "{joint}");
        model(&text.replace("<parent>a", "<parent>world"));
    }
    // 10 mm a turn.
    assert!(model(&pair("screw", axes)).contains("factors = [1, -0.0015915494309189536]"));
}

#[test]
fn what_a_joint_has_becomes_parts() {
    let text = pair(
        "revolute",
        "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>inf</upper><effort>9</effort></limit>\
         <dynamics><damping>0.5</damping><friction>0.1</friction><spring_stiffness>3</spring_stiffness>\
         <spring_reference>0.2</spring_reference></dynamics></axis><sensor/>",
    );
    let folder = read(&text).unwrap();
    for part in ["lower = -1", "damping = 0.5", "torque = 0.1", "stiffness = 3\nfree-angle = 0.2", "j_torque"]
    {
        assert!(folder.model.contains(part), "{part}: {}", folder.model);
    }
    assert!(!folder.model.contains("upper = "), "{}", folder.model);
    assert_eq!(folder.left, ["`<sensor>` of a joint"]);
}

#[test]
fn poses_count_from_the_frames_that_they_name() {
    // The model stands at x = 10 and is turned by a quarter about z; the tip counts from a frame on the arm.
    let text = "<sdf version='1.9'><world name='w'><gravity>0 0 -3.7</gravity>\
        <frame name='spot'><pose>10 0 0 0 0 1.5707963267948966</pose></frame>\
        <model name='m'><pose relative_to='spot'/>\
        <link name='arm'><pose>1 0 0 0 0 0</pose></link>\
        <frame name='end' attached_to='arm'><pose degrees='true'>2 0 0 0 0 90</pose></frame>\
        <link name='tip'><pose relative_to='end'>3 0 0 0 0 0</pose></link>\
        <joint name='j' type='revolute'><parent>arm</parent><child>tip</child>\
        <axis><xyz expressed_in='__model__'>1 0 0</xyz></axis></joint></model></world></sdf>";
    let machine = MachineReader::new().text("m.toml", &model(text)).unwrap();
    let place = |name: &str| {
        let bodies = machine.frames().bodies().iter();
        bodies.clone().find(|body| body.name == name).unwrap().pose.position
    };
    // (1, 0, 0) and (3, 3, 0) of the model, turned.
    let (arm, tip) = (place("arm"), place("tip"));
    assert!((arm - nalgebra::Vector3::new(10.0, 1.0, 0.0)).norm() < 1e-14, "{arm}");
    assert!((tip - nalgebra::Vector3::new(7.0, 3.0, 0.0)).norm() < 1e-14, "{tip}");
    let model = model(text);
    // The first axis of the model is the second of the world; the joint stands at its child.
    let axis = model.lines().find_map(|line| line.strip_prefix("axis = ")).unwrap();
    let axis = axis.trim_matches(['[', ']']).split(", ").map(|number| number.parse::<f64>().unwrap());
    let off = axis.zip([0.0, 1.0, 0.0]).map(|(found, expected)| (found - expected).abs());
    assert!(off.fold(0.0, f64::max) < 1e-15, "{model}");
    assert!(model.contains("acceleration = [0, 0, -3.7]"), "{model}");
}

#[test]
fn a_four_bar_moves_as_two_circles_say() {
    let link = |name: &str, pose: &str, centre: &str| {
        format!(
            "<link name='{name}'>{pose}<inertial><pose>{centre} 0 0 0</pose><mass>1</mass><inertia>\
             <ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial></link>"
        )
    };
    let joint = |name: &str, parent: &str, child: &str, pose: &str| {
        format!(
            "<joint name='{name}' type='revolute'>{pose}<parent>{parent}</parent><child>{child}</child>\
             <axis><xyz expressed_in='__model__'>0 1 0</xyz></axis></joint>"
        )
    };
    let text = [
        "<sdf version='1.10'><model name='four_bar'>".to_owned(),
        "<frame name='foot' attached_to='world'><pose>1 0 0 0 0 0</pose></frame>".to_owned(),
        link("crank", "", "0 0 0.15"),
        link("coupler", "<pose relative_to='crank'>0 0 0.3 0 -0.4 0</pose>", "0.5 0 0"),
        link("rocker", "<pose relative_to='foot'>0 0 0 0 0 0</pose>", "0 0 0.8"),
        joint("a", "world", "crank", ""),
        joint("b", "world", "rocker", ""),
        joint("c", "crank", "coupler", ""),
        // The last of them closes the loop.
        joint("d", "coupler", "rocker", "<pose>0 0 0.8 0 0 0</pose>"),
        "</model></sdf>".to_owned(),
    ];
    let model = model(&text.concat());
    assert_eq!(model.matches("[[revolute]]").count(), 4, "{model}");
    moves_as_two_circles_say(&model);
}
