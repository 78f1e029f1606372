//! What touches: contact of two shapes with friction.
//!
//! A [`Contact`] stands between two frames with a shape each. The shapes fall into couples of a feature and a
//! surface (`shape.rs`); each couple has nearest points (`nearest_points.rs`), a normal force and friction
//! (`law.rs`), and pushes its two bodies apart (`force.rs`). The tangent is exact, for every couple and law.
//! Of the members of a [`ContactGroup`] any two may touch (`contact_group.rs`).

mod contact_group;
mod force;
mod law;
mod nearest_points;
mod shape;

pub use contact_group::{ContactGroup, Member};
pub(crate) use force::motion_by_twists;
pub(crate) use law::FrictionForce;
pub use law::{CoulombFriction, Friction, LuGreFriction, MIN_RESTITUTION, NormalForce, NormalLaw};
pub use shape::{Couple, Feature, Surface, couples};

use super::{Element, ElementFacts, Forces, LocalStateTangent, OfferedSignal, StateId};
use crate::kinematics::{FramePair, Motion, NodeId, Relative, pair_between};
use crate::lie::{Pose, Vector3, Vector6};
use force::{History, Touching};

/// What a contact does at a moment, summed over its couples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactResult {
    /// Depth of the deepest couple in m; negative for the smallest gap if nothing touches.
    pub depth: f64,
    /// Sum of the normal forces in N.
    pub normal_force: f64,
    /// Force on the second body in world axes, in N.
    pub force: Vector3,
    /// Where the deepest couple touches, in the world.
    pub point: Vector3,
}

impl ContactResult {
    /// How a contact offers it to sensors.
    pub(crate) const SIGNAL: OfferedSignal = OfferedSignal { name: "contact", size: Self::SIZE };

    const SIZE: usize = 8;

    fn numbers(&self) -> [f64; Self::SIZE] {
        let (force, point) = (&self.force, &self.point);
        [self.depth, self.normal_force, force.x, force.y, force.z, point.x, point.y, point.z]
    }

    /// What an element measures by the place of this signal.
    pub(crate) fn measured(element: &dyn Element, at: &Motion, signal: usize) -> Self {
        let mut numbers = [0.0; Self::SIZE];
        element.measure(at, signal, &mut numbers);
        let [depth, normal_force, force @ .., x, y, z] = numbers;
        Self { depth, normal_force, force: force.into(), point: Vector3::new(x, y, z) }
    }
}

/// Two shapes that push each other where they overlap.
#[derive(Clone, Debug)]
pub struct Contact {
    nodes: Vec<NodeId>,
    /// Frames with the surface first: on the first shape, and on the second.
    pairs: [FramePair; 2],
    couples: Vec<Couple>,
    law: NormalLaw,
    friction: Friction,
    /// Deflections of the bristles of a single couple, in axes of its surface's frame.
    bristles: Vec<StateId>,
}

impl Contact {
    /// Contact of two shapes in frames on nodes or on the ground.
    pub fn new(
        nodes: [Option<NodeId>; 2],
        offsets: [Pose; 2],
        shapes: [Surface; 2],
        law: NormalLaw,
        friction: Friction,
    ) -> Self {
        let (list, pair) = pair_between(nodes, offsets);
        let [first, second] = pair.frames.clone();
        let swapped = FramePair { nodes: [pair.nodes[1], pair.nodes[0]], frames: [second, first] };
        let couples = couples([&shapes[0], &shapes[1]]);
        Self { nodes: list, pairs: [pair, swapped], couples, law, friction, bristles: Vec::new() }
    }

    /// The same with a given effective radius R of Hertz's law.
    pub fn with_radius(mut self, radius: f64) -> Self {
        self.couples.iter_mut().for_each(|couple| couple.radius = radius);
        self
    }

    /// One contact per couple, each with the states of its own bristles.
    ///
    /// `bristles` makes the three states of a couple.
    pub fn with_bristles(self, mut bristles: impl FnMut(usize) -> [StateId; 3]) -> Vec<Self> {
        let single = |(index, couple): (usize, &Couple)| Self {
            couples: vec![*couple],
            bristles: bristles(index).to_vec(),
            ..self.clone()
        };
        self.couples.iter().enumerate().map(single).collect()
    }

    /// The nodes that it pushes.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The couples of features and surfaces.
    pub fn couples(&self) -> &[Couple] {
        &self.couples
    }

    /// The pair of frames in which a couple is seen: that of the surface first.
    fn pair(&self, couple: &Couple) -> &FramePair {
        &self.pairs[1 - couple.side]
    }

    /// The relative motion with either frame first, if a couple needs it.
    fn relatives(&self, at: &Motion) -> [Option<Relative>; 2] {
        std::array::from_fn(|first| {
            let needed = self.couples.iter().any(|couple| 1 - couple.side == first);
            needed.then(|| self.pairs[first].relative(at))
        })
    }

    fn touching<'a>(
        &'a self,
        at: &'a Motion,
    ) -> impl Iterator<Item = (&'a FramePair, Relative, Touching)> + 'a {
        let relatives = self.relatives(at);
        self.couples.iter().enumerate().filter_map(move |(index, couple)| {
            let relative = relatives[1 - couple.side]?;
            let touching = couple.contact(&relative, &self.law, &self.friction, &history(at, index))?;
            Some((self.pair(couple), relative, touching))
        })
    }
}

/// What a couple knows of the past: its speed of meeting and its bristles.
fn history(at: &Motion, couple: usize) -> History {
    let bristles = match at.internal_states {
        [x, y, z, ..] => Vector3::new(*x, *y, *z),
        _ => Vector3::zeros(),
    };
    History { meeting_speed: at.memory.get(couple).copied().unwrap_or(0.0), bristles }
}

impl Element for Contact {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts {
            internal_states: &self.bristles,
            rate_count: self.bristles.len(),
            memory: if self.law.needs_speed() { self.couples.len() } else { 0 },
            signals: &[ContactResult::SIGNAL],
            touches: true,
            ..ElementFacts::on(&self.nodes)
        }
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let (mut wrenches, mut tangent) = (out.wrenches.take(), out.tangent.take());
        let (mut energies, mut power) = (out.energies.take(), out.power.take());
        for (pair, relative, touching) in self.touching(at) {
            if let Some(wrenches) = &mut wrenches {
                pair.add_to_nodes(1.0, &touching.residual(&relative), wrenches);
            }
            if let Some(tangent) = &mut tangent {
                let (stiffness, damping) = touching.tangent(&relative);
                pair.add_blocks(&damping, |i, j, block| *tangent.damping(i, j) += block);
                if out.weights.stiffness {
                    pair.add_to_blocks(&stiffness, tangent);
                }
            }
            if let Some(energies) = &mut energies {
                energies.strain += touching.normal.energy;
            }
            if let Some(power) = &mut power {
                power.dissipated += touching.dissipated();
            }
        }
        if let Some(rates) = out.rates.take() {
            self.add_bristle_rates(at, rates);
        }
        if let Some(tangent) = out.internal_tangent.take() {
            self.add_bristle_tangent(at, tangent);
        }
    }

    fn measure(&self, at: &Motion, _: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.contact(at).numbers());
    }

    /// The speed at which a couple comes closer counts until it touches.
    fn remember(&self, at: &Motion, _: Option<(&Motion, &[Vector6])>, memory: &mut [f64]) {
        let relatives = [self.pairs[0].relative(at), self.pairs[1].relative(at)];
        for (couple, speed) in self.couples.iter().zip(memory) {
            if let Some((nearest, _, velocity)) = couple.meet(&relatives[1 - couple.side])
                && nearest.gap > 0.0
            {
                *speed = (-nearest.normal.dot(&velocity)).max(0.0);
            }
        }
    }
}

impl Contact {
    /// What the contact does: depth, forces, place.
    pub fn contact(&self, at: &Motion) -> ContactResult {
        let relatives = [self.pairs[0].relative(at), self.pairs[1].relative(at)];
        let mut sum = ContactResult::default();
        let mut deepest = f64::NEG_INFINITY;
        for (index, couple) in self.couples.iter().enumerate() {
            let relative = &relatives[1 - couple.side];
            let Some((nearest, point, _)) = couple.meet(relative) else { continue };
            let frame = self.world_frame(couple, at);
            if -nearest.gap > deepest {
                deepest = -nearest.gap;
                sum.depth = deepest;
                sum.point = frame.transform_point(&point);
            }
            if let Some(touching) = couple.contact(relative, &self.law, &self.friction, &history(at, index)) {
                let sign = if couple.side == 1 { 1.0 } else { -1.0 };
                sum.normal_force += touching.normal.force;
                sum.force += sign * (frame.rotation * touching.force);
            }
        }
        sum
    }

    /// Adds the rates of the bristles of a single couple.
    fn add_bristle_rates(&self, at: &Motion, out: &mut [f64]) {
        let rate = match self.touching(at).next() {
            Some((_, _, touching)) => touching.bristle_rate(),
            None => Friction::straightening() * history(at, 0).bristles,
        };
        out.iter_mut().zip(rate.iter()).for_each(|(out, rate)| *out += rate);
    }

    fn add_bristle_tangent(&self, at: &Motion, out: &mut LocalStateTangent) {
        let Some((pair, relative, touching)) = self.touching(at).next() else {
            (0..self.bristles.len()).for_each(|i| out.rate_by_state[i][i] = Friction::straightening());
            return;
        };
        let by_bristles = touching.bristle_rate_by_bristles();
        let (by_configuration, by_velocity) = touching.bristle_rate_by_twists(&relative);
        for i in 0..self.bristles.len() {
            let by_bristle = touching.residual_by_bristle(&relative, i);
            pair.add_to_nodes(1.0, &by_bristle, &mut out.force_by_state[i]);
            (0..3).for_each(|j| out.rate_by_state[i][j] = by_bristles[(i, j)]);
            let row = by_configuration.row(i).transpose();
            pair.add_to_nodes(1.0, &row, &mut out.rate_by_configuration[i]);
            let row = by_velocity.row(i).transpose();
            pair.add_to_nodes(1.0, &row, &mut out.rate_by_velocity[i]);
        }
    }

    /// Pose in the world of the frame of a couple's surface.
    fn world_frame(&self, couple: &Couple, at: &Motion) -> Pose {
        let pair = self.pair(couple);
        match pair.nodes[0] {
            Some(node) => pair.frames[0].pose(&at.nodes[node]),
            None => pair.frames[0].offset,
        }
    }
}
