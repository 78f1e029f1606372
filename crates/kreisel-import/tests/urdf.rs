//! What becomes of URDF files, good and bad.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{read_as, refused_as};
use kreisel_import::{Choices, Folder, import, import_text};

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
