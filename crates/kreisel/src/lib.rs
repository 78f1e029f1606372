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
