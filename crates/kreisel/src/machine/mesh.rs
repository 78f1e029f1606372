//! How large the error is that the mesh of a beam makes, in a state of the machine.
//!
//! Each element is cut in two while its ends keep their places. By how much its forces change, Δ, is what its
//! equilibrium lacks, and the machine answers with K u + Bᵀ λ = −Δ, B u = 0, with the stiffness of the
//! elements that are cut: u is the first step of Newton's method to a mesh with twice the elements, which is
//! nearly all of the error.
//!
//! Loads along the length act on the nodes of an element with two as on two rigid halves, with the moments q
//! L²/8 at its ends; the nodes of an exact element get q L²/12. What q is, is seen from the nodes: what there
//! is beside the elastic forces of the beam, weight, inertia, loads; at a single loaded or joined node more
//! than at its neighbours, so that the smaller of two neighbours counts. Two elements have only one such
//! node, and one has none: there what the sections carry of weight, inertia and load is summed up, with the
//! loads of the model (a load factor of 1).

use std::sync::Arc;

use super::Machine;
use super::beam::{BeamElement, BeamEntry, BeamNode, BeamPiece, SectionShare};
use crate::constrained::{Copies, CopyIndex, Layout, Redundancy, RowKind, compliance};
use crate::dae::{Couplings, Dae, Note, NoteKind, Notes, Point, Shape, Tangent, TangentWeights};
use crate::element::beam::{Halved, QuadraticSpan};
use crate::element::{Element, Forces};
use crate::kinematics::{Motion, NodeId, NodeMotion, add_force, by_coordinates, join, on_coordinates};
use crate::lie::{Pose, Vector3, Vector6, se3};
use crate::solve::block::BlockMatrix;
use crate::solve::linear::LinearSolver;

/// Errors below this part of the displacement are not told. A choice: what the estimate itself may be off by
/// is larger, and few models know their stiffness to a hundredth.
const TOLD: f64 = 0.01;
/// Errors below this part of the length are rounding: the middles of halved elements are found to 1e-10.
const ROUNDING: f64 = 1e-9;

/// Elements with three nodes twist where their torsional stiffness is below this part of N h² ψ², with the
/// pull N, their length h and the turn ψ from end to middle to end: found on ropes of 8 to 64 elements, drawn
/// level between clamps and sagging under their weight by 2 to 9 % of their length, whose parts were 4e-5 to
/// 2.04e-4, the largest where bending has no say.
const TWISTS: f64 = 2.1e-4;

/// The error that a beam's mesh makes, as it is estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshError {
    /// The beam.
    pub beam: String,
    /// Largest error of a node's position in m.
    pub error: f64,
    /// How far a node of the beam is away from where the model has it, at most, in m.
    pub displacement: f64,
    /// Number of elements that would make an error of a hundredth of the displacement.
    pub enough: usize,
}

impl MeshError {
    /// The error in parts of the displacement.
    pub fn relative(&self) -> f64 {
        self.error / self.displacement
    }

    fn note(&self, time: f64) -> Note {
        let advice = format!("`elements = {}` would do", self.enough);
        let text = format!(
            "the mesh of the beam `{}` makes an error of about {:.0} % of its displacement, {:.1e} m; {advice}",
            self.beam,
            100.0 * self.relative(),
            self.error
        );
        Note::new(NoteKind::CoarseMesh, text)
            .at(time)
            .about(&self.beam)
            .number(self.relative())
            .advice(advice)
    }
}

/// Elements so long that a pull twists them, which no finer mesh does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TwistingElements {
    /// How many there are in the beam.
    pub count: usize,
    /// Number of elements of a mesh without them.
    pub enough: usize,
}

/// What estimates of the same machine share.
#[derive(Default)]
pub(crate) struct MeshHistory {
    /// Largest displacement of each beam so far, in m.
    pub displacements: Vec<f64>,
    analysis: Option<MeshAnalysis>,
}

/// The equations of an estimate without their numbers.
struct MeshAnalysis {
    couplings: Couplings,
    layout: Layout,
    solver: LinearSolver,
}

/// Unknowns up to which an analysis is kept from look to look: of larger machines its memory counts for more.
const MOST_KEPT: usize = 50_000;

impl MeshHistory {
    /// What is known of a system with these couplings, or is found now.
    fn take_analysis(&mut self, shape: &Shape, couplings: Couplings) -> MeshAnalysis {
        let fits = |known: &MeshAnalysis| Arc::ptr_eq(&known.couplings.force_node, &couplings.force_node);
        let known = self.analysis.take().filter(fits);
        known.unwrap_or_else(|| {
            let layout = Layout::new(shape, &couplings, Copies::ONE, []);
            let solver = LinearSolver::new(&layout.pattern, &layout.roles);
            MeshAnalysis { couplings, layout, solver }
        })
    }
}

impl Machine {
    /// Elements of a beam that a pull twists at a point.
    pub(crate) fn twisting_elements(&self, beam: &BeamEntry, at: &Point) -> Option<TwistingElements> {
        let torsion = 1.0 / beam.section.flexibility()[(0, 0)];
        let mut most = 1.0;
        let mut count = 0;
        for (element, pair) in beam.elements.iter().zip(beam.pieces.chunks_exact(2)) {
            let BeamElement::Quadratic(quadratic) = element else { return None };
            let nodes: Vec<NodeMotion> =
                element.nodes().iter().map(|node| self.system.motion(*node, at)).collect();
            let [first, second] = quadratic.strains(&Motion::new(at.time, &nodes));
            let pull = first.force[3].max(second.force[3]);
            let (mut length, mut turn) = (0.0, 0.0);
            for piece in pair {
                let [from, to] = piece.ends.each_ref().map(|station| self.section_frame(station, at));
                length += piece.span.length();
                turn += from.rotation.angle_to(&to.rotation);
            }
            // At a clamp the turn stays as it is in a finer mesh.
            let part = TWISTS * pull * (length * turn).powi(2) / torsion;
            if part > 1.0 {
                (count, most) = (count + 1, part.max(most));
            }
        }
        let enough = (beam.elements.len() as f64 * most.sqrt()).ceil() as usize;
        (count > 0).then_some(TwistingElements { count, enough })
    }

    /// The errors that the meshes of its beams make at a point. Motions with a rate below `rate` in 1/s are
    /// rigid: a machine that nothing holds has such; 0 in an equilibrium.
    ///
    /// Empty if the machine has no beams, or if it is at no place where an error has a meaning.
    pub fn mesh_errors(&self, at: &Point, rate: f64) -> Vec<MeshError> {
        if self.frames().beams().is_empty() {
            return Vec::new();
        }
        self.mesh_errors_again(at, rate, &mut MeshHistory::default())
    }

    fn mesh_errors_again(&self, at: &Point, rate: f64, history: &mut MeshHistory) -> Vec<MeshError> {
        self.error_of_positions(at, rate, history)
            .map(|error| self.frames().beams().iter().map(|beam| self.mesh_error(beam, at, &error)).collect())
            .unwrap_or_default()
    }

    /// What is worth telling of these errors, the displacement being the largest so far.
    pub(crate) fn mesh_notes(&self, at: &Point, rate: f64, history: &mut MeshHistory) -> Notes {
        let mut notes = Notes::default();
        let beams = self.frames().beams();
        if beams.is_empty() {
            return notes;
        }
        let errors = self.mesh_errors_again(at, rate, history);
        history.displacements.resize(beams.len(), 0.0);
        for ((mut found, beam), displacement) in errors.into_iter().zip(beams).zip(&mut history.displacements)
        {
            *displacement = displacement.max(found.displacement);
            found.displacement = *displacement;
            found.enough = enough(beam, found.relative());
            // Where a beam stands as it is drawn there is nothing of which the error could be a part.
            let least = ROUNDING * beam.length();
            if found.error > least && found.displacement > least && found.relative() > TOLD {
                notes.add(found.note(at.time));
            }
        }
        notes
    }

    fn mesh_error(&self, beam: &BeamEntry, at: &Point, error: &[f64]) -> MeshError {
        let (mut largest, mut displacement): (f64, f64) = (0.0, 0.0);
        for (index, node) in (0..beam.node_count()).filter_map(|k| Some((k, beam.node(k)?.node?))) {
            // The translation stands last in every group.
            let range = self.system.shape().space.velocity_range(node.0);
            let shift = Vector3::from_column_slice(&error[range.end - 3..range.end]).norm();
            largest = largest.max(shift);
            let Some(station) = beam.node(index) else { continue };
            let now = self.system.motion(node, at).pose.compose(&station.offset).position;
            displacement = displacement.max((now - station.pose().position).norm());
        }
        let name = beam.name.clone();
        MeshError { beam: name, error: largest, displacement, enough: enough(beam, largest / displacement) }
    }

    /// u of K u + Bᵀ λ = −Δ, B u = 0; states stay as they are.
    fn error_of_positions(&self, at: &Point, rate: f64, history: &mut MeshHistory) -> Option<Vec<f64>> {
        let weights =
            TangentWeights { mass: rate * rate, damping: 0.0, stiffness: true, remembered_forces: false };
        let (shape, couplings) = (self.system.shape(), self.system.couplings(Some(at.memory)));
        let MeshAnalysis { couplings, layout, mut solver } = history.take_analysis(&shape, couplings);
        let mut tangent = Tangent::at(&self.system, &couplings, at, weights);
        let Tangent { dynamic, stiffness, .. } = &mut tangent;
        dynamic.values_mut().iter_mut().zip(stiffness.values()).for_each(|(sum, k)| *sum += k);
        let mut right = vec![0.0; layout.pattern.row_count()];
        for beam in self.frames().beams() {
            self.add_halved(beam, at, dynamic, &mut right)?;
        }
        let scale = mean_diagonal(dynamic)?;
        right.iter_mut().for_each(|force| *force /= scale);
        let mut matrix = BlockMatrix::zeros(Arc::clone(&layout.pattern));
        layout.add_forces(&tangent, None, 1.0 / scale, &mut matrix);
        layout.add_gradient(&shape, &tangent, None, &mut matrix);
        layout.add_nonholonomic(&shape, &tangent, &mut matrix);
        layout.hold_states(true, &mut matrix);
        let redundancy = Redundancy::find_moving(&self.system, at.time, at.configuration, at.velocity);
        let compliance = compliance(&self.system, &redundancy);
        if !compliance.is_empty() {
            let (holonomic, nonholonomic) = compliance.split_at(shape.constraint_count());
            layout.subtract_compliance(RowKind::Holonomic, holonomic, CopyIndex::FIRST, &mut matrix);
            layout.subtract_compliance(RowKind::Nonholonomic, nonholonomic, CopyIndex::FIRST, &mut matrix);
        }
        // Each estimate with factors of its own: parts that joined in one before would stay together.
        let unused = (layout.pattern.row_count() <= MOST_KEPT).then(|| solver.clone());
        solver.factor(&matrix).ok()?;
        solver.solve(&mut right);
        history.analysis = unused.map(|solver| MeshAnalysis { couplings, layout, solver });
        right.iter().all(|value| value.is_finite()).then_some(right)
    }

    /// Adds −Δ of a beam to the right side, and what its stiffness changes to the matrix.
    fn add_halved(
        &self,
        beam: &BeamEntry,
        at: &Point,
        matrix: &mut BlockMatrix,
        right: &mut [f64],
    ) -> Option<()> {
        if beam.order == 2 {
            for pair in beam.pieces.chunks_exact(2) {
                let stations = [pair[0].ends[0], pair[0].ends[1], pair[1].ends[1]];
                let initial = stations.map(|station| station.pose());
                let frames = stations.each_ref().map(|station| self.section_frame(station, at));
                let change = QuadraticSpan::halved(&beam.section, initial, frames)?;
                self.add_change(&stations, at, &change, matrix, right);
            }
            return Some(());
        }
        for (piece, load) in beam.pieces.iter().zip(self.spread_loads(beam, at)) {
            let frames = piece.ends.each_ref().map(|station| self.section_frame(station, at));
            let mut change = piece.span.halved(&beam.section, frames)?;
            // q L² (1/8 − 1/12) about the normal of chord and load; r holds loads with a minus.
            let torque = (frames[1].position - frames[0].position).cross(&load) / 24.0;
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let torque = frames[side].rotation.inverse_transform_vector(&(sign * torque));
                change.wrenches[side] += join(&torque, &Vector3::zeros());
            }
            self.add_change(&piece.ends, at, &change, matrix, right);
        }
        Some(())
    }

    fn section_frame(&self, station: &BeamNode, at: &Point) -> Pose {
        match station.node {
            Some(node) => self.system.motion(node, at).pose.compose(&station.offset),
            None => station.offset,
        }
    }

    /// Hands what changes at the sections of an element to their nodes.
    fn add_change<const N: usize>(
        &self,
        stations: &[BeamNode; N],
        at: &Point,
        change: &Halved<N>,
        matrix: &mut BlockMatrix,
        right: &mut [f64],
    ) {
        let space = self.system.shape().space;
        let carried = |station: &BeamNode| se3::adjoint(&station.offset.inverse());
        for (i, row) in stations.iter().enumerate() {
            let Some(node) = row.node else { continue };
            let (group, motion, range) =
                (space.group(node.0), self.system.motion(node, at), space.velocity_range(node.0));
            let wrench = carried(row).tr_mul(&change.wrenches[i]);
            add_force(group, &motion, &-wrench, &mut right[range]);
            for (j, column) in stations.iter().enumerate() {
                let Some(other) = column.node else { continue };
                let block = carried(row).tr_mul(&change.stiffness[i][j]) * carried(column);
                let block = on_coordinates(group, &motion, &block);
                let block = by_coordinates(space.group(other.0), &self.system.motion(other, at), &block);
                if let Some(place) = matrix.pattern().find(node.0, other.0) {
                    let mut place = matrix.block_mut(place);
                    place += block.view((0, 0), place.shape());
                }
            }
        }
    }

    /// What the two sections of a piece carry of it, in world axes.
    fn carried_load(
        &self,
        beam: &BeamEntry,
        piece: &BeamPiece,
        shares: &[SectionShare],
        at: &Point,
    ) -> Vector3 {
        let memory = beam.load_element.and_then(|element| at.memory.get(self.system.element_memory(element)));
        let mut sum = Vector3::zeros();
        for (station, share) in piece.ends.iter().zip(shares) {
            let node = station
                .node
                .map_or(NodeMotion::at_rest(Pose::identity()), |node| self.system.motion(node, at));
            let carried = se3::adjoint(&station.offset.inverse());
            let section = [NodeMotion {
                velocity: carried * node.velocity,
                acceleration: carried * node.acceleration,
                ..NodeMotion::at_rest(node.pose.compose(&station.offset))
            }];
            let motion = Motion { memory: memory.unwrap_or_default(), ..Motion::new(at.time, &section) };
            let load = share.load.as_ref().map(|load| load as &dyn Element);
            for part in [&share.inertia as &dyn Element].into_iter().chain(load) {
                let mut wrench = [Vector6::zeros()];
                part.ask(&motion, Forces { wrenches: Some(&mut wrench), ..Forces::default() });
                // r holds loads with a minus.
                sum -= section[0].rotation * wrench[0].fixed_rows::<3>(3);
            }
        }
        sum
    }

    /// The load along each piece of a beam as a whole, in world axes.
    fn spread_loads(&self, beam: &BeamEntry, at: &Point) -> Vec<Vector3> {
        if beam.pieces.len() < 3 {
            return beam
                .pieces
                .iter()
                .zip(&beam.shares)
                .map(|(piece, shares)| self.carried_load(beam, piece, shares, at))
                .collect();
        }
        // What acts on a node beside the beam itself.
        let mut others = vec![Vector3::zeros(); beam.node_count()];
        for (index, element) in beam.elements.iter().enumerate() {
            let BeamElement::Screw(element) = element else { continue };
            let touched: Vec<NodeId> = beam.elements[index].nodes().to_vec();
            let nodes: Vec<NodeMotion> = touched.iter().map(|node| self.system.motion(*node, at)).collect();
            let mut wrenches = vec![Vector6::zeros(); nodes.len()];
            let asked = Forces { wrenches: Some(&mut wrenches), ..Forces::default() };
            (&**element as &dyn Element).ask(&Motion::new(at.time, &nodes), asked);
            for (side, station) in beam.pieces[index].ends.iter().enumerate() {
                let place = touched.iter().position(|node| Some(*node) == station.node);
                let Some(place) = place else { continue };
                let force: Vector3 = wrenches[place].fixed_rows::<3>(3).into();
                others[index + side] += nodes[place].rotation * force;
            }
        }
        let count = beam.pieces.len();
        let load = |piece: usize| {
            // The two inner nodes nearest to the piece.
            let first = piece.clamp(1, count - 2);
            smaller(&others[first], &others[first + 1])
        };
        (0..count).map(load).collect()
    }
}

/// Mean size of what stands on the diagonal of a square matrix; absent if that is no number to divide by.
fn mean_diagonal(matrix: &BlockMatrix) -> Option<f64> {
    let pattern = matrix.pattern();
    let diagonal = pattern.blocks().filter(|(_, row, column)| row == column);
    let sum: f64 = diagonal.map(|(block, ..)| matrix.block(block).diagonal().abs().sum()).sum();
    let mean = sum / pattern.row_count() as f64;
    (mean.is_finite() && mean > 0.0).then_some(mean)
}

/// Component by component the smaller of two numbers, none if their signs differ.
fn smaller(a: &Vector3, b: &Vector3) -> Vector3 {
    Vector3::from_fn(|i, _| match a[i] * b[i] > 0.0 {
        true if a[i].abs() < b[i].abs() => a[i],
        true => b[i],
        false => 0.0,
    })
}

/// Number of elements for an error of [`TOLD`]: their orders are 2 and 4.
fn enough(beam: &BeamEntry, relative: f64) -> usize {
    let finer = (relative / TOLD).max(1.0).powf(0.5 / beam.order as f64);
    (beam.elements.len() as f64 * finer).ceil() as usize
}
