//! What is measured while a machine runs, under the names of the result files.
//!
//! A [`Sensor`] turns the motion at one time into one or more numbers, each a [`Channel`]. Positions,
//! velocities and accelerations are those of a frame P as an observer in a frame F sees them; with r from F's
//! origin to P's,
//!
//! ```text
//! v_rel = v_P − v_F − ω_F × r
//! a_rel = a_P − a_F − ω̇_F × r − ω_F × (ω_F × r) − 2 ω_F × v_rel
//! ```
//!
//! and they are shown in the axes of a third frame, which is F if nothing else is asked for.

mod usual;

pub(crate) use usual::{CONTACT_QUANTITIES, REACTIONS, all, coordinate, coordinate_names};

use super::balance::EnergyBalance;
use super::beam::StrainPoint;
use crate::dae::Point;
use crate::element::StateId;
use crate::element::beam::BeamStrain;
use crate::kinematics::{Coordinate, Frame, Motion, NodeId, NodeMotion, Relative, split};
use crate::lie::{Pose, UnitQuaternion, Vector3, Vector6, se3, so3};
use crate::results::Channel;
use crate::system::System;

/// A frame on a node, or on the ground.
#[derive(Clone, Copy, Debug, Default)]
pub struct SensorFrame {
    /// Node, or `None` for the ground.
    pub node: Option<NodeId>,
    /// The frame in body axes, or in the world on the ground.
    pub offset: Pose,
}

/// What is measured of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameQuantity {
    /// Position of the origin in m.
    Position,
    /// Rotation as a unit quaternion w, x, y, z.
    Orientation,
    /// Rotation as a vector along its axis with its angle as length, in rad; up to half a turn.
    RotationVector,
    /// Velocity of the origin in m/s.
    Velocity,
    /// Angular velocity in rad/s.
    AngularVelocity,
    /// Acceleration v̇ of the origin in m/s².
    Acceleration,
    /// Angular acceleration in rad/s².
    AngularAcceleration,
}

/// A force or a torque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrenchPart {
    /// Force in N.
    Force,
    /// Torque in Nm.
    Torque,
}

/// What is measured of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactQuantity {
    /// Force in N on the second body in world axes.
    Force,
    /// Sum of the normal forces in N.
    NormalForce,
    /// Largest depth in m; negative for the smallest gap if nothing touches.
    Depth,
}

/// What is measured of a group in which any two may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupQuantity {
    /// How many pairs touch.
    Contacts,
    /// Sum of the normal forces in N.
    NormalForce,
    /// Largest depth in m; 0 if nothing touches.
    Depth,
}

/// What is measured in a section of a beam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionQuantity {
    /// Curvatures κ in 1/m and stretches γ beyond the initial shape.
    Strain,
    /// Force in N on the part towards the start.
    Force,
    /// Torque in Nm on the part towards the start.
    Torque,
}

/// What a sensor measures.
#[derive(Clone, Debug)]
pub enum Measurement {
    /// The motion of a frame relative to another, in the axes of a third.
    Frame {
        /// What of it.
        quantity: FrameQuantity,
        /// The frame that is measured.
        of: SensorFrame,
        /// The frame of the observer.
        relative_to: SensorFrame,
        /// The frame whose axes the components belong to.
        axes: SensorFrame,
    },
    /// A scalar coordinate between two frames, or its rate.
    Coordinate {
        /// Nodes of the frames; `None` is the ground.
        nodes: [Option<NodeId>; 2],
        /// The frames.
        frames: Box<[Frame; 2]>,
        /// The coordinate.
        coordinate: Coordinate,
        /// Whether its rate is meant.
        rate: bool,
        /// Unit of the value.
        unit: &'static str,
    },
    /// What a joint exerts on its second body at the joint's point.
    Reaction {
        /// Index of the joint in the system.
        joint: usize,
        /// Force or torque.
        part: WrenchPart,
        /// The frame whose axes the components belong to.
        axes: SensorFrame,
    },
    /// What a force of the model exerts on its body, in world axes.
    Applied {
        /// Index of the force's element in the system.
        element: usize,
        /// Force or torque.
        part: WrenchPart,
        /// Where it acts, in body axes.
        of: SensorFrame,
    },
    /// What two shapes that touch do to each other.
    Contact {
        /// Indices of the contact's elements in the system.
        elements: Vec<usize>,
        /// What of it.
        quantity: ContactQuantity,
        /// Where its force is shown.
        shown_at: SensorFrame,
    },
    /// What happens in a group in which any two may touch.
    ContactGroup {
        /// Name of the group.
        group: String,
        /// What of it.
        quantity: GroupQuantity,
    },
    /// The motion of a section of a beam between two nodes, seen from a frame at rest in world axes.
    Within {
        /// What of it.
        quantity: FrameQuantity,
        /// The section from which the screws to the others go.
        from: SensorFrame,
        /// The others with the weights of their screws.
        to: Vec<(SensorFrame, f64)>,
        /// The frame of the observer on the ground.
        relative_to: Pose,
    },
    /// Strains or forces in a section of a beam, in its axes.
    Section {
        /// Points of elements, and their weights.
        points: Vec<StrainPoint>,
        /// What of them.
        quantity: SectionQuantity,
    },
    /// A state.
    State {
        /// The state.
        state: StateId,
        /// Unit of the value.
        unit: String,
    },
    /// An input from outside.
    Input {
        /// The element that holds how much it differs from its initial value.
        element: usize,
        /// Its initial value.
        initial: f64,
    },
    /// Kinetic, potential, strain energy, work, dissipated, total, balance.
    Energies,
    /// Norms of the constraints' residuals at position and velocity level.
    Residuals,
    /// Step size, Newton iterations and steps taken back.
    Solver,
    /// Condition number of the iteration matrix.
    Condition,
}

/// A named measurement.
#[derive(Clone, Debug)]
pub struct Sensor {
    /// Name of its signals without the component: `top.position`, `crank.angle`.
    pub name: String,
    /// What it measures.
    pub measurement: Measurement,
}

/// Handle of a signal: one value of one sensor of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalId {
    pub(crate) sensor: usize,
    pub(crate) component: usize,
}

/// The moment at which sensors read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The equations of the machine.
    pub system: &'a System,
    /// The motion.
    pub point: Point<'a>,
    /// Work and losses up to here.
    pub balance: &'a EnergyBalance,
    /// What the solver did.
    pub solver: SolverNumbers,
}

/// What the solver did up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverNumbers {
    /// Size of the step that contains the moment, in s.
    pub step: f64,
    /// Newton iterations since the last record.
    pub iterations: f64,
    /// Steps taken back since the last record.
    pub rejections: f64,
    /// Condition number of the iteration matrix; 0 where it is not known.
    pub condition: f64,
}

impl SolverNumbers {
    /// All of them, to be saved.
    pub(crate) fn numbers(&self) -> [f64; 4] {
        [self.step, self.iterations, self.rejections, self.condition]
    }

    /// Those that were saved.
    pub(crate) fn from_numbers([step, iterations, rejections, condition]: [f64; 4]) -> Self {
        Self { step, iterations, rejections, condition }
    }
}

/// Sums the elements of a contact.
fn read_contact(at: &Reading, elements: &[usize], quantity: ContactQuantity, out: &mut Vec<f64>) {
    let touches = elements.iter().filter_map(|&element| at.system.contact(element, &at.point));
    match quantity {
        ContactQuantity::Force => {
            let force: Vector3 = touches.map(|contact| contact.force).sum();
            out.extend_from_slice(force.as_slice());
        }
        ContactQuantity::NormalForce => out.push(touches.map(|contact| contact.normal_force).sum()),
        ContactQuantity::Depth => {
            let deepest = touches.map(|contact| contact.depth).reduce(f64::max);
            out.push(deepest.unwrap_or(0.0));
        }
    }
}

impl<'a> Reading<'a> {
    /// A moment of which nothing is known of the solver.
    pub fn new(system: &'a System, point: Point<'a>, balance: &'a EnergyBalance) -> Self {
        Self { system, point, balance, solver: SolverNumbers::default() }
    }
}

/// Motion of a frame in world axes.
struct FrameMotion {
    pose: Pose,
    velocity: Vector3,
    angular_velocity: Vector3,
    acceleration: Vector3,
    angular_acceleration: Vector3,
}

const ENERGIES: [&str; 7] = ["kinetic", "potential", "strain", "work", "dissipated", "total", "balance"];

impl Sensor {
    /// Its signals, with names and units.
    pub fn channels(&self) -> Vec<Channel> {
        let name = &self.name;
        let components = |letters: &[&str], unit: &str| -> Vec<Channel> {
            letters.iter().map(|letter| Channel::new(format!("{name}.{letter}"), unit)).collect()
        };
        let xyz = ["x", "y", "z"];
        match &self.measurement {
            Measurement::Frame { quantity: FrameQuantity::Orientation, .. } => {
                components(&["w", "x", "y", "z"], "1")
            }
            Measurement::Frame { quantity, .. } => components(&xyz, quantity.unit()),
            Measurement::Coordinate { unit, .. } => vec![Channel::new(name, *unit)],
            Measurement::State { unit, .. } => vec![Channel::new(name, unit)],
            Measurement::Input { .. } => vec![Channel::new(name, "1")],
            Measurement::Reaction { part, .. } | Measurement::Applied { part, .. } => {
                components(&xyz, part.unit())
            }
            Measurement::Within { quantity: FrameQuantity::Orientation, .. } => {
                components(&["w", "x", "y", "z"], "1")
            }
            Measurement::Within { quantity, .. } => components(&xyz, quantity.unit()),
            Measurement::Contact { quantity: ContactQuantity::Force, .. } => components(&xyz, "N"),
            Measurement::Contact { quantity: ContactQuantity::NormalForce, .. } => {
                vec![Channel::new(name, "N")]
            }
            Measurement::Contact { quantity: ContactQuantity::Depth, .. } => vec![Channel::new(name, "m")],
            Measurement::ContactGroup { quantity, .. } => vec![Channel::new(
                name,
                match quantity {
                    GroupQuantity::Contacts => "1",
                    GroupQuantity::NormalForce => "N",
                    GroupQuantity::Depth => "m",
                },
            )],
            Measurement::Section { quantity: SectionQuantity::Strain, .. } => {
                let mut channels = components(&["kappa-x", "kappa-y", "kappa-z"], "1/m");
                channels.extend(components(&["gamma-x", "gamma-y", "gamma-z"], "1"));
                channels
            }
            Measurement::Section { quantity: SectionQuantity::Force, .. } => components(&xyz, "N"),
            Measurement::Section { quantity: SectionQuantity::Torque, .. } => components(&xyz, "Nm"),
            Measurement::Energies => components(&ENERGIES, "J"),
            Measurement::Residuals => {
                vec![
                    Channel::new(format!("{name}.position"), "1"),
                    Channel::new(format!("{name}.velocity"), "1/s"),
                ]
            }
            Measurement::Condition => vec![Channel::new(name, "1")],
            Measurement::Solver => vec![
                Channel::new(format!("{name}.step"), "s"),
                Channel::new(format!("{name}.iterations"), "1"),
                Channel::new(format!("{name}.rejections"), "1"),
            ],
        }
    }

    /// Whether the value is an angle whose full turns are counted.
    pub fn counts_turns(&self) -> bool {
        matches!(&self.measurement, Measurement::Coordinate { coordinate, rate: false, .. } if coordinate.counts_turns())
    }

    /// Adds the values at a moment; `near` is the angle that an angle is nearest to.
    pub fn read(&self, at: &Reading, near: f64, out: &mut Vec<f64>) {
        match &self.measurement {
            Measurement::Frame { quantity, of, relative_to, axes } => {
                read_frame(*quantity, [of, relative_to, axes].map(|frame| frame.motion(at)), out);
            }
            Measurement::Coordinate { nodes, frames, coordinate, rate, .. } => {
                let relative = relative(at, nodes, frames);
                out.push(if *rate { coordinate.rate(&relative) } else { coordinate.value(&relative, near) });
            }
            Measurement::Reaction { joint, part, axes } => {
                let (torque, force) = split(&at.system.reaction(*joint, &at.point));
                let wanted = if *part == WrenchPart::Force { force } else { torque };
                let rotation = axes.motion(at).pose.rotation;
                out.extend_from_slice(rotation.inverse_transform_vector(&wanted).as_slice());
            }
            Measurement::Applied { element, part, of } => {
                let (torque, force) = split(&at.system.applied_wrench(*element, &at.point));
                let rotation = node_motion(at, of.node).rotation;
                // From the body's origin to the point.
                let torque = torque - (rotation * of.offset.position).cross(&force);
                let wanted = if *part == WrenchPart::Force { force } else { torque };
                out.extend_from_slice(wanted.as_slice());
            }
            Measurement::Contact { elements, quantity, .. } => read_contact(at, elements, *quantity, out),
            Measurement::ContactGroup { group, quantity } => {
                let contact = at.system.group_contact(group, &at.point);
                out.push(match quantity {
                    GroupQuantity::Contacts => contact.touching as f64,
                    GroupQuantity::NormalForce => contact.normal_force,
                    GroupQuantity::Depth => contact.depth,
                });
            }
            Measurement::Within { quantity, from, to, relative_to } => {
                let observer = SensorFrame { node: None, offset: *relative_to };
                let motions = [within(at, from, to), observer.motion(at), SensorFrame::default().motion(at)];
                read_frame(*quantity, motions, out);
            }
            Measurement::Section { points, quantity } => {
                let (mut strain, mut force) = (Vector6::zeros(), Vector6::zeros());
                for point in points {
                    let found = section(at, point);
                    strain += point.weight * found.strain;
                    force += point.weight * found.force;
                }
                let (torque, force) = split(&force);
                match quantity {
                    SectionQuantity::Strain => out.extend_from_slice(strain.as_slice()),
                    SectionQuantity::Force => out.extend_from_slice(force.as_slice()),
                    SectionQuantity::Torque => out.extend_from_slice(torque.as_slice()),
                }
            }
            Measurement::State { state, .. } => out.push(at.point.internal_states[state.0]),
            Measurement::Input { element, initial } => {
                out.push(initial + at.point.memory[at.system.element_memory(*element).start]);
            }
            Measurement::Energies => {
                let energies = at.system.energies(&at.point);
                let (work, dissipated) = (at.balance.work, at.balance.dissipated);
                let (total, balance) = (energies.total(), at.balance.defect(energies.total()));
                out.extend([energies.kinetic, energies.potential, energies.strain]);
                out.extend([work, dissipated, total, balance]);
            }
            Measurement::Residuals => out.extend(at.system.constraint_residuals(&at.point)),
            Measurement::Solver => out.extend([at.solver.step, at.solver.iterations, at.solver.rejections]),
            Measurement::Condition => out.push(at.solver.condition),
        }
    }

    /// Rate of the coordinate that the sensor measures; zero for other sensors.
    pub fn coordinate_rate(&self, at: &Reading) -> f64 {
        match &self.measurement {
            Measurement::Coordinate { nodes, frames, coordinate, .. } => {
                coordinate.rate(&relative(at, nodes, frames))
            }
            _ => 0.0,
        }
    }
}

/// Strain and section forces at a point of an element.
fn section(at: &Reading, point: &StrainPoint) -> BeamStrain {
    let mut nodes = [NodeMotion::at_rest(Pose::identity()); 3];
    let touched = point.element.nodes();
    for (motion, node) in nodes.iter_mut().zip(touched) {
        *motion = at.system.motion(*node, &at.point);
    }
    point.element.strain(point.point, &Motion::new(at.point.time, &nodes[..touched.len()]))
}

/// Motion of a section within an element: H = H_A exp(ξ), V = Ad(exp(−ξ)) V_A + T(ξ) ξ̇, ξ = Σ N d.
fn within(at: &Reading, from: &SensorFrame, to: &[(SensorFrame, f64)]) -> FrameMotion {
    let motion = |section: &SensorFrame| {
        let node = node_motion(at, section.node);
        (node.pose.compose(&section.offset), se3::adjoint(&section.offset.inverse()) * node.velocity)
    };
    let (first, v_first) = motion(from);
    let still = Vector6::zeros();
    let (mut path, mut path_rate) = (still, still);
    for (section, weight) in to {
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

fn relative(at: &Reading, nodes: &[Option<NodeId>; 2], frames: &[Frame; 2]) -> Relative {
    let motions = nodes.map(|node| node_motion(at, node));
    Relative::new(frames, [&motions[0], &motions[1]])
}

fn node_motion(at: &Reading, node: Option<NodeId>) -> NodeMotion {
    match node {
        Some(node) => at.system.motion(node, &at.point),
        None => NodeMotion::at_rest(Pose::identity()),
    }
}

impl WrenchPart {
    /// Unit of the components.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Force => "N",
            Self::Torque => "Nm",
        }
    }
}

impl FrameQuantity {
    /// Unit of the components.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Position => "m",
            Self::Orientation => "1",
            Self::RotationVector => "rad",
            Self::Velocity => "m/s",
            Self::AngularVelocity => "rad/s",
            Self::Acceleration => "m/s^2",
            Self::AngularAcceleration => "rad/s^2",
        }
    }
}

impl SensorFrame {
    fn motion(&self, at: &Reading) -> FrameMotion {
        let node = node_motion(at, self.node);
        let angular_acceleration: Vector3 = node.acceleration.fixed_rows::<3>(0).into();
        FrameMotion {
            pose: node.pose.compose(&self.offset),
            velocity: node.point_velocity(&self.offset.position),
            angular_velocity: node.rotation * node.angular_velocity(),
            acceleration: node.point_acceleration(&self.offset.position),
            // d/dt (R Ω) = R Ω̇, because Ω × Ω = 0.
            angular_acceleration: node.rotation * angular_acceleration,
        }
    }
}

fn read_frame(quantity: FrameQuantity, [of, from, axes]: [FrameMotion; 3], out: &mut Vec<f64>) {
    let rotation = || so3::compose(&from.pose.rotation.inverse(), &of.pose.rotation);
    let vector = match quantity {
        FrameQuantity::Orientation => {
            let q = positive(rotation());
            out.extend([q.w, q.i, q.j, q.k]);
            return;
        }
        FrameQuantity::RotationVector => {
            out.extend_from_slice(so3::log(&positive(rotation())).as_slice());
            return;
        }
        FrameQuantity::Position => of.pose.position - from.pose.position,
        FrameQuantity::Velocity => relative_velocity(&of, &from),
        FrameQuantity::AngularVelocity => of.angular_velocity - from.angular_velocity,
        FrameQuantity::Acceleration => {
            let arm = of.pose.position - from.pose.position;
            let omega = from.angular_velocity;
            of.acceleration
                - from.acceleration
                - from.angular_acceleration.cross(&arm)
                - omega.cross(&omega.cross(&arm))
                - 2.0 * omega.cross(&relative_velocity(&of, &from))
        }
        FrameQuantity::AngularAcceleration => {
            let omega = from.angular_velocity;
            of.angular_acceleration - from.angular_acceleration - omega.cross(&of.angular_velocity)
        }
    };
    out.extend_from_slice(axes.pose.rotation.inverse_transform_vector(&vector).as_slice());
}

fn relative_velocity(of: &FrameMotion, from: &FrameMotion) -> Vector3 {
    let arm = of.pose.position - from.pose.position;
    of.velocity - from.velocity - from.angular_velocity.cross(&arm)
}

/// Of the two quaternions of a rotation the one with w ≥ 0, so that a result does not depend on its history.
fn positive(rotation: UnitQuaternion) -> UnitQuaternion {
    if rotation.w < 0.0 { UnitQuaternion::new_unchecked(-rotation.into_inner()) } else { rotation }
}
