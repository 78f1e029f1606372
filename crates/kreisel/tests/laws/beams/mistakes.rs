//! Wrong beams, each with the words that its message must have.

use super::{SECTION, read};

const LINE: &str = "from = [0, 0, 0]\nto = [1, 0, 0]\nelements = 4";

/// Keys of a beam in place of sound ones, and what the message must say.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    (
        "from = [1, 2, 3]\nto = [1, 2, 3]\nelements = 4",
        SECTION,
        &["`to`", "away from where it starts", "(1, 2, 3)"],
    ),
    ("from = [0, 0, 0]\nto = [1, 0, 0]\nelements = 0", SECTION, &["`elements`", "at least 1"]),
    ("from = [0, 0, 0]\nto = [1, 0, 0]\nelements = 4\norder = 3", SECTION, &["`order`", "1 or 2", "3"]),
    ("from = [0, 0, 0]\nelements = 4", SECTION, &["needs the key `to`", "`end`", "`points`"]),
    ("points = [[0, 0, 0]]\nelements = 4", SECTION, &["`points`", "at least two points"]),
    (
        "points = [[0, 0, 0], [1, 0, 0], [1, 0, 0]]\nelements = 4",
        SECTION,
        &["`points`", "lie apart", "point 2 and point 3"],
    ),
    (
        "points = [[0, 0, 0], [1, 0, 0], [1, 1, 0]]\nelements = 1",
        SECTION,
        &["`elements`", "at least 2", "straight piece"],
    ),
    (
        "points = [[0, 0, 0], [1, 0, 0]]\ncurve = \"arc\"\nelements = 4",
        SECTION,
        &["`points`", "three points for an arc"],
    ),
    (
        "points = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]\ncurve = \"arc\"\nelements = 4",
        SECTION,
        &["`points`", "three points of a circle", "on a line"],
    ),
    (
        "from = [0, 0, 0]\nto = [0, 0, 1]\nup = [0, 0, 2]\nelements = 4",
        SECTION,
        &["`up`", "another direction than that of the axis"],
    ),
    (
        "from = [0, 0, 0]\nto = [1, 0, 0]\ntwist = [0, 40]\nelements = 4",
        SECTION,
        &["`elements`", "less than 2.5 rad"],
    ),
    (
        "start = \"ground.pad\"\nfrom = [0.5, 0, 0]\nto = [1, 0, 0]\nelements = 4",
        SECTION,
        &["`start`", "where the beam starts", "ground.pad", "5.0000e-1 m away"],
    ),
    ("start = \"grond\"\nfrom = [0, 0, 0]\nto = [1, 0, 0]\nelements = 4", SECTION, &["no body `grond`"]),
    (
        "start = \"dot\"\nfrom = [0, 0, 0]\nto = [1, 0, 0]\nelements = 4",
        SECTION,
        &["`start`", "a body that can turn", "[[spherical]]"],
    ),
    (LINE, "", &["needs the key `section`"]),
    (LINE, "section.mass-per-length = 1", &["`torsional-stiffness`", "`shape`", "`stiffness-matrix`"]),
    (
        LINE,
        "section.axial-stiffness = 1e6\nsection.shear-stiffness = [4e5, 5e5]\nsection.torsional-stiffness = 300\nsection.bending-stiffness = [-200, 500]\nsection.mass-per-length = 2\nsection.inertia-per-length = [0.02, 0.01, 0.01]",
        &["`bending-stiffness`", "positive", "-200"],
    ),
    (
        LINE,
        "section.axial-stiffness = 1e6\nsection.shear-stiffness = [4e5, 5e5]\nsection.torsional-stiffness = 300\nsection.bending-stiffness = [200, 500]\nsection.mass-per-length = 2\nsection.inertia-per-length = [0, 0.01, 0.01]",
        &["`inertia-per-length`", "positive definite"],
    ),
    (
        LINE,
        "section.stiffness-matrix = [[1, 0, 0, 0, 0, 0], [0, 1, 2, 0, 0, 0], [0, 2, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]\nsection.mass-per-length = 2\nsection.inertia-per-length = [0.02, 0.01, 0.01]",
        &["`stiffness-matrix`", "positive definite", "-1"],
    ),
    (
        LINE,
        "section.axial-stiffness = 1e6\nsection.shear-stiffness = [4e5, 5e5]\nsection.torsional-stiffness = 300\nsection.bending-stiffness = [200, 500]\nsection.mass-matrix = [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]",
        &["`mass-matrix`", "positive definite"],
    ),
    (
        LINE,
        "section = { shape = \"tube\", outer-radius = 0.1, inner-radius = 0.2, youngs-modulus = 1e9, poisson-ratio = 0.3, density = 1000 }",
        &["`inner-radius`", "less than `outer-radius`"],
    ),
    (
        LINE,
        "section = { shape = \"circle\", radius = 0.1, youngs-modulus = 1e9, poisson-ratio = 0.7, density = 1000 }",
        &["`poisson-ratio`", "0.5"],
    ),
    (
        LINE,
        "section = { shape = \"circle\", radius = 0.1, width = 1, youngs-modulus = 1e9, poisson-ratio = 0.3, density = 1000 }",
        &["`width`", "no effect"],
    ),
    (
        "from = [0, 0, 0]\nto = [1, 0, 0]\nelements = 4\ndamping = { frequencies = [1, 10], ratios = [0.1, 5] }",
        SECTION,
        &["`ratios`", "the second between 0.0100 and 1.0000"],
    ),
    (
        "from = [0, 0, 0]\nto = [1, 0, 0]\nelements = 4\ndamping.time = -1",
        SECTION,
        &["`time`", "zero or positive"],
    ),
    (
        "from = [0, 0, 0]\nto = [1, 0, 0]\nelements = 4\nload = {}",
        SECTION,
        &["needs the key `force`", "`torque`"],
    ),
];

/// Wrong uses of a sound beam of four elements.
const USES: &[(&str, &[&str])] = &[
    (
        "[[force]]\nbody = \"beam.at-0.3\"\nforce = [1, 0, 0]",
        &["`beam.at-0.3`", "a node of the beam", "`beam.node-2` and `beam.node-3`", "`elements`"],
    ),
    ("[[force]]\nbody = \"beam.node-9\"\nforce = [1, 0, 0]", &["no section `beam.node-9`", "beam.node-"]),
    ("[[force]]\nbody = \"beam\"\nforce = [1, 0, 0]", &["no body `beam`", "beam."]),
    ("[[sensor]]\nof = \"beam.at-0.3\"\nquantity = \"acceleration\"", &["no quantity `acceleration`"]),
    ("[[sensor]]\nof = \"beam.end\"\nquantity = \"stran\"", &["no quantity `stran`", "strain"]),
    ("[[sensor]]\nof = \"beam.at-1.5\"\nquantity = \"strain\"", &["no section `beam.at-1.5`"]),
];

const PARTS: &str = "[[marker]]\nname = \"pad\"\n[[point-mass]]\nname = \"dot\"\nmass = 1\n";

fn assert_refused(text: &str, words: &[&str]) {
    let message = read(text).err().unwrap_or_else(|| panic!("accepted:\n{text}"));
    for word in words {
        assert!(message.contains(word), "{text}\n\nlacks `{word}`:\n{message}");
    }
    // The message shows the line.
    assert!(message.contains("model.toml:"), "{message}");
}

#[test]
fn every_wrong_beam_is_refused_with_its_line_the_reason_and_the_fix() {
    for (line, section, words) in MISTAKES {
        assert_refused(&format!("{PARTS}[[beam]]\nname = \"beam\"\n{line}\n{section}\n"), words);
    }
    for (rest, words) in USES {
        assert_refused(&format!("{PARTS}[[beam]]\nname = \"beam\"\n{LINE}\n{SECTION}\n{rest}\n"), words);
    }
}
