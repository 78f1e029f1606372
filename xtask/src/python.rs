//! Python environments under `target/`, each set up once.

use crate::{cargo, installed, root, say};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python of an environment with these packages, which are installed the first time and when others are
/// wanted.
pub fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = root().join("target").join(name);
    let binaries = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let (python, done) = (binaries.join("python"), folder.join("installed"));
    let wanted = packages.join(" ");
    if std::fs::read_to_string(&done).ok().as_ref() != Some(&wanted) {
        say(&format!("installing {}\n", packages.join(", ")));
        output(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        output(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
        std::fs::write(&done, &wanted).map_err(|error| format!("{}: {error}", done.display()))?;
    }
    Ok(python)
}

/// What a command prints at the root of the workspace; its own words about a failure become the error.
pub fn output(command: &mut Command) -> Result<String, String> {
    output_in(command, &root())
}

/// What a command prints in a folder. Some programs say what is wrong on standard output.
pub fn output_in(command: &mut Command, folder: &Path) -> Result<String, String> {
    let name = format!("{:?}", command.get_program());
    let output =
        command.current_dir(folder).output().map_err(|error| format!("{name} did not start: {error}"))?;
    if !output.status.success() {
        let [words, printed] = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
        return Err(format!("{name} failed: {}\n{printed}{words}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Packages that the tests of the Python package need, and its users only for frames, plots, searches and
/// clusters.
const TEST_PACKAGES: [&str; 10] = [
    "distributed",
    "gymnasium",
    "matplotlib",
    "mypy",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pytest",
    "scipy",
];

/// Tests the Python package as it is built for development, and the command that it brings, without a build of its
/// own: the library is in `target/` already.
pub fn check_package() -> Result<(), String> {
    let python = environment("python-tests", &TEST_PACKAGES)?;
    // With the tests, for which the crates that it needs are built already; alone it would have them built
    // with other features.
    cargo::run(&["build", "--workspace", "--lib", "--tests"])?;
    let package = assemble_package()?;
    let (source, tests) = (root().join("crates/kreisel-py"), root().join("crates/kreisel-py/tests"));
    // -B: no compiled copies beside the files; the settings are those of crates/kreisel-py.
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.arg("-B").args(arguments).env("PYTHONPATH", &package).env("MPLBACKEND", "Agg");
        command.env("MYPY_CACHE_DIR", root().join("target/python/mypy"));
        output_in(&mut command, &source).map(|words| say(&words))
    };
    let [package_text, tests] = [&package, &tests].map(|path| path.to_string_lossy().into_owned());
    run(&["-m", "pytest", "-q", "-p", "no:cacheprovider", &tests])?;
    let doctest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules"];
    run(&[&doctest[..], &["-o", "doctest_optionflags=ELLIPSIS IGNORE_EXCEPTION_DETAIL", &package_text]]
        .concat())?;
    run(&["-m", "mypy", "python/kreisel", &tests])?;
    run(&["-m", "mypy.stubtest", "kreisel._kreisel"])?;
    installed::check(&package)
}

/// Compares robots that the command imports with Pinocchio and MuJoCo.
pub fn check_robots() -> Result<(), String> {
    let python =
        environment("robots", &["example-robot-data==6.0.0", "gymnasium", "mujoco", "numpy", "pin"])?;
    cargo::run(&["build", "--workspace", "--bins", "--lib", "--tests"])?;
    let (command, package) = (root().join("target/debug/kreisel"), assemble_package()?);
    for script in ["beside_pinocchio.py", "beside_figures.py", "beside_mujoco.py"] {
        let mut compare = Command::new(&python);
        compare.arg("-B").arg(format!("crates/kreisel-import/tests/{script}")).arg(&command);
        output_in(compare.env("PYTHONPATH", &package), &root()).map(|words| say(&words))?;
    }
    Ok(())
}

/// The Python files with the module that was built for development, in one folder.
fn assemble_package() -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("the Python package could not be put together: {error}");
    let folder = root().join("target/python/package");
    let inside = folder.join("kreisel");
    let _ = std::fs::remove_dir_all(&inside);
    std::fs::create_dir_all(&inside).map_err(failed)?;
    for entry in std::fs::read_dir(root().join("crates/kreisel-py/python/kreisel")).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            std::fs::copy(&path, inside.join(name)).map_err(failed)?;
        }
    }
    let (built, wanted) = match std::env::consts::OS {
        "windows" => ("_kreisel.dll", "_kreisel.pyd"),
        "macos" => ("lib_kreisel.dylib", "_kreisel.abi3.so"),
        _ => ("lib_kreisel.so", "_kreisel.abi3.so"),
    };
    std::fs::copy(cargo::target().join("debug/deps").join(built), inside.join(wanted)).map_err(failed)?;
    Ok(folder)
}

/// Builds a wheel with maturin and says where it is.
pub fn wheel() -> Result<(), String> {
    let path = build_wheel()?;
    say(&format!("the wheel is {}\n", path.display()));
    Ok(())
}

/// Builds a wheel with maturin into `target/wheels`.
pub fn build_wheel() -> Result<PathBuf, String> {
    let python = environment("maturin", &["maturin"])?;
    let folder = cargo::target().join("wheels");
    let _ = std::fs::remove_dir_all(&folder);
    let mut command = Command::new(python);
    command.args(["-m", "maturin", "build", "--release", "--manifest-path", "crates/kreisel-py/Cargo.toml"]);
    output(command.arg("--out").arg(&folder))?;
    let files = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let mut wheels = paths.filter(|path| path.extension().is_some_and(|end| end == "whl"));
    wheels.next().ok_or_else(|| "maturin made no wheel".to_owned())
}

/// Installs the wheel and measures what the package costs, in a release build.
pub fn bench(options: &[&str]) -> Result<(), String> {
    let wheel = build_wheel()?;
    let python = environment("python-bench", &["distributed", "numpy", "pyarrow"])?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]);
    output(install.arg(&wheel))?;
    let mut measure = Command::new(&python);
    let status = measure.arg("benches/python.py").args(options).current_dir(root()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("benches/python.py failed: {status}")),
        Err(error) => Err(format!("Python did not start: {error}")),
    }
}
