//! The page that shows a run: built from `viewer/`, tested in a browser, photographed for the book.

use crate::python::output;
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
    run_model(&hostile_model(&folder)?, &folder.join("hostile"), &["--end-time", "10 ms"])?;
    let words = output(Command::new("node").arg("viewer/test/browser.mjs").arg(&folder))?;
    say(&words);
    Ok(())
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
    output(command.args(GALLERY)).map(|_| ())
}

fn install() -> Result<(), String> {
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

fn install_chromium() -> Result<(), String> {
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
