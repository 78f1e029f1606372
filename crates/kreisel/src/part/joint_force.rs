//! `[[joint-force]]`: an actuator in a joint.

use super::joint_coordinate::{self, CoordinateChoice, JOINT};
use crate::element::JointForce;
use crate::kinematics::pair_between;
use crate::machine::sensor::{AppliedPower, ForceAlong, Sign};
use crate::machine::{MachineBuilder, PartEntry, Rank, SignalCollector};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[[joint-force]]`.
static KIND: PartKind = PartKind {
    name: "joint-force",
    doc: "A force along the displacement of a joint, or a torque about its angle, on the second body and back on the first: an actuator. It is a number, a law of time, or an expression of `t` and measured quantities (`\"-20*crank.angle-rate\"`). Measures this `force` or `torque`, and its `power`.",
    occurrence: Occurrence::Many,
    keys: &[
        JOINT,
        Key::new("force", ValueKind::Signal(Dimension::FORCE), Need::Optional)
            .doc("Force along a displacement."),
        Key::new("torque", ValueKind::Signal(Dimension::TORQUE), Need::Optional)
            .doc("Torque about an angle."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_hinge!("[[joint-force]]\nname = 'motor'\njoint = 'hinge'\ntorque = '-hinge.rate'\n"),
)
.changeable()];

/// Adds an actuator.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let (measure, key) = match (reader.has("force"), reader.has("torque")) {
        (true, false) => (CoordinateChoice::Displacement, "force"),
        (false, true) => (CoordinateChoice::Angle, "torque"),
        (both, _) => {
            let found = if both { "both are given" } else { "none is given" };
            let error = reader.ambiguous(&["force", "torque"], found);
            return Err(error.with_hint("`force` along a displacement, `torque` about an angle").into());
        }
    };
    let along = joint_coordinate::read(&reader, builder, measure)?;
    let signal = reader.signal(key)?;
    let (nodes, pair) = pair_between(along.nodes, along.offsets);
    let mut collector = SignalCollector::new(builder, reader.description(), nodes);
    let force = collector.quantity(&signal)?;
    let used = collector.finish();
    let actuator = JointForce::new(used.nodes, pair, along.coordinate, force, used.signals);
    let element = builder.add_element(part.name(), actuator.with_inputs(used.initial));
    let signals = builder.signals_mut();
    signals.connect_inputs(element, used.inputs);
    signals.offer(Rank::OnDemand, ForceAlong::named(part.name(), element, &along, Sign::Along));
    signals.offer(Rank::OnDemand, AppliedPower::Element(element).named(part.name()));
    reader.finish()
}
