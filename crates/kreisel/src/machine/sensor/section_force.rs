//! Forces in the sections of a beam, by the balance of what acts on a part of an element.
//!
//! What an element does to its sections, r, balances at every node what others do there, however coarse the
//! mesh is. A section at a node carries a share σ of what acts along the element: inertia, weight and load.
//! So the forces in the end sections A and B, and what others do to the middle section M of an element with
//! three, are
//!
//! ```text
//! n_A = −(r_A + σ_A),   n_B = r_B + σ_B,   P = r_M + σ_M
//! ```
//!
//! with the sign of the equilibrium, M v̇ + g = 0. A free end has none, a support has its reaction, and on
//! the two sides of a node the forces differ by what acts on it from outside and by nothing else. Within the
//! element they follow from the balance of the part between A and the section at x, with the shares spread
//! over the length by the polynomial that has their values at the nodes, σ′,
//!
//! ```text
//! f(x) = f_A + ∫ σ′ ds − f_P,   m(x) = m_A + (r_A − r_x) × f_A + ∫ (r − r_x) × σ′ ds − m_P − (r_M − r_x) × f_P
//! ```
//!
//! (P only behind M), or of the part between the section and B. Both are right for forces along the axis of
//! the initial length. They differ by torques along the length and by what curvature does to the integral;
//! their mean, weighted with the distance from the other end, shares this out evenly and meets the values at
//! the nodes. So forces are as good as the motion of the nodes.

use super::Reading;
use crate::element::beam::{BeamStrain, Section, Weights};
use crate::element::{Element, Forces};
use crate::kinematics::{Motion, NodeMotion, join, split};
use crate::lie::{Pose, Vector3, Vector6, se3};
use crate::machine::beam::{BeamElement, BeamEntry, BeamNode, SectionShare};

/// Gauss's rule with three points from 0 to 1, exact up to degree 5: that of a shape and a load of degree 2.
const RULE: [(f64, f64); 3] =
    [(0.112_701_665_379_258_3, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

/// On which side of a section its forces are meant, where something acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SectionSide {
    /// Towards the start of the beam.
    Before,
    /// Towards its end.
    After,
}

/// A section of a beam within or at the edge of one of its elements.
#[derive(Clone, Debug)]
pub(super) struct ElementSection {
    element: BeamElement,
    stations: Vec<BeamNode>,
    shares: Vec<SectionShare>,
    load_element: Option<usize>,
    section: Section,
    /// Place in pieces from the start of the element.
    place: f64,
    side: SectionSide,
}

/// A force and its torque about a point, in world axes.
#[derive(Clone, Copy, Debug)]
struct Wrench {
    torque: Vector3,
    force: Vector3,
}

impl Wrench {
    /// In world axes from the axes of a section.
    fn from_section(frame: &Pose, wrench: &Vector6) -> Self {
        let (torque, force) = split(wrench);
        Self { torque: frame.rotation * torque, force: frame.rotation * force }
    }

    /// The same about another point, `arm` away from the one to which it belongs.
    fn about(&self, arm: &Vector3) -> Self {
        Self { torque: self.torque - arm.cross(&self.force), force: self.force }
    }

    fn plus(&self, factor: f64, other: &Self) -> Self {
        Self { torque: self.torque + factor * other.torque, force: self.force + factor * other.force }
    }
}

impl ElementSection {
    /// The section at a place in pieces from the start of an element.
    pub fn new(beam: &BeamEntry, element: usize, place: f64, side: SectionSide) -> Self {
        let pieces = &beam.pieces[element * beam.order..(element + 1) * beam.order];
        let ends = pieces.iter().map(|piece| piece.ends[0]).chain(pieces.last().map(|piece| piece.ends[1]));
        Self {
            element: beam.elements[element].clone(),
            stations: ends.collect(),
            shares: beam.shares[element].clone(),
            load_element: beam.load_element,
            section: beam.section,
            place,
            side,
        }
    }

    fn order(&self) -> usize {
        self.stations.len() - 1
    }

    /// Strain and forces in its axes.
    pub fn read(&self, at: &Reading) -> BeamStrain {
        let mut nodes = [NodeMotion::at_rest(Pose::identity()); 3];
        let touched = self.element.nodes();
        for (motion, node) in nodes.iter_mut().zip(touched) {
            *motion = at.system.motion(*node, &at.point);
        }
        let motion = Motion::new(at.point.time, &nodes[..touched.len()]);
        let sections: [NodeMotion; 3] = std::array::from_fn(|k| {
            self.stations.get(k).map_or(nodes[0], |station| station_motion(station, at))
        });
        let here = self.frame(&sections, self.place);
        let wrench = self.wrench(at, &motion, &sections, &here);
        let in_axes = |vector: &Vector3| here.rotation.inverse_transform_vector(vector);
        let force = join(&in_axes(&wrench.torque), &in_axes(&wrench.force));
        BeamStrain { strain: self.section.flexibility() * (force - self.viscous(&motion)), force }
    }

    /// The part of the section forces that damping makes.
    fn viscous(&self, motion: &Motion) -> Vector6 {
        let points = self.element.points();
        let part = |point: usize| {
            let found = self.element.strain(point, motion);
            found.force - self.section.stiffness() * found.strain
        };
        if let [_] = points {
            return part(0);
        }
        let weight = (self.place / self.order() as f64 - points[0]) / (points[1] - points[0]);
        (1.0 - weight) * part(0) + weight * part(1)
    }

    /// The frame of the section at a place, by the interpolation of the element.
    fn frame(&self, sections: &[NodeMotion; 3], place: f64) -> Pose {
        // Pieces are turned by less than half a turn.
        let screw = |from: usize, to: usize| {
            se3::log(&sections[from].pose.inverse().compose(&sections[to].pose))
                .unwrap_or_else(|_| Vector6::zeros())
        };
        if self.order() == 1 {
            return sections[0].pose.compose(&se3::exp(&(place * screw(0, 1))));
        }
        let weights = Weights::at(place - 1.0).values;
        sections[1].pose.compose(&se3::exp(&(weights[0] * screw(1, 0) + weights[1] * screw(1, 2))))
    }

    fn wrench(&self, at: &Reading, motion: &Motion, sections: &[NodeMotion; 3], here: &Pose) -> Wrench {
        let order = self.order();
        let elastic = self.element.section_wrenches(motion);
        let shares: [Wrench; 3] = std::array::from_fn(|k| match self.shares.get(k) {
            Some(share) => Wrench::from_section(&sections[k].pose, &self.carried(share, at, &sections[k])),
            None => Wrench { torque: Vector3::zeros(), force: Vector3::zeros() },
        });
        // r + σ about the section at x.
        let whole = |k: usize| {
            let wrench = Wrench::from_section(&sections[k].pose, &elastic[k]).plus(1.0, &shares[k]);
            wrench.about(&(here.position - sections[k].pose.position))
        };
        let is_behind_middle = order == 2 && (self.place, self.side == SectionSide::After) > (1.0, false);
        let nothing = Wrench { torque: Vector3::zeros(), force: Vector3::zeros() };
        let spread = |from: f64, to: f64| self.spread(sections, &shares, here, from, to);
        let mut from_start = nothing.plus(-1.0, &whole(0)).plus(1.0, &spread(0.0, self.place));
        let mut from_end = whole(order).plus(-1.0, &spread(self.place, order as f64));
        if order == 2 {
            match is_behind_middle {
                true => from_start = from_start.plus(-1.0, &whole(1)),
                false => from_end = from_end.plus(1.0, &whole(1)),
            }
        }
        let weight = self.place / order as f64;
        nothing.plus(1.0 - weight, &from_start).plus(weight, &from_end)
    }

    /// What acts along the length between two places, about the section at x.
    fn spread(
        &self,
        sections: &[NodeMotion; 3],
        shares: &[Wrench; 3],
        here: &Pose,
        from: f64,
        to: f64,
    ) -> Wrench {
        let mut sum = Wrench { torque: Vector3::zeros(), force: Vector3::zeros() };
        if to <= from {
            return sum;
        }
        for (part, weight) in RULE {
            let place = from + part * (to - from);
            let force = weight * (to - from) * self.density(shares, place);
            let arm = here.position - self.frame(sections, place).position;
            sum = sum.plus(1.0, &Wrench { torque: Vector3::zeros(), force }.about(&arm));
        }
        sum
    }

    /// σ′ per piece: the polynomial through the shares over the lengths for which they stand.
    fn density(&self, shares: &[Wrench; 3], place: f64) -> Vector3 {
        if self.order() == 1 {
            return 2.0 * ((1.0 - place) * shares[0].force + place * shares[1].force);
        }
        let [first, last] = Weights::at(place - 1.0).values;
        3.0 * (first * shares[0].force + last * shares[2].force)
            + 0.75 * (1.0 - first - last) * shares[1].force
    }

    /// What a section carries of the element, in its axes.
    fn carried(&self, share: &SectionShare, at: &Reading, section: &NodeMotion) -> Vector6 {
        let nodes = [*section];
        let mut sum = Vector6::zeros();
        let mut add = |element: &dyn Element, motion: &Motion| {
            let (mut wrench, mut load) = ([Vector6::zeros()], [Vector6::zeros()]);
            let asked = Forces { wrenches: Some(&mut wrench), load: Some(&mut load), ..Forces::default() };
            element.ask(motion, asked);
            sum += wrench[0] + (at.load_factor - 1.0) * load[0];
        };
        let motion = Motion::new(at.point.time, &nodes);
        add(&share.inertia, &motion);
        if let Some(load) = &share.load {
            let memory = self.load_element.map_or(0..0, |element| at.system.element_memory(element));
            add(load, &Motion { memory: at.point.memory.get(memory).unwrap_or_default(), ..motion });
        }
        sum
    }
}

/// Motion of a section at a node.
fn station_motion(station: &BeamNode, at: &Reading) -> NodeMotion {
    let node = at.node(station.node);
    let carried = se3::adjoint(&station.offset.inverse());
    NodeMotion {
        velocity: carried * node.velocity,
        acceleration: carried * node.acceleration,
        ..NodeMotion::at_rest(node.pose.compose(&station.offset))
    }
}
