//! Every mistake of the language gives one message with its line, its reason and its remedy.

use std::fs;

use super::*;

/// Text of the model, line and column of the message, a piece of the reason, a piece of the hint.
type Case = (&'static str, usize, usize, &'static str, &'static str);

const CASES: &[Case] = &[
    // The file itself.
    ("", 1, 1, "describes no part", "[[body]]"),
    ("\n\n# nothing\n", 1, 1, "describes no part", ""),
    ("[parameters]\nl = 1\n", 1, 1, "describes no part", ""),
    ("[[gadget]\nname = 'a'\n", 1, 10, "not valid TOML", ""),
    ("[[gadget]]\nname = 'a\n", 2, 10, "not valid TOML", ""),
    ("[[gadget]]\nmass = 1\nmass = 2\n", 3, 1, "duplicate key", ""),
    ("[[gadget]]\nmass = 1,5\n", 2, 9, "not valid TOML", ""),
    // Kinds.
    ("[[gadgte]]\n", 1, 3, "`gadgte` is not a kind of part", "`gadget`"),
    ("[gadget]\nmass = 1\n", 1, 2, "must be written as `[[gadget]]`", ""),
    ("[[settings]]\nend-time = 1\n", 1, 3, "must be written as `[settings]`", ""),
    ("gadget = 3\n", 1, 1, "must be written as", ""),
    ("parameters = 3\n[[gadget]]\n", 1, 1, "must be written as `[parameters]`", ""),
    ("include = 'a.toml'\n[[gadget]]\n", 1, 1, "must be written as", ""),
    // Keys.
    ("[[gadget]]\nmas = 1\n", 2, 1, "the gadget `gadget-1` has no key `mas`", "`mass`"),
    ("[[gadget]]\nname = 'a'\ncolour = 'red'\n", 3, 1, "the gadget `a` has no key `colour`", ""),
    ("[settings]\nstep = 0.1\n", 1, 1, "`[settings]` needs the key `end-time`", "add `end-time"),
    ("[settings]\nend-time = 1\nname = 'a'\n", 3, 1, "has no key `name`", ""),
    (
        "[[gadget]]\nmass = 1\ndensity = 2\n",
        3,
        1,
        "`density` of the gadget `gadget-1` has no effect",
        "remove",
    ),
    ("[[gadget]]\n[[gadget.marker]]\nposition = [0, 0, 0]\n", 2, 1, "needs the key `name`", ""),
    ("[[gadget]]\nshape = { nmae = 'x' }\n", 2, 11, "`shape` of the gadget `gadget-1` has no key", "`name`"),
    // Types.
    ("[[gadget]]\nmass = true\n", 2, 8, "`mass` must be a number", ""),
    ("[[gadget]]\nmass = [1]\n", 2, 8, "not an array of 1", ""),
    ("[[gadget]]\nmass = 2020-01-01\n", 2, 8, "not a date", ""),
    ("[[gadget]]\nmass = 'heavy'\n", 2, 9, "no parameter `heavy`", "known: "),
    ("[[gadget]]\nmass = nan\n", 2, 8, "the value is NaN", ""),
    ("[[gadget]]\nmass = inf\n", 2, 8, "the value is inf", ""),
    ("[[gadget]]\nmass = '1e999'\n", 2, 8, "the value is inf", ""),
    ("[[gadget]]\nmass = -1\n", 2, 8, "`mass` of the gadget `gadget-1` must be positive, not -1", ""),
    ("[[gadget]]\nteeth = 2.5\n", 2, 9, "whole number", ""),
    ("[[gadget]]\nteeth = -3\n", 2, 9, "whole number", ""),
    ("[[gadget]]\nposition = [1, 2]\n", 2, 12, "an array of 3 numbers, not of 2", ""),
    ("[[gadget]]\nposition = 1\n", 2, 12, "an array in brackets, not the number 1", ""),
    ("[[gadget]]\nposition = [1, false, 2]\n", 2, 16, "must be a number", ""),
    ("[[gadget]]\naxis = [0, 0, 0]\n", 2, 8, "a direction, not of length zero", ""),
    ("[[gadget]]\ninertia = [1, 2, 3, 4]\n", 2, 11, "3 or 6 numbers, not of 4", ""),
    ("[[gadget]]\ninertia = [[1, 2, 0], [0, 1, 0], [0, 0, 1]]\n", 2, 11, "a symmetric matrix", ""),
    ("[[gadget]]\ninertia = [[1, 2, 0], 3, 4]\n", 2, 23, "an array in brackets", ""),
    ("[[gadget]]\nbushing = [[1, 2], [3]]\n", 2, 20, "2 numbers, not of 1", ""),
    ("[[gadget]]\nbushing = [[1, 2]]\n", 2, 11, "2 rows, not of 1", ""),
    ("[[gadget]]\ntitle = 3\n", 2, 9, "a text in quotes, not the number 3", ""),
    ("[[gadget]]\nfixed = 1\n", 2, 9, "`true` or `false`", ""),
    ("[[gadget]]\ngroup = 'se4'\n", 2, 9, "one of `se3`, `so3xr3`", "`se3`"),
    ("[[gadget]]\nbody = 3\n", 2, 8, "a text in quotes", ""),
    ("[[gadget]]\nbody = ''\n", 2, 8, "the name of a part, not empty", ""),
    ("[[gadget]]\nbodies = ['a']\n", 2, 10, "2 names, not of 1", ""),
    ("[[gadget]]\nshape = 'x'\n", 2, 9, "a table in braces", ""),
    ("[[gadget]]\nmarker = 'x'\n", 2, 10, "an array of tables", ""),
    ("[[gadget]]\nmarker = ['x']\n", 2, 11, "a table in braces", ""),
    ("[[gadget]]\nmarker = [{ name = 'x', repeat = -1 }]\n", 2, 34, "whole number", ""),
    (
        "[settings]\nend-time = 1\nstep = 'automatic'\n",
        3,
        9,
        "no parameter `automatic`",
        "a number or `auto`",
    ),
    // Units.
    ("[[gadget]]\nmass = '5 mm'\n", 2, 11, "mass (kg), not of length (m)", "`kg`"),
    ("[[gadget]]\nmass = '5 kgs'\n", 2, 11, "no unit `kgs`", "`kg`"),
    ("[[gadget]]\nposition = [0, 0, '30 deg']\n", 2, 23, "length (m), not of angle (rad)", ""),
    ("[[gadget]]\nstiffness = '5 N*m'\n", 2, 16, "stiffness (N/m), not of torque (Nm)", "`N/m`"),
    ("[[gadget]]\naxis = ['1 m', 0, 0]\n", 2, 12, "pure number, not of length", "leave the unit away"),
    // Expressions and parameters.
    ("[[gadget]]\nmass = '2*(3 + 4'\n", 2, 11, "never closed", ""),
    ("[[gadget]]\nmass = ''\n", 2, 8, "empty", ""),
    ("[parameters]\nlength = 1\n[[gadget]]\nmass = '2*lenght'\n", 4, 11, "no parameter `lenght`", "`length`"),
    (
        "[parameters]\na = 'b'\nb = '2*c'\nc = 'a + 1'\n[[gadget]]\n",
        2,
        5,
        "`a` → `b` → `c` → `a`",
        "a number",
    ),
    ("[parameters]\na = 'a'\n[[gadget]]\n", 2, 5, "`a` → `a`", ""),
    ("[parameters]\na = 'bb'\nab = 1\n[[gadget]]\n", 2, 6, "no parameter `bb`", ""),
    ("[parameters]\na = true\n[[gadget]]\n", 2, 5, "`a` must be a number", ""),
    ("[parameters]\na = inf\n[[gadget]]\n", 2, 5, "the value is inf", ""),
    ("[parameters]\na = '1/0'\n[[gadget]]\n", 2, 5, "the value is inf", "divided by zero"),
    ("[parameters]\npi = 3\n[[gadget]]\n", 2, 1, "already has a meaning", ""),
    ("[parameters]\nt = 3\n[[gadget]]\n", 2, 1, "already has a meaning", ""),
    ("[parameters]\nsin = 3\n[[gadget]]\n", 2, 1, "already has a meaning", ""),
    ("[parameters]\n2a = 3\n[[gadget]]\n", 2, 1, "begins with a letter", ""),
    ("[parameters]\n'a b' = 3\n[[gadget]]\n", 2, 1, "only letters", ""),
    ("[[gadget]]\nmass = 'i'\n", 2, 9, "no parameter `i`", "repeat"),
    ("[[gadget]]\nmass = '1 + t'\n", 2, 13, "no parameter `t`", "time"),
    // Names and repetitions.
    ("[[gadget]]\nname = 'a.b'\n", 2, 8, "`a.b` cannot be a name: dots", ""),
    ("[[gadget]]\nname = 'ground'\n", 2, 8, "inertial frame", ""),
    ("[[gadget]]\nname = ''\n", 2, 8, "it is empty", ""),
    ("[[gadget]]\nname = 'a b'\n", 2, 8, "only letters", ""),
    ("[[gadget]]\nname = 3\n", 2, 8, "a text in quotes", ""),
    ("[[gadget]]\nname = 'a'\n[[gadget]]\nname = 'a'\n", 4, 8, "`a` is used twice", "unique"),
    ("[[gadget]]\nname = 'a'\nrepeat = 2\n", 2, 8, "`a` is used twice", "{i}"),
    ("[[gadget]]\nname = 'a{i}'\n", 2, 11, "no parameter `i`", "repeat"),
    ("[[gadget]]\nname = 'a{i'\nrepeat = 2\n", 2, 10, "not an index", "`{i}`"),
    ("[[gadget]]\nname = 'a}'\n", 2, 10, "not an index", ""),
    ("[[gadget]]\nname = 'a{i/2}'\nrepeat = 2\n", 2, 11, "not an index", ""),
    ("[[gadget]]\nrepeat = 'N'\n", 2, 11, "no parameter `N`", ""),
    ("[[gadget]]\nrepeat = 2.5\n", 2, 10, "whole number", ""),
    ("[[gadget]]\nrepeat = 2000000\n", 2, 10, "at most 1000000", ""),
    ("[[gadget]]\nrepeat = 700000\n[[gadget]]\nrepeat = 700000\n", 3, 1, "more than 1000000 parts", ""),
    ("[[gadget]]\nwhen = 'i >'\nrepeat = 2\n", 2, 11, "missing", "ends too early"),
    // Orientations.
    ("[[gadget]]\norientation = [1, 0, 0, 0]\n", 2, 15, "a table in braces", ""),
    ("[[gadget]]\norientation = {}\n", 2, 15, "needs exactly one of", ""),
    ("[[gadget]]\norientation = { quaternoin = [1, 0, 0, 0] }\n", 2, 17, "has no key", "`quaternion`"),
    ("[[gadget]]\norientation = { quaternion = [1, 1, 0, 0] }\n", 2, 30, "of length 1", "0.7071"),
    ("[[gadget]]\norientation = { quaternion = [0, 0, 0, 0] }\n", 2, 30, "of length 1", "[1, 0, 0, 0]"),
    ("[[gadget]]\norientation = { axis = [1, 0, 0] }\n", 2, 15, "needs the key `angle`", ""),
    ("[[gadget]]\norientation = { axis = [0, 0, 0], angle = 1 }\n", 2, 24, "length zero", ""),
    ("[[gadget]]\norientation = { axis = [0, 0, 1], angle = '1 m' }\n", 2, 46, "angle (rad)", ""),
    ("[[gadget]]\norientation = { euler = [0, 0, 0] }\n", 2, 15, "needs the key `sequence`", ""),
    ("[[gadget]]\norientation = { euler = [0, 0, 0], sequence = 'zzx' }\n", 2, 47, "twice in a row", "`zyx`"),
    ("[[gadget]]\norientation = { euler = [0, 0, 0], sequence = 'abc' }\n", 2, 47, "x, y, z", ""),
    ("[[gadget]]\norientation = { matrix = [[1, 0, 0], [0, 1, 0], [0, 0, 2]] }\n", 2, 26, "orthonormal", ""),
    ("[[gadget]]\norientation = { matrix = [[1, 0, 0], [0, 1, 0], [0, 0, -1]] }\n", 2, 26, "reflection", ""),
    ("[[gadget]]\norientation = { z-axis = [0, 0, 1], x-axis = [0, 0, 2] }\n", 2, 46, "parallel", ""),
    (
        "[[gadget]]\norientation = { x-axis = [0, 0, 1], y-axis = [0, 0, 2] }\n",
        2,
        46,
        "other than the x axis",
        "",
    ),
    (
        "[[gadget]]\norientation = { x-axis = [1, 0, 0], y-axis = [0, 1, 0], z-axis = [0, 0, 1] }\n",
        2,
        46,
        "left out beside two others",
        "",
    ),
    ("[[gadget]]\norientation = { z-axis = [0, 0, 1], angle = 1 }\n", 2, 37, "has no effect", ""),
    ("[[gadget]]\norientation = { z-axis = [0, 0, 1], euler = [1, 2, 3] }\n", 2, 15, "are given", ""),
    // Laws, signals and curves.
    ("[[gadget]]\nmotion = true\n", 2, 10, "an expression of `t`", ""),
    ("[[gadget]]\nmotion = 'sin(w*t)'\n", 2, 15, "`w`", ""),
    ("[[gadget]]\nmotion = '5 m'\n", 2, 13, "angle (rad)", ""),
    ("[[gadget]]\nmotion = '1/0'\n", 2, 10, "the value is inf", ""),
    ("[[gadget]]\nmotion = nan\n", 2, 10, "the value is NaN", ""),
    ("[[gadget]]\nmotion = {}\n", 2, 10, "exactly one of `speed`, `points`; none is given", ""),
    ("[[gadget]]\nmotion = { sped = 1 }\n", 2, 12, "has no key `sped`", "`speed`"),
    ("[[gadget]]\nmotion = { speed = 1, points = [[0, 0], [1, 1]] }\n", 2, 10, "both are given", ""),
    ("[[gadget]]\nmotion = { speed = '3 m/s' }\n", 2, 23, "angular speed (rad/s)", ""),
    ("[[gadget]]\nmotion = { speed = 1, outside = 'hold' }\n", 2, 23, "has no effect", ""),
    ("[[gadget]]\nmotion = { speed = 1, start-time = 2 }\n", 2, 23, "has no effect", ""),
    ("[[gadget]]\nmotion = { speed = 1, smooth-start = 0 }\n", 2, 38, "a positive time", ""),
    ("[[gadget]]\nmotion = { points = [[0, 0]] }\n", 2, 21, "at least two points", ""),
    (
        "[[gadget]]\nmotion = { points = [[0, 0], [2, 0], [1, 0]] }\n",
        2,
        38,
        "ascending points, not 1 after 2",
        "",
    ),
    ("[[gadget]]\nmotion = { points = [[0, 0], [1]] }\n", 2, 30, "2 numbers, not of 1", ""),
    (
        "[[gadget]]\nmotion = { points = [[0, 0], [1, 1]], interpolation = 'cubic' }\n",
        2,
        55,
        "one of `smooth`",
        "",
    ),
    ("[[gadget]]\ncurve = { points = [['1 N', 0], [1, 1]] }\n", 2, 25, "length (m), not of force (N)", ""),
    ("[[gadget]]\ncurve = { speed = 1 }\n", 2, 11, "the curve `curve` has no key `speed`", ""),
    ("[[gadget]]\nload = [0, 0]\n", 2, 8, "an array of 3", ""),
    ("[[gadget]]\npath = [0, '1 deg', 0]\n", 2, 15, "length (m), not of angle (rad)", ""),
    // Includes.
    ("include = ['a.toml']\n[[gadget]]\n", 1, 12, "cannot be read", "read from a file"),
    ("include = [3]\n[[gadget]]\n", 1, 12, "a file name in quotes or a table", ""),
    ("[[include]]\nprefix = 'a-'\n", 1, 1, "the include needs the key `file`", ""),
    ("[[include]]\nfle = 'a.toml'\n", 2, 1, "the include has no key `fle`", "`file`"),
];

#[test]
fn every_mistake_is_explained_at_its_place() {
    assert!(CASES.len() >= 40);
    for &(text, line, column, reason, hint) in CASES {
        let result =
            Document::from_text("test.toml", text, KINDS, &[]).and_then(|document| read_all(&document));
        let errors = result.expect_err(text);
        let found: Vec<_> = errors.iter().collect();
        assert_eq!(found.len(), 1, "{text}\n{errors}");
        let error = found[0];
        assert!(error.mistake().to_string().contains(reason), "{text}\n{error}");
        assert!(error.hint().unwrap_or("").contains(hint), "{text}\n{error}");
        assert_eq!((error.place().line(), error.place().column()), (line, column), "{text}\n{error}");
        let rendered = error.render(false);
        assert!(rendered.contains(&format!("test.toml:{line}:{column}")), "{rendered}");
        // Words, not the names of our types.
        assert!(!rendered.contains("Mistake") && !rendered.contains("Some("), "{rendered}");
    }
}

#[test]
fn a_message_shows_the_line_the_reason_and_the_fix() {
    let errors =
        Document::from_text("top.toml", "[[gadget]]\nname = 'a'\n\n[[gadgte]]\n", KINDS, &[]).unwrap_err();
    let expected = "\
error: `gadgte` is not a kind of part
 --> top.toml:4:3
  |
4 | [[gadgte]]
  |   ^^^^^^
  |
help: did you mean `gadget`?";
    assert_eq!(errors.render(false), expected);
    assert!(errors.render(true).contains("\u{1b}["));
}

#[test]
fn a_name_used_twice_is_shown_at_both_places() {
    let text = "[[gadget]]\nname = 'crank'\n\n[[gadget]]\nname = 'crank'\n";
    let errors = Document::from_text("test.toml", text, KINDS, &[]).unwrap_err();
    let rendered = errors.render(false);
    assert!(rendered.contains("test.toml:5:8") && rendered.contains("test.toml:2:8"), "{rendered}");
    assert!(rendered.contains("first used here"), "{rendered}");
}

#[test]
fn several_mistakes_are_reported_together() {
    let text = "[[gadget]]\nmas = 1\ntooth = 3\n[[gadget]]\nmass = '3 mm'\n";
    let errors = read_all(&document(text)).unwrap_err();
    let lines: Vec<usize> = errors.iter().map(|error| error.place().line()).collect();
    assert_eq!(lines, [2, 3, 5]);
}

#[test]
fn a_mistake_in_a_repeated_part_is_reported_once() {
    let text = "[[gadget]]\nmass = '3 mm'\nrepeat = 1000\n";
    assert_eq!(read_all(&document(text)).unwrap_err().iter().count(), 1);
}

#[test]
fn unknown_overrides_and_bad_ones_point_at_the_command_line() {
    let text = "[parameters]\nlength = 1\n[[gadget]]\n";
    for (name, value, reason, hint) in [
        ("lenght", "2", "no parameter `lenght`", "`length`"),
        ("length", "2 +", "missing", "ends too early"),
        ("length", "2 foo", "no unit `foo`", ""),
        ("length", "", "empty", ""),
        ("length", "length + 1", "depend on each other", ""),
    ] {
        let errors = Document::from_text("test.toml", text, KINDS, &[(name, value)]).unwrap_err();
        let error = errors.iter().next().unwrap();
        assert_eq!(error.place().file().name(), "command line");
        assert!(error.to_string().contains(reason) && error.to_string().contains(hint), "{error}");
    }
}

#[test]
fn includes_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("model");
    fs::create_dir_all(inner.join("sub")).unwrap();
    fs::write(folder.path().join("outside.toml"), "[[gadget]]\n").unwrap();
    fs::write(inner.join("wheel.toml"), "[[gadget]]\nname = 'wheel'\nmass = 1\n").unwrap();
    fs::write(inner.join("a.toml"), "include = ['sub/b.toml']\n").unwrap();
    fs::write(inner.join("sub/b.toml"), "include = ['../a.toml']\n").unwrap();
    fs::write(inner.join("broken.toml"), "[[gadget]]\nname = \n").unwrap();
    fs::write(inner.join("binary.toml"), b"\x7fELF\0\0\xff").unwrap();
    let absolute = folder.path().join("outside.toml").display().to_string();
    let cases = [
        ("include = ['main.toml']", "main.toml", 1, "includes itself: main.toml → main.toml", ""),
        ("include = ['a.toml']", "b.toml", 1, "includes itself: a.toml → sub/b.toml → a.toml", ""),
        ("include = ['../outside.toml']", "main.toml", 1, "outside of the model's folder", "or below"),
        (&format!("include = ['{absolute}']"), "main.toml", 1, "outside", ""),
        ("include = ['weel.toml']", "main.toml", 1, "cannot be read", "`wheel.toml`"),
        ("include = ['sub']", "main.toml", 1, "cannot be read", ""),
        ("include = ['']", "main.toml", 1, "cannot be read", ""),
        ("include = ['broken.toml']", "broken.toml", 2, "not valid TOML", ""),
        ("include = ['binary.toml']", "binary.toml", 1, "not a text file", ""),
        ("include = ['wheel.toml', 'wheel.toml']", "wheel.toml", 2, "used twice", "`prefix`"),
        ("[[include]]\nfile = 'wheel.toml'\nprefix = 'a.b'", "main.toml", 3, "cannot be a name", ""),
        ("[[include]]\nfile = 'wheel.toml'\nparameters = { r = 1 }", "main.toml", 3, "no parameter `r`", ""),
        ("[[include]]\nfile = 'wheel.toml'\nposition = [1, 2]", "main.toml", 3, "3 numbers", ""),
        ("[[include]]\nfile = 'wheel.toml'\nrotation = {}", "main.toml", 3, "exactly one", ""),
        ("[[include]]\nfile = 'wheel.toml'\nrepeat = 3", "wheel.toml", 2, "used twice", "`prefix`"),
        (
            "[[include]]\nfile = 'wheel.toml'\nprefix = 'a{i}'\nrepeat = 20000",
            "main.toml",
            2,
            "more than 10000",
            "",
        ),
    ];
    for (text, file, line, reason, hint) in cases {
        fs::write(inner.join("main.toml"), text).unwrap();
        let errors = Document::read(inner.join("main.toml"), KINDS, &[]).unwrap_err();
        let error = errors.iter().next().unwrap();
        assert!(error.place().file().name().ends_with(file), "{text}: {error}");
        assert_eq!(error.place().line(), line, "{text}: {error}");
        assert!(error.mistake().to_string().contains(reason), "{text}: {error}");
        assert!(error.hint().unwrap_or("").contains(hint), "{text}: {error}");
    }
    let errors = Document::read(inner.join("whel.toml"), KINDS, &[]).unwrap_err();
    assert!(errors.to_string().contains("there is no file"), "{errors}");
    assert!(errors.to_string().contains("did you mean `wheel.toml`?"), "{errors}");
    let errors = Document::read(&inner, KINDS, &[]).unwrap_err();
    assert!(errors.to_string().contains("cannot be read"), "{errors}");
}

#[test]
fn a_link_out_of_the_folder_is_refused() {
    #[cfg(unix)]
    {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("model");
        fs::create_dir(&inner).unwrap();
        fs::write(folder.path().join("secret.toml"), "[[gadget]]\n").unwrap();
        std::os::unix::fs::symlink("../secret.toml", inner.join("link.toml")).unwrap();
        fs::write(inner.join("main.toml"), "include = ['link.toml']").unwrap();
        let errors = Document::read(inner.join("main.toml"), KINDS, &[]).unwrap_err();
        assert!(errors.to_string().contains("outside"), "{errors}");
    }
}

proptest::proptest! {
    #[test]
    fn no_model_makes_the_reader_panic(
        lines in proptest::collection::vec(
            "(\\[\\[gadget\\]\\]|\\[parameters\\]|a|mass|name|repeat|when|motion|orientation|include)( = )?\
             ('[a-c{}i0-9 +*.()-]{0,8}'|[0-9]{1,3}|\\[[0-9, ']{0,8}\\]|\\{ (axis|speed|points|euler) = [0-9]{1,2} \\})?",
            0..8,
        ),
    ) {
        let text = lines.join("\n");
        if let Err(errors) = Document::from_text("test.toml", &text, KINDS, &[]).and_then(|it| read_all(&it)) {
            errors.render(false);
        }
    }
}

#[test]
fn a_message_holds_no_control_characters_of_the_file() {
    let texts = [
        "[[\"x\\u001b[31m\"]]\n",
        "[[gadget]]\nname = \"x\\u001b[31m\"\n",
        "[[gadget]]\nmass = \"1 x\\u001b[31m\"\n",
        "[[gadget]]\nmass = \"x\\u001b[31m\"\n",
        "[[gadget]]\nbodies = \"x\\u001b[31m\"\n",
        "[[gadget]]\n# \u{1b}[31m\n",
        "[[gadget]]\n\"y\u{7}\u{1b}[31m\" = 1\n",
    ];
    for text in texts {
        let result = Document::from_text("test.toml", text, KINDS, &[]).and_then(|it| read_all(&it));
        let errors = result.expect_err(text);
        let messages = errors.render(false) + &errors.to_string();
        assert!(!messages.contains(['\u{1b}', '\u{7}']), "{messages:?}");
    }
}
