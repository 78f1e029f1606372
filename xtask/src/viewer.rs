//! The page that shows a run: built from `viewer/`, tested in a browser, photographed for the book.

use crate::python::{environment, output};
use crate::{cargo, root, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The built page, as it is committed.
const BUILT: &str = "crates/kreisel/src/report/viewer.html";
/// Models whose pages are tested.
const TESTED: [&str; 4] = ["heavy-top", "slider-crank-spatial", "right-angle-beam", "stewart-platform"];
/// Models in the book's gallery, with the part of the run that has passed in the picture.
const GALLERY: [&str; 5] = [
    "heavy-top=0.62",
    "right-angle-beam=0.13",
    "four-bar=0.55",
    "slider-crank-spatial=0.7=dark",
    "chain-spherical=0.35",
];

/// Builds the page that is committed.
pub fn build() -> Result<(), String> {
    install()?;
    build_to(&root().join(BUILT))
}

/// Checks types, and that the committed page is what the source builds.
pub fn check() -> Result<(), String> {
    install()?;
    output(Command::new("node").arg("viewer/node_modules/typescript/bin/tsc").args(["-p", "viewer"]))?;
    let fresh = root().join("target/viewer.html");
    build_to(&fresh)?;
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    if read(&fresh)? == read(&root().join(BUILT))? {
        Ok(())
    } else {
        Err(format!("{BUILT} is not what viewer/ builds; `cargo xtask viewer` builds it"))
    }
}

/// Runs some models and tests their pages in Chromium.
pub fn browse() -> Result<(), String> {
    install()?;
    install_chromium()?;
    let folder = root().join("target/browser");
    let _ = fs::remove_dir_all(&folder);
    for name in TESTED {
        run_model(&root().join(format!("models/{name}.toml")), &folder.join(name), &[])?;
        cargo::kreisel(&["export", &folder.join(name).to_string_lossy(), "--gltf"])?;
    }
    let (beam, out) = (root().join("models/right-angle-beam.toml"), folder.join("right-angle-beam"));
    let asked = ["--count", "4", "--quiet"];
    cargo::kreisel(
        &[&["modes", &beam.to_string_lossy(), "--out", &out.to_string_lossy()], &asked[..]].concat(),
    )?;
    let hostile = hostile_model(&folder)?;
    run_model(&hostile, &folder.join("hostile"), &["--end-time", "10 ms"])?;
    // The page of a sweep has the name of the model's file for a title.
    let named = folder.join("hostile/<img src=x onerror='window.hacked = 6'>.toml");
    fs::copy(&hostile, &named).map_err(|error| format!("{}: {error}", named.display()))?;
    let (model, out) = (named.to_string_lossy(), folder.join("hostile/sweep"));
    let asked =
        ["--vary", "mass=10,20", "--measure", "min(top.position.z)", "--end-time", "10 ms", "--quiet"];
    cargo::kreisel(&[&["sweep", &model, "--out", &out.to_string_lossy()], &asked[..]].concat())?;
    others(&folder)?;
    let words = output(Command::new("node").arg("viewer/test/browser.mjs").arg(&folder))?;
    say(&words);
    let mut watch = Command::new("node");
    watch.arg("viewer/test/watch.mjs").arg(cargo::target().join("debug/kreisel"));
    say(&output(watch.arg("crates/kreisel-cli/src/command/starter.toml"))?);
    Ok(())
}

/// A path that snaps through, and two runs in one page of which the second is shorter and has a sensor more.
fn others(folder: &Path) -> Result<(), String> {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let frame = root().join("models/lee-frame.toml");
    let way = ["--arc-length", "--factor", "3", "--quiet"];
    cargo::kreisel(&[&["static", &frame.to_string_lossy(), "--out", &path("snap")], &way[..]].concat())?;
    let top = root().join("models/heavy-top.toml");
    let text = fs::read_to_string(&top).map_err(|error| format!("{}: {error}", top.display()))?;
    let more = folder.with_file_name("short.toml");
    let sensor = "\n[[sensor]]\nname = \"spin\"\nof = \"top\"\nquantity = \"angular-velocity\"\n";
    fs::write(&more, text + sensor).map_err(|error| format!("{}: {error}", more.display()))?;
    run_model(&more, &folder.join("short"), &["--end-time", "0.4", "--step", "1 ms"])?;
    cargo::kreisel(&["report", &path("heavy-top"), &path("short"), "-o", &path("both.html")])
}

/// Photographs the reports of some models for the book.
pub fn gallery() -> Result<(), String> {
    install()?;
    install_chromium()?;
    let folder = root().join("target/gallery");
    for word in GALLERY {
        let name = word.split('=').next().unwrap_or(word);
        run_model(&root().join(format!("models/{name}.toml")), &folder.join(name), &[])?;
    }
    let mut command = Command::new("node");
    command.arg("viewer/test/gallery.mjs").arg(&folder).arg(root().join("book/src/figures"));
    output(command.args(GALLERY))?;
    film(&folder)?;
    sheets(&folder)?;
    tutorials(&folder)
}

/// Pages of some models, of modes and of a sweep, in three windows, light and dark.
fn sheets(folder: &Path) -> Result<(), String> {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (beam, modes, sweep) = ("models/right-angle-beam.toml", path("modes"), path("sweep"));
    cargo::kreisel(&["modes", beam, "--count", "4", "--out", &modes, "--force", "--quiet"])?;
    let _ = fs::remove_dir_all(&sweep);
    let starter = "crates/kreisel-cli/src/command/starter.toml";
    let asked = ["--vary", "length=0.25:2:8", "--measure", "quarter = first(rod.position.x, 0)", "--quiet"];
    cargo::kreisel(&[&["sweep", starter, "--out", &sweep], &asked[..]].concat())?;
    let mut photograph = Command::new("node");
    photograph.arg("viewer/test/sheets.mjs").arg(root().join("book/src/figures"));
    for name in ["heavy-top", "four-bar", "stewart-platform"] {
        photograph.arg(format!("{name}={}/report.html", path(name)));
    }
    photograph.args([format!("modes={modes}/modes.html"), format!("sweep={sweep}/sweep.html")]);
    output(&mut photograph).map(|_| ())
}

/// The moving picture of the README.
fn film(folder: &Path) -> Result<(), String> {
    let (results, frames) = (folder.join("stewart-platform"), folder.join("frames"));
    run_model(&root().join("models/stewart-platform.toml"), &results, &[])?;
    let _ = fs::remove_dir_all(&frames);
    fs::create_dir_all(&frames).map_err(|error| format!("{}: {error}", frames.display()))?;
    let mut photograph = Command::new("node");
    photograph.arg("viewer/test/film.mjs").arg(results.join("report.html"));
    output(photograph.arg(&frames).arg("40"))?;
    let mut join = Command::new(environment("gallery", &["pillow"])?);
    join.arg("viewer/test/gif.py").arg(&frames);
    output(join.arg("book/src/figures/stewart-platform.gif")).map(|_| ())
}

/// Pictures at the top of the book's tutorials: name, model, flags of the run, flags of the picture.
const TUTORIALS: [(&str, &str, &[&str], &[&str]); 8] = [
    (
        "swing",
        "crates/kreisel-cli/src/command/starter.toml",
        &["--end-time", "0.84"],
        &["--strip", "5", "--view", "front"],
    ),
    (
        "four-bar",
        "models/four-bar.toml",
        &["--end-time", "1"],
        &[
            "--frame", "0.6", "--frame", "0.7", "--frame", "0.8", "--frame", "0.9", "--frame", "1", "--view",
            "front",
        ],
    ),
    (
        "spin-up-beam",
        "models/spin-up-beam.toml",
        &["--end-time", "10"],
        &["--frame", "4", "--frame", "6", "--frame", "8", "--frame", "10", "--view", "top"],
    ),
    ("settling-balls", "models/settling-balls.toml", &["--end-time", "0.2"], &["--strip", "4"]),
    (
        "engine",
        "models/engine.toml",
        &["--end-time", "10 ms"],
        &["--frame", "0", "--frame", "0.0025", "--frame", "0.005", "--frame", "0.0075", "--view", "top"],
    ),
    ("robot", "models/robot-arm.toml", &["--end-time", "1.2"], &["--strip", "4"]),
    ("crane", CRANE, &["--end-time", "8"], &["--strip", "4", "--view", "front"]),
    ("rotor", "validation/ross/rotor.toml", &["--end-time", "1 ms"], &["--size", "720,300"]),
];

/// The crane, whose motor is moved by the controller of its page.
const CRANE: &str = "models/crane.toml";

fn tutorials(folder: &Path) -> Result<(), String> {
    for (name, model, run, picture) in TUTORIALS {
        let results = folder.join("tutorials").join(name);
        let model = if model == CRANE { controlled_crane(folder)? } else { root().join(model) };
        run_model(&model, &results, &[&["--no-report"], run].concat())?;
        let (results, to) = (results.to_string_lossy(), format!("book/src/figures/tutorial-{name}.png"));
        cargo::kreisel(&[&["render", &results, "-o", &to, "--size", "240,200"], picture].concat())?;
    }
    let car = folder.join("tutorials/car");
    run_model(&root().join("models/active-suspension.toml"), &car, &["--no-report"])?;
    let ride = ["--sensor", "body-guide.displacement", "--sensor", "wheel-guide.displacement"];
    let to = ["-o", "book/src/figures/tutorial-quarter-car.png"];
    cargo::kreisel(&[&["plot", &car.to_string_lossy()], &ride[..], &to].concat())?;
    let study = folder.join("tutorials/study");
    let _ = fs::remove_dir_all(&study);
    let model = "crates/kreisel-cli/src/command/starter.toml";
    let asked = ["--vary", "length=0.25:2:8", "--measure", "quarter = first(rod.position.x, 0)", "--quiet"];
    cargo::kreisel(&[&["sweep", model, "--out", &study.to_string_lossy()], &asked[..]].concat())?;
    let page = fs::read_to_string(study.join("sweep.html")).map_err(|error| error.to_string())?;
    let svg = page.split_once("<svg").and_then(|(_, rest)| rest.split_once("</svg>"));
    let svg =
        svg.map(|(inside, _)| format!("<svg{inside}</svg>\n")).ok_or("the page of a sweep has no plot")?;
    fs::write(root().join("book/src/figures/tutorial-study.svg"), svg).map_err(|error| error.to_string())
}

/// The crane of the book with its controller, as an expression: the line of the program on the page, in the words of
/// a model file.
fn controlled_crane(folder: &Path) -> Result<PathBuf, String> {
    let read = |path: &str| fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"));
    let controller = controller(&read("book/src/tutorials/crane.md")?)?;
    let motor = "force = \"push\"";
    let text = read(CRANE)?;
    if !text.contains(motor) {
        return Err(format!("{CRANE} has no line `{motor}` any more, in whose place the controller comes"));
    }
    let model = folder.join("crane.toml");
    fs::write(&model, text.replace(motor, &format!("force = \"{controller}\"")))
        .map_err(|error| format!("{}: {error}", model.display()))?;
    Ok(model)
}

/// The controller on the page of the crane as an expression of signals.
fn controller(page: &str) -> Result<String, String> {
    let line = page.lines().find_map(|line| line.trim().strip_prefix("stepper[\"push\"] = "));
    let mut law = line.ok_or("the page of the crane sets no `push`")?.to_owned();
    for (name, meaning) in [
        ("error", "(5 - rail.displacement)"),
        ("speed", "rail.displacement-rate"),
        ("swing_rate", "rope.angle-rate"),
        ("swing", "rope.angle"),
    ] {
        if !law.contains(name) {
            return Err(format!("the controller on the page of the crane has no `{name}`: {law}"));
        }
        law = law.replace(name, meaning);
    }
    Ok(law)
}

/// Packages of the viewer and of its tests, once.
pub fn install() -> Result<(), String> {
    let [wanted, done] = ["viewer/package-lock.json", "viewer/node_modules/.package-lock.json"];
    let age = |path: &str| fs::metadata(root().join(path)).and_then(|data| data.modified()).ok();
    if age(done).is_some_and(|done| Some(done) >= age(wanted)) {
        return Ok(());
    }
    say("installing the packages of viewer/\n");
    output(Command::new("npm").args([
        "ci",
        "--prefix",
        "viewer",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]))
    .map(|_| ())
}

/// A browser, if there is none.
pub fn install_chromium() -> Result<(), String> {
    let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    if std::env::var_os("CHROMIUM").is_some() || places.iter().any(|place| Path::new(place).exists()) {
        return Ok(());
    }
    say("installing chromium\n");
    output(Command::new("apt-get").args(["install", "--yes", "--no-install-recommends", "chromium"]))
        .map(|_| ())
        .map_err(|error| format!("{error}\ninstall Chromium, or name one by the variable CHROMIUM"))
}

fn build_to(path: &Path) -> Result<(), String> {
    output(Command::new("node").arg("viewer/build.mjs").arg(path)).map(|_| ())
}

fn run_model(model: &Path, folder: &Path, more: &[&str]) -> Result<(), String> {
    let (model, folder) = (model.to_string_lossy(), folder.to_string_lossy());
    cargo::kreisel(&[&["run", &model, "--out", &folder, "--force", "--quiet"], more].concat())
}

/// The heavy top with markup for a title.
fn hostile_model(folder: &Path) -> Result<PathBuf, String> {
    let title = "# </script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\n\n";
    let model = root().join("models/heavy-top.toml");
    let text = fs::read_to_string(&model).map_err(|error| format!("{}: {error}", model.display()))?;
    let path = folder.with_extension("toml");
    fs::write(&path, format!("{title}{text}")).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}
