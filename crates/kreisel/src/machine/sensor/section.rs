//! Sensors of sections of beams: strains, forces, the way from the initial place, and the motion between
//! nodes.

use super::frame::{FrameQuantity, FrameSensor};
use super::section_force::{ElementSection, SectionSide};
use super::{
    FrameMotion, NamedSensor, Reading, Sensor, SensorEntry, SensorFrame, SensorRequest, components, xyz,
};
use crate::element::beam::BeamStrain;
use crate::kinematics::split;
use crate::lie::{Pose, Vector3, Vector6, se3};
use crate::machine::beam::{BeamEntry, BeamNode, BeamPlace, Station};
use crate::model::ModelErrors;
use crate::results::Channel;

/// The family's lines of the table.
pub(super) const LINES: &[SensorEntry] = &[
    SensorEntry::of_section("strain", |it| inner(it, SectionQuantity::Strain)),
    SensorEntry::of_section("force", |it| inner(it, SectionQuantity::Force)),
    SensorEntry::of_section("torque", |it| inner(it, SectionQuantity::Torque)),
    SensorEntry::of_section("displacement", |it| change(it, FrameQuantity::Position)),
    SensorEntry::of_section("rotation", |it| change(it, FrameQuantity::RotationVector)),
    SensorEntry::within("position", |it| motion(it, FrameQuantity::Position)),
    SensorEntry::within("orientation", |it| motion(it, FrameQuantity::Orientation)),
    SensorEntry::within("rotation-vector", |it| motion(it, FrameQuantity::RotationVector)),
    SensorEntry::within("velocity", |it| motion(it, FrameQuantity::Velocity)),
    SensorEntry::within("angular-velocity", |it| motion(it, FrameQuantity::AngularVelocity)),
];

/// What is measured in a section of a beam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SectionQuantity {
    /// Curvatures κ in 1/m and stretches γ beyond the initial shape.
    Strain,
    /// Force in N on the part towards the start.
    Force,
    /// Torque in Nm on the part towards the start.
    Torque,
}

/// Strains or forces of the section that is asked for.
fn inner(request: &SensorRequest, quantity: SectionQuantity) -> Result<NamedSensor, ModelErrors> {
    let (beam, word, _) = request.section()?;
    let side = request.side()?;
    let sides = beam.place(word).map(|place| sides(beam, place, side)).unwrap_or_default();
    Ok(NamedSensor::new(request.name(), SectionSensor { sides, quantity }))
}

/// The section on the sides that are asked for: a node within the beam has two.
fn sides(beam: &BeamEntry, place: BeamPlace, side: Option<SectionSide>) -> Vec<ElementSection> {
    let order = beam.order;
    let section = |piece: usize, part: f64, side: SectionSide| {
        ElementSection::new(beam, piece / order, (piece % order) as f64 + part, side)
    };
    match place {
        BeamPlace::Within(piece, part) => vec![section(piece, part, SectionSide::Before)],
        BeamPlace::Node(0) => vec![section(0, 0.0, SectionSide::After)],
        BeamPlace::Node(node) if node == beam.pieces.len() => {
            vec![section(node - 1, 1.0, SectionSide::Before)]
        }
        BeamPlace::Node(node) => {
            let both = [section(node - 1, 1.0, SectionSide::Before), section(node, 0.0, SectionSide::After)];
            let wanted =
                [SectionSide::Before, SectionSide::After].map(|it| side.is_none_or(|side| side == it));
            both.into_iter().zip(wanted).filter_map(|(section, wanted)| wanted.then_some(section)).collect()
        }
    }
}

/// How far the section that is asked for went from its initial place.
fn change(request: &SensorRequest, quantity: FrameQuantity) -> Result<NamedSensor, ModelErrors> {
    let (beam, _, station) = request.section()?;
    match station {
        Station::Node(node) => {
            let of = SensorFrame { node: node.node, offset: node.offset };
            let relative_to = SensorFrame { node: None, offset: node.pose() };
            let axes = SensorFrame::default();
            Ok(NamedSensor::new(request.name(), FrameSensor { quantity, of, relative_to, axes }))
        }
        Station::Within { piece, part } => {
            let mut sensor = WithinSensor::new(beam, piece, part, quantity);
            sensor.relative_to = sensor.initial;
            Ok(NamedSensor::new(request.name(), sensor))
        }
    }
}

/// The motion of the section between two nodes that is asked for.
fn motion(request: &SensorRequest, quantity: FrameQuantity) -> Result<NamedSensor, ModelErrors> {
    let (beam, _, station) = request.section()?;
    let Station::Within { piece, part } = station else { return Err(request.unknown_quantity()) };
    Ok(NamedSensor::new(request.name(), WithinSensor::new(beam, piece, part, quantity)))
}

/// Shows strains or forces in a section of a beam, in its axes: on the side where they are larger.
struct SectionSensor {
    /// The section on one side, or on both.
    sides: Vec<ElementSection>,
    quantity: SectionQuantity,
}

/// Part by which forces behind a node must exceed those before it to be shown in their place, so that
/// rounding does not switch between the two.
const LARGER: f64 = 1e-9;

impl SectionSensor {
    /// By what the two sides are compared: the size of a force or torque, the energy of a strain.
    fn size(&self, found: &BeamStrain) -> f64 {
        let (torque, force) = split(&found.force);
        match self.quantity {
            SectionQuantity::Strain => found.strain.dot(&found.force).abs(),
            SectionQuantity::Force => force.norm(),
            SectionQuantity::Torque => torque.norm(),
        }
    }
}

impl Sensor for SectionSensor {
    fn channels(&self) -> Vec<Channel> {
        match self.quantity {
            SectionQuantity::Strain => {
                let mut channels = components(&["kappa-x", "kappa-y", "kappa-z"], "1/m");
                channels.extend(components(&["gamma-x", "gamma-y", "gamma-z"], "1"));
                channels
            }
            SectionQuantity::Force => xyz("N"),
            SectionQuantity::Torque => xyz("Nm"),
        }
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let mut shown = BeamStrain { strain: Vector6::zeros(), force: Vector6::zeros() };
        for (index, side) in self.sides.iter().enumerate() {
            let found = side.read(at);
            if index == 0 || self.size(&found) > (1.0 + LARGER) * self.size(&shown) {
                shown = found;
            }
        }
        let (torque, force) = split(&shown.force);
        match self.quantity {
            SectionQuantity::Strain => out.extend_from_slice(shown.strain.as_slice()),
            SectionQuantity::Force => out.extend_from_slice(force.as_slice()),
            SectionQuantity::Torque => out.extend_from_slice(torque.as_slice()),
        }
    }
}

/// Shows the motion of a section of a beam between two nodes, seen from a frame at rest in world axes.
struct WithinSensor {
    quantity: FrameQuantity,
    /// The section from which the screws to the others go.
    from: SensorFrame,
    /// The others with the weights of their screws.
    to: Vec<(SensorFrame, f64)>,
    /// Where the section is initially.
    initial: Pose,
    /// The frame of the observer on the ground.
    relative_to: Pose,
}

impl WithinSensor {
    fn new(beam: &BeamEntry, piece: usize, part: f64, quantity: FrameQuantity) -> Self {
        let (base, others) = beam.interpolation(piece, part);
        let (first, mut path) = (base.pose(), Vector6::zeros());
        for (other, weight) in &others {
            // Pieces are turned by less than half a turn.
            let screw =
                se3::log(&first.inverse().compose(&other.pose())).unwrap_or_else(|_| Vector6::zeros());
            path += *weight * screw;
        }
        let frame = |section: BeamNode| SensorFrame { node: section.node, offset: section.offset };
        Self {
            quantity,
            from: frame(base),
            to: others.into_iter().map(|(section, weight)| (frame(section), weight)).collect(),
            initial: first.compose(&se3::exp(&path)),
            relative_to: Pose::identity(),
        }
    }

    /// Motion of the section: H = H_A exp(ξ), V = Ad(exp(−ξ)) V_A + T(ξ) ξ̇, ξ = Σ N d.
    fn motion(&self, at: &Reading) -> FrameMotion {
        let motion = |section: &SensorFrame| {
            let node = at.node(section.node);
            (node.pose.compose(&section.offset), se3::adjoint(&section.offset.inverse()) * node.velocity)
        };
        let (first, v_first) = motion(&self.from);
        let still = Vector6::zeros();
        let (mut path, mut path_rate) = (still, still);
        for (section, weight) in &self.to {
            let (second, v_second) = motion(section);
            let screw = se3::log(&first.inverse().compose(&second)).unwrap_or(still);
            // ḋ = T⁻¹(d) (V_B − V_A) + d̂ V_A
            let rate = se3::inverse_tangent_multiply(&screw, &(v_second - v_first)).unwrap_or(still)
                + se3::hat_multiply(&screw, &v_first);
            path += *weight * screw;
            path_rate += *weight * rate;
        }
        let step = se3::exp(&path);
        let velocity = se3::adjoint(&step.inverse()) * v_first + se3::tangent_multiply(&path, &path_rate);
        let pose = first.compose(&step);
        let (omega, u) = split(&velocity);
        FrameMotion {
            pose,
            velocity: pose.rotation * u,
            angular_velocity: pose.rotation * omega,
            acceleration: Vector3::zeros(),
            angular_acceleration: Vector3::zeros(),
        }
    }
}

impl Sensor for WithinSensor {
    fn channels(&self) -> Vec<Channel> {
        self.quantity.channels()
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let observer = SensorFrame { node: None, offset: self.relative_to };
        self.quantity.read([self.motion(at), observer.motion(at), SensorFrame::default().motion(at)], out);
    }
}
