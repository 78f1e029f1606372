//! Kreisel simulates machines made of rigid and flexible parts.
//!
//! One river, no loops:
//!
//! ```text
//! model file ──▶ Machine ──▶ System ──▶ Integration ──▶ results
//!  (words)      (checked)  (equations)    (steps)      (numbers)
//! ```
//!
//! - [`model`] reads what the user says: TOML, units, expressions, with every mistake at its place. It knows no mechanics.
//! - [`part`] reads each kind of part, and [`machine`] makes of them a [`system::System`], its initial values and its sensors.
//! - [`run`] runs it, into a folder by one [`run::Job`]: recorder, checkpoints, stepper, equilibria and modes with names.
//! - [`element`] is what pushes, [`joint`] what holds; both see a few nodes in body twists, as [`kinematics`] shows them.
//! - [`system`] makes one [`dae::Dae`] of them: equations without names.
//! - [`constrained`] finds consistent values of any [`dae::Dae`], and which constraints follow from others.
//! - [`integrate`] advances any [`dae::Dae`] on the Lie groups of [`lie`], with the equation solvers of [`solve`].
//! - [`statics`] finds where any [`dae::Dae`] comes to rest, [`modes`] how it moves about there.
//! - [`results`] writes what was recorded; [`report`] shows it, unless the feature `report` is left out.
//!
//! A model file from its text to a reaction:
//!
//! ```
//! use kreisel::machine::Machine;
//!
//! let model = r#"
//!     [simulation]
//!     end-time = 1
//!     step = "1 ms"
//!
//!     [[body]]
//!     name = "bob"
//!     mass = 2
//!     inertia = [0.01, 0.01, 0.01]
//!     position = ["50 cm", 0, 0]
//!
//!     [[revolute]]
//!     name = "hinge"
//!     bodies = ["ground", "bob"]
//!     point = [0, 0, 0]
//!     axis = [0, 1, 0]
//! "#;
//! let machine = Machine::from_text("pendulum.toml", model)?;
//! let trajectory = machine.simulate()?;
//! let angle = trajectory.signal("hinge.angle").ok_or("no such signal")?;
//! // Released from the horizontal, it has passed the lowest point after a second.
//! assert!(angle.last().is_some_and(|angle| *angle > 1.6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # I want to …
//!
//! | I want to … | use |
//! |---|---|
//! | run a model file and look at its signals | [`read`], then [`machine::Machine::simulate`]: `examples/read_model.rs` |
//! | change settings and parameters of a file | [`part::MachineReader::with_setting`], [`part::MachineReader::with_parameters`] |
//! | write the files of `kreisel run`, with its page | [`run::Job::run_into`] |
//! | watch a run, and end it when I have seen enough | [`run::Job::observe`] with a [`run::JobObserver`] |
//! | know whether the result can be trusted | the verdict and the notes of [`run::JobOutcome::summary`] |
//! | find an equilibrium, or modes | [`machine::Machine::find_equilibrium`], [`machine::Machine::linearize`] |
//! | run many parameters | [`sweep::Study`] |
//! | step by step, with inputs of my own | [`run::Stepper`] |
//! | add a part to the model file | [`part::MachineReader::with_part`]: `examples/own_part.rs` |
//! | add a force or a joint in Rust alone | [`element::Element`], [`joint::Joint`]: `examples/own_force.rs`, `examples/own_joint.rs` |
//! | integrate equations of my own | [`dae::Dae`]: `examples/own_system.rs` |
//!
//! Errors print their message also where `main` returns them, with the line of the model that is to blame:
//!
//! ```
//! let error = kreisel::read("no-such-file.toml").err().ok_or("there is one")?;
//! assert!(format!("{error:?}").contains("no-such-file.toml"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Settings of a file as numbers, and its own words for what went wrong:
//!
//! ```
//! use kreisel::part::MachineReader;
//!
//! let text = "[simulation]\nend-time = 1\n[[point-mass]]\nname = 'ball'\nmass = 1\n";
//! let machine = MachineReader::new().with_setting("step", 0.01).text("ball.toml", text)?;
//! let height = machine.simulate()?;
//! let fall = height.signal("ball.position.z").ok_or("no such signal")?;
//! // After a second it has fallen by g/2.
//! assert!((fall.last().ok_or("no output")? + 0.5 * 9.80665).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An equilibrium, and how the machine moves about it:
//!
//! ```
//! use kreisel::machine::Machine;
//! use kreisel::modes::ModeSettings;
//! use kreisel::run::About;
//!
//! let model = r#"
//!     [[body]]
//!     name = "bob"
//!     mass = 2
//!     inertia = [0.03, 0.03, 0.01]
//!     position = [0, 0, -0.5]
//!
//!     [[revolute]]
//!     name = "hinge"
//!     bodies = ["ground", "bob"]
//!     point = [0, 0, 0]
//!     axis = [0, 1, 0]
//! "#;
//! let machine = Machine::from_text("pendulum.toml", model)?;
//! machine.equilibrium()?;
//! let modes = machine.linearize(About::Static)?.modes(ModeSettings { count: 1 })?;
//! // m g l = (I + m l²) ω²
//! let omega = (2.0 * 9.80665 * 0.5 / (0.03 + 2.0 * 0.25_f64)).sqrt();
//! assert!((modes.modes[0].frequency() - omega / (2.0 * std::f64::consts::PI)).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Step by step, with an input of one's own:
//!
//! ```
//! use kreisel::machine::Machine;
//! use kreisel::run::Stepper;
//! use std::sync::Arc;
//!
//! let model = r#"
//!     [simulation]
//!     end-time = 2
//!     step = 0.01
//!     [gravity]
//!     acceleration = [0, 0, 0]
//!     [[input]]
//!     name = "push"
//!     [[body]]
//!     name = "cart"
//!     mass = 2
//!     inertia = [1, 1, 1]
//!     [[force]]
//!     name = "engine"
//!     body = "cart"
//!     force = ["push", 0, 0]
//! "#;
//! let mut stepper = Stepper::start(Arc::new(Machine::from_text("cart.toml", model)?))?;
//! let push = stepper.input("push").ok_or("no such input")?;
//! let place = stepper.signal("cart.position.x").ok_or("no such signal")?;
//! stepper.set_input(push, 4.0);
//! stepper.advance_to(1.0, |_time| true);
//! // a t²/2 with a = 4 N / 2 kg
//! assert!((stepper.value(place) - 1.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The files of `kreisel run`, and whether the result can be trusted:
//!
//! ```
//! use kreisel::results::Verdict;
//! use kreisel::run::Job;
//!
//! let text = "[simulation]\nend-time = 1\nstep = 0.01\n[[point-mass]]\nname = 'ball'\nmass = 1\n";
//! # let folder = std::env::temp_dir().join(format!("kreisel-tour-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let file = folder.join("ball.toml");
//! std::fs::write(&file, text)?;
//! let machine = kreisel::read(&file)?;
//! let model = machine.sources().first().cloned().ok_or("no file")?;
//! let outcome = Job::new(&machine, &machine.plan()?).model(model).run_into(&folder.join("results"))?;
//! assert!(outcome.summary.verdict == Some(Verdict::Good));
//! assert!(folder.join("results/trajectory.csv").exists());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Many parameters, and a number of each run:
//!
//! ```
//! use kreisel::model::Document;
//! use kreisel::part::{self, MachineReader};
//! use kreisel::sweep::{Request, Sampling, Study};
//! use std::sync::atomic::AtomicBool;
//!
//! let text = "[parameters]\nspeed = 1\n[simulation]\nend-time = 1\nstep = 0.01\n\
//!     [[point-mass]]\nname = 'ball'\nmass = 1\nvelocity = [0, 0, 'speed']\n";
//! let document = Document::from_text("ball.toml", text, &part::kinds(), &[])?;
//! let build = |more: &[(&str, &str)]| MachineReader::new().with_parameters(more).text("ball.toml", text);
//! let request = Request {
//!     variations: vec!["speed=1:3:3".to_owned()],
//!     measures: vec!["last(ball.position.z)".to_owned()],
//!     sampling: Sampling::Grid,
//!     settings: Vec::new(),
//! };
//! let study = Study::new(&document, &build(&[])?, request)?;
//! let points = study.points()?;
//! let mut rows = Vec::new();
//! study.plan(&build, &points).run_missing(None, &mut rows, 1, &AtomicBool::new(false), &|| {})?;
//! // v t − g t²/2 for 1, 2 and 3 m/s
//! for row in rows {
//!     assert!((row.measures[0] - (points[row.run][0] - 0.5 * 9.80665)).abs() < 1e-9);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod message;

mod bytes;
pub mod constrained;
pub mod dae;
pub mod element;
mod file;
pub mod integrate;
pub mod joint;
pub mod kinematics;
pub mod lie;
pub mod machine;
mod memory;
pub mod model;
pub mod modes;
pub mod part;
#[cfg(feature = "report")]
pub mod report;
pub mod results;
pub mod run;
pub mod solve;
pub mod statics;
pub mod sweep;
pub mod system;

pub use part::read;
