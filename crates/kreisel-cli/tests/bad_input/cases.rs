//! Mistakes and what is said about them: the tables of `bad_input.rs` and `texts.rs`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A file with a mistake, or arguments that make no sense beside it.
pub struct Case {
    /// The mistake in few words.
    pub title: String,
    file: &'static str,
    content: Vec<u8>,
    arguments: Vec<&'static str>,
    /// What the message must say.
    pub words: Vec<&'static str>,
}

impl Case {
    fn run(title: &str, content: impl Into<Vec<u8>>, words: &[&'static str]) -> Self {
        Self {
            title: title.to_owned(),
            file: "m.toml",
            content: content.into(),
            arguments: vec!["run", "m.toml"],
            words: words.to_vec(),
        }
    }

    /// The same for another command.
    pub fn with_command(mut self, command: &'static str) -> Self {
        self.arguments[0] = command;
        self
    }

    /// Whether the command `check` knows its flags, too.
    pub fn is_for_check(&self) -> bool {
        !self.arguments.contains(&"--out")
    }

    /// Gives `kreisel` the mistake in a folder of its own. Messages may name what lies beside that: nothing
    /// does in the outer one, which is given back with what was said.
    pub fn output(&self) -> (TempDir, Output) {
        let outer = TempDir::new().unwrap();
        let folder = Self::folder_in(&outer);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(self.file), &self.content).unwrap();
        let output = kreisel(&folder, &self.arguments);
        (outer, output)
    }

    /// Where the mistake lies in the outer folder.
    pub fn folder_in(outer: &TempDir) -> PathBuf {
        outer.path().join("inner")
    }
}

/// Runs the command in a folder.
pub fn kreisel(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kreisel")).args(arguments).current_dir(folder).output().unwrap()
}

/// A body that is right; the mistakes follow it from line 5 on.
const BODY: &str = "[[body]]\nname = 'top'\nmass = 1\ninertia = [1, 1, 1]\n";

/// Model text after [`BODY`], then line, reason and remedy of the message.
const MODELS: &[(&str, &str, &str, &str)] = &[
    // Kinds and keys.
    ("[[sperical]]\n", "m.toml:5:3", "`sperical` is not a kind of part", "`spherical`"),
    ("[[revolut]]\n", "m.toml:5:3", "`revolut` is not a kind of part", "`revolute`"),
    ("[simulatoin]\nend-time = 1\n", "m.toml:5:2", "not a kind of part", "`simulation`"),
    // Words of other programs.
    ("[[part]]\nname = 'arm'\n", "m.toml:5:3", "`part` is not a kind of part", "that is `body` here"),
    ("[[joint]]\nname = 'pin'\n", "m.toml:5:3", "`joint` is not", "`revolute`, `prismatic`, `cylindrical`"),
    ("[[spline]]\nname = 'gas'\n", "m.toml:5:3", "`spline` is not a kind of part", "that is `table` here"),
    (
        "[[revolute]]\nname = 'pin'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n\
         [[drive]]\njoint = 'pin'\nangle = '360 deg*t'\n",
        "m.toml:12:14",
        "not of kg*rad",
        "in brackets, `360[deg]*t`",
    ),
    (
        "[[revolute]]\nname = 'pin'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n\
         [[drive]]\njoint = 'pin'\nangle = '360 deg*time'\n",
        "m.toml:12:18",
        "no unit `time`",
        "in brackets, `360[deg]*t`",
    ),
    ("[body]\n", "m.toml:", "", ""),
    ("[[simulation]]\nend-time = 1\n", "m.toml:5:3", "must be written as `[simulation]`", ""),
    ("[simulation]\nend = 1\n", "m.toml:6:1", "has no key `end`", ""),
    ("[simulation]\nendtime = 1\n", "m.toml:6:1", "has no key `endtime`", "`end-time`"),
    ("[[body]]\nname = 'b'\nmass = 1\n", "m.toml:5:1", "needs the key `inertia`", ""),
    ("[[body]]\nname = 'b'\nmas = 1\ninertia = [1, 1, 1]\n", "m.toml:7:1", "has no key `mas`", "`mass`"),
    ("[gravity]\n", "m.toml:5:1", "needs the key `acceleration`", ""),
    // Numbers, units and expressions.
    ("[[body]]\nmass = -1\ninertia = [1, 1, 1]\n", "m.toml:6:8", "must be positive, not -1", ""),
    ("[[body]]\nmass = 0\ninertia = [1, 1, 1]\n", "m.toml:6:8", "must be positive", ""),
    ("[[body]]\nmass = 'heavy'\ninertia = [1, 1, 1]\n", "m.toml:6:9", "no parameter `heavy`", ""),
    ("[[body]]\nmass = true\ninertia = [1, 1, 1]\n", "m.toml:6:8", "`mass` must be a number", ""),
    ("[[body]]\nmass = nan\ninertia = [1, 1, 1]\n", "m.toml:6:8", "NaN, not a finite number", ""),
    ("[[body]]\nmass = inf\ninertia = [1, 1, 1]\n", "m.toml:6:8", "inf, not a finite number", ""),
    ("[[body]]\nmass = '1/0'\ninertia = [1, 1, 1]\n", "m.toml:6:8", "inf", ""),
    ("[[body]]\nmass = '3 stone'\ninertia = [1, 1, 1]\n", "m.toml:6:11", "no unit `stone`", ""),
    ("[[state]]\nname = 's'\nrate = 0\nunit = 'm,s'\n", "m.toml:8:8", "m,s", ""),
    ("[[state]]\nname = 's'\nrate = 0\nunit = 'm\"'\n", "m.toml:8:8", "`m\"`", ""),
    ("[[body]]\nmass = '3 m'\ninertia = [1, 1, 1]\n", "m.toml:6:11", "mass (kg), not of length (m)", ""),
    ("[[body]]\nmass = '2*(3'\ninertia = [1, 1, 1]\n", "m.toml:6:11", "never closed", ""),
    ("[[body]]\nmass = 1\ninertia = [1, 1]\n", "m.toml:7:11", "3", ""),
    ("[[body]]\nmass = 1\ninertia = [1, 1, 3]\n", "m.toml:7:11", "exceed the sum of the other two", ""),
    ("[[body]]\nmass = 1\ninertia = [1, 1, -1]\n", "m.toml:7:11", "positive definite", ""),
    ("[[body]]\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0]\n", "m.toml:8:12", "3 numbers", ""),
    ("[[body]]\nmass = 1\ninertia = [1, 1, 1]\nposition = 'x'\n", "m.toml:8:12", "an array", ""),
    (
        "[[body]]\nmass = 1\ninertia = [1, 1, 1]\norientation = { quaternion = [2, 0, 0, 0] }\n",
        "m.toml:8:30",
        "of length 1",
        "",
    ),
    (
        "[[body]]\nmass = 1\ninertia = [1, 1, 1]\norientation = { axis = [0, 0, 0], angle = 1 }\n",
        "m.toml:8:24",
        "length zero",
        "",
    ),
    ("[[body]]\nmass = 1\ninertia = [1, 1, 1]\ngroup = 'so3'\n", "m.toml:8:9", "one of `se3`, `so3xr3`", ""),
    ("[parameters]\na = 'b'\nb = 'a'\n", "m.toml:6:5", "`a` → `b` → `a`", ""),
    (
        "[parameters]\nlength = 1\n[[body]]\nmass = 'lenght'\ninertia = [1, 1, 1]\n",
        "m.toml:8:9",
        "`lenght`",
        "`length`",
    ),
    ("[parameters]\npi = 3\n", "m.toml:6:1", "already has a meaning", ""),
    // Named expressions and tables.
    ("[expressions]\na = 'b'\nb = '2*a'\n", "m.toml:6:6", "`b` → `a` → `b`", ""),
    ("[expressions]\na = 'top.positoin.z'\n", "m.toml:6:6", "`top.positoin.z`", "`top.position.z`"),
    ("[expressions]\na = true\n", "m.toml:6:5", "an expression in quotes, not true", ""),
    ("[expressions]\nsin = '1'\n", "m.toml:6:1", "already has a meaning", ""),
    ("[parameters]\na = 1\n[expressions]\na = '1'\n", "m.toml:8:1", "`a` is used twice", ""),
    (
        "[expressions]\npush = '1'\n[[input]]\nname = 'push'\n",
        "m.toml:8:8",
        "already has a meaning",
        "no parameter, expression",
    ),
    ("[[expressions]]\na = '1'\n", "m.toml:5:3", "must be written as `[expressions]`", ""),
    ("[[table]]\nname = 'gas'\n", "m.toml:5:1", "exactly one of `points`, `values`, `file`", ""),
    ("[[table]]\npoints = [[0, 1], [1, 2]]\n", "m.toml:5:1", "needs the key `name`", ""),
    ("[[table]]\nname = 'sin'\npoints = [[0, 1], [1, 2]]\n", "m.toml:6:8", "already has a meaning", ""),
    ("[[table]]\nname = 'gas'\npoints = [[0, 1]]\n", "m.toml:7:10", "at least two points, not 1", ""),
    (
        "[[table]]\nname = 'gas'\npoints = [[0, 1], [0, 2]]\n",
        "m.toml:7:10",
        "ascending points, not 0 after 0",
        "",
    ),
    ("[[table]]\nname = 'gas'\npoints = [[0, nan], [1, 2]]\n", "m.toml:7:15", "NaN, not a finite", ""),
    (
        "[[table]]\nname = 'gas'\noutside = 'repeat'\npoints = [[0, 1], [1, 2]]\n",
        "m.toml:8:10",
        "the last value is the first",
        "",
    ),
    (
        "[[table]]\nname = 'gas'\nx = [0, 1]\ny = [0, 1, 2]\nvalues = [[1, 2], [3, 4]]\n",
        "m.toml:9:10",
        "2 rows (one for each x) of 3 numbers, not 2 rows of 2",
        "",
    ),
    (
        "[[table]]\nname = 'gas'\nx-unit = 'furlong'\npoints = [[0, 1], [1, 2]]\n",
        "m.toml:7:11",
        "no unit `furlong`",
        "",
    ),
    ("[[table]]\nname = 'gas'\nfile = 'gas.csv'\n", "m.toml:7:8", "there is no such file", ""),
    ("[[table]]\nname = 'gas'\nfile = '/etc/passwd'\n", "m.toml:7:8", "outside of the folder", ""),
    (
        "[[table]]\nname = 'gas'\npoints = [[0, 1], [1, 2]]\n[[force]]\nbody = 'top'\nforce = ['gaz(t)', 0, 0]\n",
        "m.toml:10:11",
        "no function `gaz`",
        "`gas`",
    ),
    // Names.
    (
        "[[body]]\nname = 'top'\nmass = 1\ninertia = [1, 1, 1]\n",
        "m.toml:6:8",
        "`top` is used twice",
        "unique",
    ),
    ("[[body]]\nname = 'ground'\nmass = 1\ninertia = [1, 1, 1]\n", "m.toml:6:8", "inertial frame", ""),
    ("[[body]]\nname = 'a.b'\nmass = 1\ninertia = [1, 1, 1]\n", "m.toml:6:8", "dots separate", ""),
    ("[[body]]\nname = 'b'\nrepeat = 3\nmass = 1\ninertia = [1, 1, 1]\n", "m.toml:6:8", "used twice", "{i}"),
    ("[[body]]\nrepeat = -1\nmass = 1\ninertia = [1, 1, 1]\n", "m.toml:6:10", "whole number", ""),
    (
        "[[body]]\nmass = 1\ninertia = [1, 1, 1]\nmarkers = [{ name = 'a' }, { name = 'a' }]\n",
        "m.toml:8:",
        "second marker",
        "",
    ),
    // Joints.
    (
        "[[spherical]]\nbodies = ['ground', 'tpo']\npoint = [0, 0, 0]\n",
        "m.toml:6:21",
        "no body `tpo`",
        "`top`",
    ),
    ("[[spherical]]\nbodies = ['ground', 'top.tip']\n", "m.toml:6:21", "no marker `top.tip`", ""),
    ("[[spherical]]\nbodies = ['ground.hook', 'top']\n", "m.toml:6:11", "no marker `ground.hook`", ""),
    (
        "[[spherical]]\nbodies = ['top', 'top']\npoint = [0, 0, 0]\n",
        "m.toml:6:10",
        "two different bodies",
        "",
    ),
    (
        "[[spherical]]\nbodies = ['ground', 'ground']\npoint = [0, 0, 0]\n",
        "m.toml:6:10",
        "two different bodies",
        "",
    ),
    ("[[spherical]]\nbodies = ['top']\npoint = [0, 0, 0]\n", "m.toml:6:10", "2", ""),
    ("[[spherical]]\nbodies = 'top'\npoint = [0, 0, 0]\n", "m.toml:6:10", "an array", ""),
    ("[[spherical]]\npoint = [0, 0, 0]\n", "m.toml:5:1", "needs the key `bodies`", ""),
    ("[[spherical]]\nbodies = ['ground', 'top']\n", "m.toml:", "`point`", ""),
    (
        "[[revolute]]\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\naxis = [0, 0, 0]\n",
        "m.toml:8:8",
        "length zero",
        "",
    ),
    ("[[revolute]]\nbodies = ['ground', '']\npoint = [0, 0, 0]\n", "m.toml:6:21", "empty", ""),
    // The run.
    ("", "m.toml:1:1", "needs the key `end-time`", "--end-time"),
    ("[simulation]\nstep = 0.1\n", "m.toml:5:1", "needs the key `end-time`", "--end-time"),
    ("[simulation]\nend-time = 1\nstep = 0\n", "m.toml:7:8", "must be positive, not 0", ""),
    ("[simulation]\nend-time = 1\nstep = '-1 ms'\n", "m.toml:7:8", "must be positive", ""),
    ("[simulation]\nend-time = 1\nstep = '1 mm'\n", "m.toml:7:11", "time (s), not of length (m)", ""),
    ("[simulation]\nend-time = 1\nstep = 1e-300\n", "m.toml:5:1", "large enough", "larger `step`"),
    ("[simulation]\nend-time = 1\noutput-step = 0\n", "m.toml:7:15", "must be positive", ""),
    ("[simulation]\nstart-time = 2\nend-time = 1\n", "m.toml:7:12", "after the start at 2 s", "later"),
    (
        "[simulation]\nstart-time = -1e308\nend-time = 1\n",
        "m.toml:6:14",
        "must be from -1e18 to 1e18 s",
        "-1e308",
    ),
    ("[simulation]\nend-time = 0\n", "m.toml:6:12", "after the start", ""),
    ("[simulation]\nend-time = 1\nmethod = 'index4'\n", "m.toml:7:10", "one of `index2`", ""),
    ("[simulation]\nend-time = 1\nspectral-radius = 1.5\n", "m.toml:7:19", "between 0 and 1", ""),
    (
        "[simulation]\nend-time = 1\nstep = 'auto'\nspectral-radius = 1\n",
        "m.toml:8:19",
        "at most 0.98 with steps by the error",
        "a number for `step`",
    ),
    ("[simulation]\nend-time = 1\nrtol = 1e-17\n", "m.toml:7:8", "at least 1e-14", "16 digits"),
    (
        "[simulation]\nend-time = 1\nmethod = 'index2'\nrtol = 1e-12\natol = 0\n",
        "m.toml:5:1",
        "at least 2e-10, below which rounding decides",
        "`explicit8`",
    ),
    ("[simulation]\nend-time = 1\naccuracy = 1e-10\n", "m.toml:7:12", "between 1e-9, below which", ""),
    ("[simulation]\nend-time = 1\naccuracy = 0.5\n", "m.toml:7:12", "and 0.1", ""),
    ("[simulation]\nend-time = 1\nnewton-rtol = 0\n", "m.toml:7:15", "positive", ""),
    ("[simulation]\nend-time = 1\ndefault-sensors = 1\n", "m.toml:7:19", "`true` or `false`", ""),
    // Sensors.
    ("[[sensor]]\nof = 'top'\n", "m.toml:5:1", "needs the key `quantity`", ""),
    ("[[sensor]]\nof = 'top'\nquantity = 'positon'\n", "m.toml:7:12", "no quantity `positon`", "`position`"),
    ("[[sensor]]\nof = 'topp'\nquantity = 'position'\n", "m.toml:6:6", "no body or joint `topp`", "`top`"),
    ("[[sensor]]\nof = 'top.tip'\nquantity = 'position'\n", "m.toml:6:6", "no marker `top.tip`", ""),
    ("[[sensor]]\nquantity = 'position'\n", "m.toml:5:1", "needs the key `of`", "`of = "),
    ("[[sensor]]\nquantity = 'enregy'\n", "m.toml:6:12", "no quantity `enregy`", "`energy`"),
    (
        "[[sensor]]\nof = 'top'\nquantity = 'velocity'\naxes = 'top'\n",
        "m.toml:5:1",
        "needs the key `name`",
        "name of their own",
    ),
    (
        "[[sensor]]\nname = 's'\nof = 'top'\nquantity = 'velocity'\naxes = 'wrold'\n",
        "m.toml:9:8",
        "no body `wrold`",
        "`world`",
    ),
    (
        "[[sensor]]\nname = 's'\nof = 'top'\nquantity = 'orientation'\naxes = 'top'\n",
        "m.toml:9:1",
        "`axes` of the sensor `s` has no effect",
        "",
    ),
    ("[[sensor]]\nname = 's'\nquantity = 'energy'\nrelative-to = 'top'\n", "m.toml:8:1", "has no effect", ""),
    (
        "[[spherical]]\nname = 'tip'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n[[sensor]]\nof = 'tip'\nquantity = 'forse'\n",
        "m.toml:11:12",
        "no quantity `forse`",
        "`force`",
    ),
    // Includes.
    ("include = ['m.toml']\n", "m.toml:", "", ""),
    ("[[include]]\nfile = 'm.toml'\n", "m.toml:6:8", "includes itself", ""),
    ("[[include]]\nfile = 'wheel.toml'\n", "m.toml:6:8", "cannot be read", ""),
    ("[[include]]\nfile = '../wheel.toml'\n", "m.toml:6:8", "", ""),
];

/// Models with one mistake each.
pub fn models() -> Vec<Case> {
    let case = |&(text, place, reason, hint): &(&str, _, _, _)| {
        Case::run(text, format!("{BODY}{text}"), &[place, reason, hint])
    };
    MODELS.iter().map(case).collect()
}

/// Files that are no models.
pub fn files() -> Vec<Case> {
    let deep = format!("a = {}\n", "{ a = ".repeat(10_000));
    let nested = format!("[{}]\n", ["a"; 10_000].join("."));
    let long_line = format!("{BODY}mass = '{}'\n", "1 + ".repeat(2_500_000));
    let arrays = format!("a = {}\n", "[".repeat(10_000));
    let cases: [(&str, &[u8], &str); 16] = [
        ("empty", b"", "describes no part"),
        ("blank", b"\n\n  \n", "describes no part"),
        ("comment", b"# nothing\n", "describes no part"),
        ("parameters only", b"[parameters]\na = 1\n", "describes no part"),
        ("binary", b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe", "not a text file"),
        ("utf-16", b"\xff\xfe[\0[\0b\0", "UTF-16"),
        ("latin-1", b"# gr\xfcn\n[[body]]\n", "not UTF-8"),
        ("no TOML", b"mass: 1\n", "not valid TOML"),
        ("unclosed", b"[[body]\n", "not valid TOML"),
        ("unclosed text", b"[[body]]\nname = 'top\n", "not valid TOML"),
        ("key twice", b"[[body]]\nmass = 1\nmass = 2\n", "not valid TOML"),
        ("deep inline tables", deep.as_bytes(), "not valid TOML"),
        ("deep tables", nested.as_bytes(), ""),
        ("deep arrays", arrays.as_bytes(), "not valid TOML"),
        ("line of 10 MB", long_line.as_bytes(), ""),
        ("simulation only", b"[simulation]\nend-time = 1\n", "at least one body"),
    ];
    let case = |(title, content, reason): (&str, &[u8], _)| Case::run(title, content, &["m.toml:", reason]);
    cases.map(case).into()
}

/// A file that is not there, and a folder.
pub fn no_files() -> Vec<Case> {
    let missing = ["pendulm.toml", "there is no file", "`pendulum.toml`"];
    vec![
        Case {
            file: "pendulum.toml",
            arguments: vec!["run", "pendulm.toml"],
            ..Case::run("missing", BODY, &missing)
        },
        Case { arguments: vec!["run", "."], ..Case::run("folder", BODY, &["cannot be read"]) },
    ]
}

/// Flags, then reason and remedy.
const FLAGS: &[(&[&str], &str, &str)] = &[
    (&["--end-time", "soon"], "no parameter `soon`", "--end-time:1:1"),
    (&["--end-time", "1 m"], "time (s), not of length (m)", "--end-time:1:3"),
    (&["--end-time", ""], "empty", "--end-time"),
    (&["--end-time", "-1"], "after the start", "later"),
    (&["--end-time", "nan"], "", "--end-time"),
    (&["--end-time", "1/0"], "inf", "--end-time"),
    (&["--step", "0"], "`step` of `[simulation]` must be positive", "--step:1:1"),
    (&["--step", "-1 ms"], "must be positive, not -0.001", "--step"),
    (&["--step", "1 lightyear"], "no unit `lightyear`", ""),
    (&["--step", "1e-300"], "large enough", "larger `step`"),
    (&["--step", "automatic"], "no parameter `automatic`", "a number or `auto`"),
    (&["--step", "auto", "--rtol", "0"], "must be positive", "--rtol"),
    (&["--rtol", "1e-17"], "at least 1e-14", "--rtol"),
    (&["--accuracy", "1e-12"], "between 1e-9, below which there is rounding", "--accuracy"),
    (&["--step", "auto", "--atol", "-1"], "must be zero or positive", "--atol"),
    (&["--step", "auto", "--min-step", "0"], "must be positive", "--min-step"),
    (&["--step", "auto", "--min-step", "2 ms", "--max-step", "1 ms"], "at least `min-step`", "--max-step"),
    (&["--output-step", "0"], "must be positive", "--output-step"),
    (&["--method", "index4"], "one of `index2`, `index3`", "did you mean"),
    (&["--group", "se2"], "one of `se3`, `so3xr3`", "`se3`"),
    (&["--spectral-radius", "2"], "between 0 and 1", "--spectral-radius"),
    (&["--spectral-radius", "1 m"], "pure number", ""),
    (&["--set", "lenght=1"], "no parameter `lenght`", "`length`"),
    (&["--set", "length=1 +"], "missing", "command line"),
    (&["--set", "length"], "name=value", "--set"),
    (&["--set", "=3"], "name=value", ""),
    (&["--end-tme", "1"], "--end-tme", "--end-time"),
    (&["--json=no-such-folder/x.json"], "no folder", "no-such-folder"),
    (&["--out", "m.toml"], "m.toml", "not a folder"),
];

/// Flags without sense, beside a model that is right.
pub fn flags() -> Vec<Case> {
    let text = format!("[parameters]\nlength = 1\n[simulation]\nend-time = 1\n{BODY}");
    let case = |&(flags, reason, remedy): &(&[&'static str], _, _)| {
        let case = Case::run(&flags.join(" "), text.clone(), &[reason, remedy]);
        Case { arguments: [&case.arguments, flags].concat(), ..case }
    };
    FLAGS.iter().map(case).collect()
}

/// A method that is unstable with joints.
pub fn undamped() -> Case {
    let joint = "[[spherical]]\nbodies = ['ground', 'top']\npoint = [0, 0, 1]\n";
    let text = format!(
        "{BODY}{joint}[simulation]\nend-time = 1\nstep = 1e-3\nmethod = 'index3'\nspectral-radius = 1\n"
    );
    Case::run("undamped", text, &["`index3`", "unstable", "`index2`"])
}

/// Machines that never fit together: found by computing, so the exit code is 1.
const MISFITS: &[(&str, &[&str])] = &[
    (
        "[[revolute]]\nname = 'axle'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n\
         [[drive]]\nname = 'one'\njoint = 'axle'\nangle = 0.1\n[[drive]]\nname = 'two'\njoint = 'axle'\nangle = 0.3\n",
        &["does not fit together", "`one`", "`two`", "1.0e-1"],
    ),
    (
        "fixed = true\n[[distance]]\nname = 'rope'\nbodies = ['ground', 'top']\n\
         points = [[1, 0, 0], [0, 0, 0]]\nlength = 3\n",
        &["does not fit together", "joint `rope` misses by 2.0e0", ": `rope`"],
    ),
];

/// Parts that hold and drive the body of [`BODY`].
const AXLE: &str = "[[revolute]]\nname = 'axle'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n";

/// Models that can be read and not be started: parts after [`BODY`], settings, and what the message says.
const STARTS: &[(&str, &str, &str, &str)] = &[
    ("no end", "", "", "`end-time`"),
    ("end before the start", "", "start-time = 2\nend-time = 1", "after the start"),
    ("steps without end", "", "end-time = 1\nstep = 1e-12", "large enough"),
    ("records without end", "", "end-time = 1\noutput-step = 1e-12", "large enough"),
    ("a first step without end", "", "end-time = 1\nstep = 'auto'\ninitial-step = 1e-12", "large enough"),
    ("a step that is lost", "", "start-time = 1e9\nend-time = 1000000001\nstep = 1e-6", "large enough"),
    ("a run of no length", "", "end-time = 1e-310", "large enough"),
    ("a run of infinite length", "", "start-time = -1e308\nend-time = 1e308", "from -1e18 to 1e18 s"),
    ("limits of steps", "", "end-time = 1\nstep = 'auto'\nmin-step = 0.1\nmax-step = 0.01", "`min-step`"),
    ("undamped", AXLE, "end-time = 1\nstep = 1e-3\nmethod = 'index3'\nspectral-radius = 1", "unstable"),
    ("no local coordinates", AXLE, "end-time = 1\nmethod = 'updated-lagrangian'", "`so3xr3`"),
    (
        "rates that the method does not hold",
        "[[knife-edge]]\nname = 'blade'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n",
        "end-time = 1\nmethod = 'updated-lagrangian'\ngroup = 'so3xr3'",
        "nonholonomic",
    ),
    ("steps that a method cannot choose", "", "end-time = 1\nmethod = 'symplectic'", "`explicit8`"),
    ("no equilibrium", "", "end-time = 1\nstart = 'static'", "no equilibrium to start from"),
    (
        "contradicting positions",
        "[[revolute]]\nname = 'axle'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n\
         [[drive]]\nname = 'one'\njoint = 'axle'\nangle = 0.1\n[[drive]]\nname = 'two'\njoint = 'axle'\nangle = 0.3\n",
        "end-time = 1",
        "does not fit together",
    ),
    (
        "contradicting rates",
        "[[revolute]]\nname = 'axle'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n\
         [[drive]]\nname = 'one'\njoint = 'axle'\nangle = 't'\n[[drive]]\nname = 'two'\njoint = 'axle'\nangle = '2*t'\n",
        "end-time = 1",
        "in their velocities",
    ),
    (
        "contradicting accelerations",
        "[[revolute]]\nname = 'axle'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n\
         [[drive]]\nname = 'one'\njoint = 'axle'\nangle = 't^2'\n[[drive]]\nname = 'two'\njoint = 'axle'\nangle = '2*t^2'\n",
        "end-time = 1",
        "in their accelerations",
    ),
    (
        "contradicting velocities",
        "velocity = [1, 2, 3]\n[[revolute]]\nname = 'axle'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n",
        "end-time = 1",
        "initial velocities contradict",
    ),
    (
        "a force that is no number",
        "[[force]]\nname = 'push'\nbody = 'top'\nforce = ['1/t', 0, 0]\n",
        "end-time = 1",
        "what `push` gives is not",
    ),
    (
        "a drive without a rate",
        "[[revolute]]\nname = 'axle'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n\
         [[drive]]\nname = 'motor'\njoint = 'axle'\nangle = 'sqrt(t)'\n",
        "end-time = 1",
        "what `motor` gives is not",
    ),
    (
        "a drive that jumps",
        "[[revolute]]\nname = 'axle'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n\
         [[drive]]\nname = 'motor'\njoint = 'axle'\nangle = 'step(t - 0.5)'\n",
        "end-time = 1",
        "without jumps",
    ),
    (
        "an event without a value",
        "[[event]]\nname = 'late'\nzero-of = 'sqrt(t - 1)'\nstop = true\n",
        "end-time = 2",
        "not a number at t = 0 s",
    ),
];

/// Models that can be read and not be started.
pub fn starts() -> Vec<Case> {
    let case = |&(title, parts, settings, words): &(&str, &str, &str, &'static str)| {
        Case::run(title, format!("{BODY}{parts}[simulation]\n{settings}\n"), &[words])
    };
    STARTS.iter().map(case).collect()
}

/// Parts after [`BODY`] that a method cannot do, the method, and what the message says of part, line and way
/// out.
const UNABLE: &[(&str, &str, [&str; 3])] = &[
    (
        "[[knife-edge]]\nname = 'blade'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n",
        "updated-lagrangian",
        ["`blade`", "m.toml:5:1: `blade`", "take the method `index2`"],
    ),
    (
        "[[knife-edge]]\nname = 'blade'\nbodies = ['ground', 'top']\npoint = [0, 0, 0]\n",
        "symplectic",
        ["`blade`", "m.toml:5:1: `blade`", "take the method `explicit8` or `index2`"],
    ),
    (
        "[[beam]]\nname = 'arm'\nfrom = [0, 0, 0]\nto = [1, 0, 0]\nstart = 'top'\nelements = 1\n\
         section = { shape = 'rectangle', width = '20 mm', height = '10 mm', youngs-modulus = '70 GPa', \
         poisson-ratio = 0.33, density = 2700 }\n",
        "symplectic",
        ["beam `arm`", "m.toml:5:1: `arm`", "take the method `index2`"],
    ),
    (
        "[[state]]\nname = 'lag'\nrate = '-lag.value'\n",
        "symplectic",
        ["state `lag.value`", "m.toml:5:1: `lag.value`", "take the method `explicit8` or `index2`"],
    ),
];

/// Models with something that a method cannot do.
pub fn unable() -> Vec<Case> {
    let case = |&(parts, method, ref words): &(&str, &str, [&'static str; 3])| {
        let settings =
            format!("[simulation]\nend-time = 1\nstep = 1e-3\nmethod = '{method}'\ngroup = 'so3xr3'\n");
        Case::run(&format!("{method}\n{parts}"), format!("{BODY}{parts}{settings}"), words)
    };
    UNABLE.iter().map(case).collect()
}

/// Machines that never fit together, given to `run` and to `check`.
pub fn misfits() -> Vec<Case> {
    let case = |&(parts, words): &(&str, &[&'static str])| {
        let text = format!("{BODY}{parts}[simulation]\nend-time = 1\nstep = 0.01\n");
        ["run", "check"].map(|command| {
            let title = format!("{command}\n{parts}");
            Case { arguments: vec![command, "m.toml"], ..Case::run(&title, text.clone(), words) }
        })
    };
    MISFITS.iter().flat_map(case).collect()
}
