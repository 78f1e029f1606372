//! A kind of part of one's own: the drag of `own_force.rs` in model files, with keys, sensors and an arrow.

#![allow(clippy::print_stdout, reason = "an example shows its result")]

#[path = "own_force.rs"]
#[allow(dead_code, reason = "a whole program of its own, of which only the force is used")]
pub mod own_force;

// ANCHOR: part
use kreisel::kinematics::NodeId;
use kreisel::machine::sensor::{
    AppliedWrench, NamedSensor, Reading, Sensor, SensorFrame, WrenchPart, number,
};
use kreisel::machine::{MachineBuilder, PartEntry, Rank};
use kreisel::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};
use kreisel::results::Channel;
use own_force::Drag;

/// Keys of `[[drag]]`.
static KIND: PartKind = PartKind {
    name: "drag",
    doc: "Air drag on a body that grows with the square of its speed; measures `force` and `power`.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("body", ValueKind::Reference, Need::Required).doc("The body that it slows down."),
        Key::new("coefficient", ValueKind::Number(Dimension::from_exponents([-1, 1, 0, 0])), Need::Required)
            .doc("Force per square of the speed."),
    ],
};

/// The kind for a `MachineReader`: its keys, who adds it, and the smallest model with it.
pub static DRAG: PartEntry = PartEntry::new(&KIND, &add, MODEL).changeable();

fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let Some(node) = builder.attachment(&reader.reference("body")?)?.node else {
        return Err(reader.unsuitable("body", "a body that can move", "the ground").into());
    };
    let coefficient = reader.positive("coefficient")?;
    let element = builder.add_element(part.name(), Drag { node: [node], coefficient });
    // The force is a signal with an arrow on the page; the power is a sensor of our own.
    let at = SensorFrame { node: Some(node), ..SensorFrame::default() };
    let force = AppliedWrench { element, part: WrenchPart::Force, at }.named(part.name());
    let power = NamedSensor::new(format!("{}.power", part.name()), LostPower { node, coefficient });
    builder.signals_mut().offer(Rank::Force, force);
    builder.signals_mut().offer(Rank::Force, power);
    reader.finish()
}

/// Shows the power that a drag takes out of the machine.
struct LostPower {
    node: NodeId,
    coefficient: f64,
}

impl Sensor for LostPower {
    fn channels(&self) -> Vec<Channel> {
        number("W")
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let speed = at.node(Some(self.node)).linear_velocity().norm();
        out.push(self.coefficient * speed.powi(3));
    }
}
// ANCHOR_END: part

// ANCHOR: model
use kreisel::part::MachineReader;

/// A ball that falls until its drag takes 8 W.
pub const MODEL: &str = r#"
    [simulation]
    end-time = 3
    step = "1 ms"

    [[body]]
    name = "ball"
    mass = "100 g"
    inertia = [1e-4, 1e-4, 1e-4]

    [[drag]]
    name = "air"
    body = "ball"
    coefficient = 0.01

    [[event]]
    name = "fast"
    zero-of = "air.power - 8"
    stop = true
"#;

/// Falling speed at which the drag takes 8 W, less that of the closed form P = c v³.
pub fn run() -> Result<f64, Box<dyn std::error::Error>> {
    let machine = MachineReader::new().with_part(&DRAG).text("ball.toml", MODEL)?;
    let fall = machine.simulate()?;
    let force = fall.signal("air.force.z").and_then(|values| values.last()).ok_or("no such signal")?;
    Ok((force / 0.01).sqrt() - (8.0_f64 / 0.01).cbrt())
}
// ANCHOR_END: model

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("the event is met to {:.1e} m/s", run()?.abs());
    Ok(())
}
