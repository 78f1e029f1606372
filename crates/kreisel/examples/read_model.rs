//! A model file, two settings as numbers, a run, a signal.

#![allow(clippy::print_stdout, reason = "an example shows its result")]

use kreisel::part::MachineReader;

/// Time at which the pendulum of a model file turns back on the other side, in s.
pub fn run(path: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let machine = MachineReader::new().with_setting("end-time", 1.5).with_setting("step", 1e-3).read(path)?;
    let trajectory = machine.simulate()?;
    let angle = trajectory.signal("pin.angle").ok_or("the model has no joint `pin`")?;
    let largest = (0..angle.len()).max_by(|a, b| angle[*a].total_cmp(&angle[*b]));
    largest.map(|at| trajectory.times[at]).ok_or_else(|| "the run has no output".into())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let time = run(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/pendulum.toml"))?;
    println!("half a swing takes {time:.3} s");
    Ok(())
}
