//! What an element would do if it were two: by how much its forces change tells how good the mesh is.
//!
//! The ends keep their places, and the new nodes go where they are in equilibrium: that of an element with
//! two nodes to the end, those of an element with three by one step of Newton's method. There the shape is so
//! far from one that the halves like that they would be stretched a lot; the step takes the section forces of
//! the whole element, as integration does. So does an element with two nodes that is so far bent that its new
//! node is not found.

use std::cell::RefCell;

use super::{Beam, BeamEnd, GAUSS, QuadraticBeam, QuadraticSpan, Section, Span, Weights};
use crate::element::{Element, Forces};
use crate::kinematics::{LocalTangent, Motion, NodeId, NodeMotion};
use crate::lie::{Matrix6, Pose, Vector6, se3};

/// Most corrections until a new node is in equilibrium.
const MAX_ITERATIONS: usize = 30;
/// Corrections, in rad and parts of the element's length, below which it is there: a tenth of the smallest
/// error of a mesh that counts.
const SMALL: f64 = 1e-10;

thread_local! {
    /// Thousands of numbers, of which an element clears a few: made anew they would take most of the time.
    static TANGENT: RefCell<LocalTangent> = RefCell::new(LocalTangent::zeros(0));
}

/// By how much an element changes if it becomes two.
#[derive(Clone, Copy, Debug)]
pub struct Halved<const N: usize> {
    /// Wrenches on its sections.
    pub wrenches: [Vector6; N],
    /// Their derivatives by the twists of the sections.
    pub stiffness: [[Matrix6; N]; N],
}

impl<const N: usize> Halved<N> {
    fn zeros() -> Self {
        Self { wrenches: [Vector6::zeros(); N], stiffness: [[Matrix6::zeros(); N]; N] }
    }

    /// Adds the forces of an element on some of the sections.
    fn add(&mut self, factor: f64, sections: &[usize], found: &Answer) {
        for (i, &row) in sections.iter().enumerate() {
            self.wrenches[row] += factor * found.wrenches[i];
            for (j, &column) in sections.iter().enumerate() {
                self.stiffness[row][column] += factor * found.blocks[i][j];
            }
        }
    }
}

/// Wrenches on the sections of an element and their derivatives.
struct Answer {
    wrenches: Vec<Vector6>,
    blocks: Vec<Vec<Matrix6>>,
}

impl Answer {
    fn new(element: &dyn Element, frames: &[Pose]) -> Self {
        Self::with(element, frames, None)
    }

    /// With given section forces in the derivatives.
    fn with(element: &dyn Element, frames: &[Pose], remembered: Option<&[f64]>) -> Self {
        TANGENT.with_borrow_mut(|tangent| Self::found_in(tangent, element, frames, remembered))
    }

    fn found_in(
        tangent: &mut LocalTangent,
        element: &dyn Element,
        frames: &[Pose],
        remembered: Option<&[f64]>,
    ) -> Self {
        let nodes: Vec<NodeMotion> = frames.iter().map(|frame| NodeMotion::at_rest(*frame)).collect();
        let count = nodes.len();
        tangent.reset(count);
        let mut wrenches = vec![Vector6::zeros(); count];
        let mut asked =
            Forces { wrenches: Some(&mut wrenches), tangent: Some(&mut *tangent), ..Forces::default() };
        asked.weights.remembered_forces = remembered.is_some();
        element.ask(&Motion { memory: remembered.unwrap_or(&[]), ..Motion::new(0.0, &nodes) }, asked);
        let row = |i: usize| (0..count).map(|j| *tangent.block(i, j).2).collect();
        Self { wrenches, blocks: (0..count).map(row).collect() }
    }

    /// Two elements behind each other.
    fn joined(first: &Self, second: &Self) -> Self {
        let mut blocks = vec![vec![Matrix6::zeros(); 3]; 3];
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            blocks[i][j] += first.blocks[i][j];
            blocks[i + 1][j + 1] += second.blocks[i][j];
        }
        let middle = first.wrenches[1] + second.wrenches[0];
        Self { wrenches: vec![first.wrenches[0], middle, second.wrenches[1]], blocks }
    }

    /// The same without the section in the middle, which gives way.
    fn without_middle(&self) -> Option<Self> {
        let inverse = self.blocks[1][1].try_inverse()?;
        let block = |i: usize, j: usize| self.blocks[i][j] - self.blocks[i][1] * inverse * self.blocks[1][j];
        let wrench = |i: usize| self.wrenches[i] - self.blocks[i][1] * inverse * self.wrenches[1];
        let ends = [0, 2];
        Some(Self {
            wrenches: ends.map(wrench).to_vec(),
            blocks: ends.map(|i| ends.map(|j| block(i, j)).to_vec()).to_vec(),
        })
    }
}

/// Moves the middle of three sections until it is in equilibrium, and leaves it out.
fn settled(mut middle: Pose, length: f64, at: impl Fn(&Pose) -> Answer) -> Option<Answer> {
    for _ in 0..MAX_ITERATIONS {
        let found = at(&middle);
        let correction = -found.blocks[1][1].lu().solve(&found.wrenches[1])?;
        let size = correction.fixed_rows::<3>(0).norm() + correction.fixed_rows::<3>(3).norm() / length;
        if !size.is_finite() {
            return None;
        }
        if size < SMALL {
            return found.without_middle();
        }
        middle = middle.compose(&se3::exp(&correction));
    }
    None
}

impl Span {
    /// By how much an element with two nodes changes, whose sections stand at `frames`, if it becomes two.
    /// None if the new node finds no equilibrium.
    pub fn halved(&self, section: &Section, frames: [Pose; 2]) -> Option<Halved<2>> {
        let [first, second] = frames;
        let ends = [0, 1].map(|node| BeamEnd::on(NodeId(node)));
        let half = Self::between(&Pose::identity(), &self.frame_at(0.5)).ok()?;
        let half = Beam::new(ends, &half, section, 0.0);
        let screw = se3::log(&first.inverse().compose(&second)).ok()?;
        let middle = first.compose(&se3::exp(&(0.5 * screw)));
        let whole = Beam::new(ends, self, section, 0.0);
        let one_step = || {
            let still = frames.map(NodeMotion::at_rest);
            let force = whole.strain(&Motion::new(0.0, &still)).force;
            let part = |frames: &[Pose; 2]| Answer::with(&half, frames, Some(force.as_slice()));
            Answer::joined(&part(&[first, middle]), &part(&[middle, second])).without_middle()
        };
        let fine = settled(middle, self.length(), |middle| {
            Answer::joined(&Answer::new(&half, &[first, *middle]), &Answer::new(&half, &[*middle, second]))
        });
        let mut change = Halved::zeros();
        change.add(1.0, &[0, 1], &fine.or_else(one_step)?);
        change.add(-1.0, &[0, 1], &Answer::new(&whole, &frames));
        Some(change)
    }
}

impl QuadraticSpan {
    /// By how much an element with three nodes changes, whose sections stood at `initial` and stand at
    /// `frames`, if it becomes two. None if a new node is not held.
    pub fn halved(section: &Section, initial: [Pose; 3], frames: [Pose; 3]) -> Option<Halved<3>> {
        let ends = [0, 1, 2].map(|node| BeamEnd::on(NodeId(node)));
        let whole = Self::through(initial.each_ref()).ok()?;
        let within = |frames: &[Pose; 3], s: f64| {
            let arm = |end: usize| se3::log(&frames[1].inverse().compose(&frames[end]));
            let (arms, weights) = ([arm(0).ok()?, arm(2).ok()?], Weights::at(s));
            Some(frames[1].compose(&se3::exp(&weights.value(&arms))))
        };
        let coarse = QuadraticBeam::new(ends, &whole, section, 0.0);
        let still = frames.map(NodeMotion::at_rest);
        let [first, second] = coarse.strains(&Motion::new(0.0, &still)).map(|found| found.force);
        let mut change = Halved::zeros();
        for (s, sides) in [(-0.5, [0, 1]), (0.5, [1, 2])] {
            let [one, other] = sides;
            let half = Self::through([&initial[one], &within(&initial, s)?, &initial[other]]).ok()?;
            let half = QuadraticBeam::new(ends, &half, section, 0.0);
            // The section forces of the whole, continued to the points of Gauss of its half.
            let at = |s: f64| first + 0.5 * (s / GAUSS + 1.0) * (second - first);
            let mut remembered = [0.0; 12];
            remembered[..6].copy_from_slice(at(s - 0.5 * GAUSS).as_slice());
            remembered[6..].copy_from_slice(at(s + 0.5 * GAUSS).as_slice());
            let three = [frames[one], within(&frames, s)?, frames[other]];
            change.add(1.0, &sides, &Answer::with(&half, &three, Some(&remembered)).without_middle()?);
        }
        change.add(-1.0, &[0, 1, 2], &Answer::new(&coarse, &frames));
        Some(change)
    }
}
