//! In which order the groups are eliminated, and which multipliers go with which primary.
//!
//! See the module page of [`super`] for the rule and why it keeps every pivot block of full rank.

use std::collections::HashMap;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use smallvec::smallvec;

use super::Role;
use super::compliance::partner;
use super::owner::owners;
use super::symbolic::{ShortList, Tree};
use crate::solve::block::BlockPattern;

/// A multiplier that meets more primaries than this is seen by the minimum-degree ordering as a star.
const CLIQUE_LIMIT: usize = 8;

/// Which groups are eliminated together, in elimination order; in a node the primary comes first.
#[derive(Clone, Debug)]
pub(super) struct FrontPlan {
    pub nodes: Vec<ShortList<usize>>,
}

/// The groups as the ordering sees them.
pub(super) struct Incidence {
    /// Groups that open a node: the primaries, multipliers that meet no primary, and stabilizers of
    /// multipliers that may go early.
    pub anchors: Vec<usize>,
    /// Every other multiplier group with the anchors it meets, as positions in `anchors`.
    pub multipliers: Vec<Bundle>,
    /// Pairs of anchors with a common block.
    pub couplings: Vec<(usize, usize)>,
}

/// Multipliers that are eliminated together.
///
/// Those of a joint and of the drive that leads it meet the same two primaries. As equations on the motion of
/// one primary relative to the other they are as independent at one of them as they are altogether, so they
/// count as one.
pub(super) struct Bundle {
    pub groups: ShortList<usize>,
    /// All their rows.
    pub rows: usize,
    /// The anchors they meet.
    pub met: ShortList<usize>,
}

impl Bundle {
    /// Adds a group to the bundle of its anchors if the smallest of these has as many unknowns as there are
    /// rows then, and otherwise begins another one. `known` finds bundles by their anchors.
    fn add(
        bundles: &mut Vec<Self>,
        known: &mut HashMap<(usize, usize), usize>,
        (group, met): (usize, ShortList<usize>),
        rows: usize,
        room: usize,
    ) {
        if let [first] | [first, _] = met[..] {
            let key = (first, met[met.len() - 1]);
            if let Some(bundle) = known.get(&key).map(|&index| &mut bundles[index])
                && bundle.rows + rows <= room
            {
                bundle.groups.push(group);
                bundle.rows += rows;
                return;
            }
            known.entry(key).or_insert(bundles.len());
        }
        bundles.push(Self { groups: smallvec![group], rows, met });
    }
}

impl Incidence {
    fn new(pattern: &BlockPattern, roles: &[Role]) -> Self {
        let group_count = roles.len();
        let mut meets_primary: Vec<ShortList<usize>> = vec![ShortList::new(); group_count];
        for (_, row, column) in pattern.blocks() {
            for (one, other) in [(row, column), (column, row)] {
                if roles[one] == Role::Multiplier && roles[other] == Role::Primary {
                    meets_primary[one].push(other);
                }
            }
        }
        let mut anchors = Vec::new();
        let mut anchor_of = vec![usize::MAX; group_count];
        for group in 0..group_count {
            let alone = roles[group] == Role::Multiplier && meets_primary[group].is_empty();
            if roles[group] == Role::Primary || alone {
                anchor_of[group] = anchors.len();
                anchors.push(group);
            }
        }
        let size = |group: usize| pattern.row_range(group).len();
        let (mut multipliers, mut known) = (Vec::new(), HashMap::new());
        for (group, primaries) in meets_primary.into_iter().enumerate() {
            let Some(room) = primaries.iter().map(|&primary| size(primary)).min() else { continue };
            let mut met: ShortList<usize> = primaries.into_iter().map(|primary| anchor_of[primary]).collect();
            met.sort_unstable();
            met.dedup();
            Bundle::add(&mut multipliers, &mut known, (group, met), size(group), room);
        }
        let mut incidence = Self { anchors, multipliers, couplings: Vec::new() };
        incidence.place_stabilizers(pattern, roles, &mut anchor_of);
        incidence.couplings = pattern
            .blocks()
            .map(|(_, row, column)| (anchor_of[row], anchor_of[column]))
            .filter(|&(one, other)| one != other && one != usize::MAX && other != usize::MAX)
            .collect();
        incidence
    }

    /// Makes anchors of stabilizers whose multiplier may go early: they wait for another body then, and no
    /// other multiplier does. The others stay with their multiplier, for whose rows they may have to stand
    /// in.
    fn place_stabilizers(&mut self, pattern: &BlockPattern, roles: &[Role], anchor_of: &mut [usize]) {
        if !roles.contains(&Role::Paired) {
            return;
        }
        let size = |anchor: usize| pattern.row_range(self.anchors[anchor]).len();
        let any_order: Vec<usize> = (0..self.anchors.len()).collect();
        let owners = owners(self, size, &any_order);
        let mut bundle_of = vec![None; roles.len()];
        for (index, bundle) in self.multipliers.iter().enumerate() {
            bundle.groups.iter().for_each(|&group| bundle_of[group] = Some(index));
        }
        for (stabilizer, _) in roles.iter().enumerate().filter(|(_, role)| **role == Role::Paired) {
            match partner(pattern, roles, stabilizer).and_then(|group| bundle_of[group]) {
                Some(bundle) if owners[bundle].is_none() => self.multipliers[bundle].groups.push(stabilizer),
                _ => {
                    anchor_of[stabilizer] = self.anchors.len();
                    self.anchors.push(stabilizer);
                }
            }
        }
    }

    /// Edges of the graph of anchors, both directions, each once.
    fn edges(&self) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        let mut connect = |one, other| edges.extend([(one, other), (other, one)]);
        self.couplings.iter().for_each(|&(one, other)| connect(one, other));
        for Bundle { met, .. } in &self.multipliers {
            let centres = if met.len() > CLIQUE_LIMIT { 1 } else { met.len() };
            for centre in 0..centres {
                met[centre + 1..].iter().for_each(|&other| connect(met[centre], other));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

/// What stands on the ground.
struct Ground {
    /// Whether each anchor has multipliers that meet no other one: those of joints on the ground.
    grounded: Vec<bool>,
    /// For each anchor, one that stands for its machine: all that it is connected with.
    machine_of: Vec<usize>,
}

impl Ground {
    fn new(incidence: &Incidence, edges: &[(usize, usize)]) -> Self {
        let mut grounded = vec![false; incidence.anchors.len()];
        for bundle in &incidence.multipliers {
            if let [anchor] = bundle.met[..] {
                grounded[anchor] = true;
            }
        }
        Self { grounded, machine_of: components(incidence.anchors.len(), edges) }
    }

    /// Minimum degree order that leaves the ground to the end where no machine stands on it twice.
    ///
    /// The ground then counts as a few nodes behind those it holds: where degrees leave the choice, a chain
    /// is eliminated from its free end, and each multiplier goes early with the body that hangs on it.
    fn last(&self, edges: &[(usize, usize)]) -> Vec<usize> {
        const GROUND: usize = 4;
        let count = self.grounded.len();
        let held = || (0..count).filter(|&anchor| self.grounded[anchor]);
        let mut held_machines = vec![0; count];
        held().for_each(|anchor| held_machines[self.machine_of[anchor]] += 1);
        if held().next().is_none() || held_machines.iter().any(|&times| times > 1) {
            return minimum_degree(count, edges);
        }
        let mut with_ground = edges.to_vec();
        let ground = count..count + GROUND;
        for part in ground.clone() {
            let others = ground.clone().filter(|&other| other != part);
            with_ground.extend(others.map(|other| (part, other)));
            with_ground.extend(held().flat_map(|anchor| [(part, anchor), (anchor, part)]));
        }
        with_ground.sort_unstable();
        let mut order = minimum_degree(count + GROUND, &with_ground);
        order.retain(|&anchor| anchor < count);
        order
    }

    /// Exchanges the last two anchors of a machine if the last but one stands on the ground and the last one
    /// does not: that leaves everything else as it is, and all multipliers can go early with the body that
    /// they hold.
    fn end_on(&self, order: &mut [usize]) {
        let mut last_two = vec![[None; 2]; self.grounded.len()];
        for (place, &anchor) in order.iter().enumerate() {
            let [_, last] = last_two[self.machine_of[anchor]];
            last_two[self.machine_of[anchor]] = [last, Some(place)];
        }
        for pair in last_two {
            if let [Some(one), Some(last)] = pair
                && self.grounded[order[one]]
                && !self.grounded[order[last]]
            {
                order.swap(one, last);
            }
        }
    }
}

/// For each node of a graph, one node that stands for all that it is connected with.
fn components(node_count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut towards: Vec<usize> = (0..node_count).collect();
    let find = |towards: &mut [usize], mut node: usize| {
        while towards[node] != node {
            towards[node] = towards[towards[node]];
            node = towards[node];
        }
        node
    };
    for &(one, other) in edges {
        let (one, other) = (find(&mut towards, one), find(&mut towards, other));
        towards[one.max(other)] = one.min(other);
    }
    (0..node_count).map(|node| find(&mut towards, node)).collect()
}

impl FrontPlan {
    pub fn new(pattern: &BlockPattern, roles: &[Role]) -> Self {
        let incidence = Incidence::new(pattern, roles);
        let edges = incidence.edges();
        let ground = Ground::new(&incidence, &edges);
        let mut order = ground.last(&edges);
        ground.end_on(&mut order);
        let mut position = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &anchor)| position[anchor] = place);

        let last = |met: &[usize]| met.iter().map(|&anchor| position[anchor]).max().unwrap_or(0);
        let late: Vec<usize> = incidence.multipliers.iter().map(|bundle| last(&bundle.met)).collect();
        let plan = Self::with_places(&incidence, &order, &late);
        let size = |anchor: usize| pattern.row_range(incidence.anchors[anchor]).len();
        let owners = owners(&incidence, size, &position);
        let tree = Tree::new(pattern, &plan);
        let mut costs = NodeCosts::new(pattern, &plan, &tree);
        let mut places = late.clone();
        let early = owners.iter().enumerate().filter_map(|(index, owner)| Some((position[(*owner)?], index)));
        let mut may_go: Vec<(usize, usize)> = early.filter(|&(early, index)| early < late[index]).collect();
        may_go.sort_unstable();
        for (early, index) in may_go {
            let Bundle { rows, met, .. } = &incidence.multipliers[index];
            let others = met.iter().filter(|&&anchor| position[anchor] > early);
            let others = others.map(|&anchor| incidence.anchors[anchor]);
            if costs.early_is_cheaper(*rows, early, late[index], others) {
                costs.go(*rows, late[index]);
                places[index] = early;
            }
        }
        Self::with_places(&incidence, &order, &places)
    }

    fn with_places(incidence: &Incidence, order: &[usize], places: &[usize]) -> Self {
        let mut nodes: Vec<ShortList<usize>> =
            order.iter().map(|&anchor| smallvec![incidence.anchors[anchor]]).collect();
        for (bundle, &place) in incidence.multipliers.iter().zip(places) {
            nodes[place].extend_from_slice(&bundle.groups);
        }
        Self { nodes }
    }
}

/// What elimination costs if every multiplier takes its late place.
struct NodeCosts<'a> {
    pattern: &'a BlockPattern,
    tree: &'a Tree,
    /// Unknowns eliminated in each node, and unknowns of its whole front.
    pivots: Vec<usize>,
    front: Vec<usize>,
    /// Unknowns that were to be eliminated in each node and go early instead.
    gone: Vec<usize>,
}

impl<'a> NodeCosts<'a> {
    fn new(pattern: &'a BlockPattern, plan: &FrontPlan, tree: &'a Tree) -> Self {
        let rows = |group: usize| pattern.row_range(group).len();
        let pivots: Vec<usize> =
            plan.nodes.iter().map(|groups| groups.iter().map(|&group| rows(group)).sum()).collect();
        let front: Vec<usize> = pivots
            .iter()
            .zip(&tree.border)
            .map(|(pivots, border)| pivots + border.iter().map(|&group| rows(group as usize)).sum::<usize>())
            .collect();
        let gone = vec![0; front.len()];
        Self { pattern, tree, pivots, front, gone }
    }

    /// Compares the work of some multipliers' pivots in a late node with that of an early node, whose border
    /// then has to hold the multipliers' other primaries.
    ///
    /// If the border holds them already (bodies that also share a block, as with the stiffness of joints
    /// under load), equal work is reason enough: what goes early is gone from the borders of the nodes that
    /// follow, which makes a chain of such bodies cheaper by half.
    fn early_is_cheaper(
        &self,
        more: usize,
        early: usize,
        late: usize,
        others: impl Iterator<Item = usize>,
    ) -> bool {
        let rows = |group: usize| self.pattern.row_range(group).len();
        let square = |size: usize| (size * size) as f64;
        let border = &self.tree.border[early];
        let added: usize = others.filter(|&other| !border.contains(&(other as u32))).map(rows).sum();
        let (pivots, front) =
            ((self.pivots[early] - self.gone[early]) as f64, self.front[early] - self.gone[early]);
        let more = more as f64;
        let early_work = (pivots + more) * square(front + added) - pivots * square(front);
        let late_work = more * square(self.front[late]);
        if added == 0 { early_work <= late_work } else { early_work < late_work }
    }

    /// Notes that multipliers do not wait for their late node, which becomes smaller.
    fn go(&mut self, rows: usize, late: usize) {
        self.gone[late] += rows;
    }
}

/// Approximate minimum degree order of a graph given by its sorted edges.
fn minimum_degree(node_count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut starts = vec![0; node_count + 1];
    edges.iter().for_each(|&(column, _)| starts[column + 1] += 1);
    (0..node_count).for_each(|column| starts[column + 1] += starts[column]);
    let rows: Vec<usize> = edges.iter().map(|&(_, row)| row).collect();
    let graph = SymbolicSparseColMatRef::new_checked(node_count, node_count, &starts, None, &rows);
    let (mut order, mut inverse) = (vec![0; node_count], vec![0; node_count]);
    let mut memory = MemBuffer::new(amd::order_scratch::<usize>(node_count, rows.len()));
    let outcome =
        amd::order(&mut order, &mut inverse, graph, amd::Control::default(), MemStack::new(&mut memory));
    // The only error is an index overflow, far beyond what memory holds; any order is correct.
    if outcome.is_err() {
        order = (0..node_count).collect();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::sparse_lu::samples::{SampleMachine, SampleMatrix};

    fn place_of(plan: &FrontPlan, group: usize) -> usize {
        plan.nodes.iter().position(|node| node.contains(&group)).unwrap()
    }

    #[test]
    fn every_group_is_eliminated_once_and_multipliers_never_before_all_their_primaries() {
        for sample in [
            SampleMatrix::chain(7, 3),
            SampleMatrix::hub(20, 5),
            SampleMatrix::ring(9, 3),
            SampleMatrix::lattice(5),
        ] {
            let plan = FrontPlan::new(&sample.pattern, &sample.roles);
            let mut groups: Vec<usize> = plan.nodes.iter().flatten().copied().collect();
            groups.sort_unstable();
            assert_eq!(groups, (0..sample.roles.len()).collect::<Vec<_>>());
            for (group, role) in sample.roles.iter().enumerate() {
                if *role == Role::Multiplier {
                    let mut met = sample.pattern.column_blocks(group).map(|(_, row)| place_of(&plan, row));
                    assert!(met.any(|place| place <= place_of(&plan, group)));
                }
            }
        }
    }

    #[test]
    fn joints_of_bodies_that_share_a_block_go_early_so_that_fronts_stay_small() {
        let count = 6;
        let sizes = [vec![6; count], vec![3; count]].concat();
        let bodies = (0..count).flat_map(|i| [(i, i), (i, i.saturating_sub(1)), (i.saturating_sub(1), i)]);
        let joint = |i: usize| [(count + i, i), (count + i, i.saturating_sub(1)), (count + i, count + i)];
        let joints = (0..count).flat_map(joint).flat_map(|(row, column)| [(row, column), (column, row)]);
        let pattern = BlockPattern::new(&sizes, &sizes, bodies.chain(joints));
        let roles = [vec![Role::Primary; count], vec![Role::Multiplier; count]].concat();
        let plan = FrontPlan::new(&pattern, &roles);
        let tree = Tree::new(&pattern, &plan);
        // No front holds more than two bodies and one joint; with joints that go late it would be two of
        // each.
        let rows = |groups: &[usize]| groups.iter().map(|&group| sizes[group]).sum::<usize>();
        for (node, border) in plan.nodes.iter().zip(&tree.border) {
            let border: Vec<usize> = border.iter().map(|&group| group as usize).collect();
            // The first body carries its joint to the ground as well.
            let most = if node.contains(&0) { 18 } else { 15 };
            assert!(rows(node) + rows(&border) <= most, "{:?} {:?}", plan.nodes, tree.border);
        }
    }

    /// Three links on three driven hinges, of which the first stands on the ground.
    #[test]
    fn drives_go_early_with_their_joints_and_an_arm_ends_on_the_ground() {
        let pairs = [vec![0], vec![0, 1], vec![1, 2]];
        let joints = [5, 1].into_iter().flat_map(|rows| pairs.iter().map(move |pair| (pair.clone(), rows)));
        let machine = SampleMachine { body_count: 3, beams: vec![(0, 1), (1, 2)], joints: joints.collect() };
        let sample = SampleMatrix::new(machine);
        let plan = FrontPlan::new(&sample.pattern, &sample.roles);
        let nodes: Vec<&[usize]> = plan.nodes.iter().map(|groups| &groups[..]).collect();
        assert_eq!(nodes, [&[2, 5, 8][..], &[1, 4, 7], &[0, 3, 6]]);
    }

    /// A chain of bodies with stabilizers, numbered from the ground or towards it: no front holds more than
    /// two bodies, a joint and a stabilizer.
    #[test]
    fn chains_are_eliminated_from_their_free_end_whatever_their_numbers() {
        let (count, rows) = (9, 5);
        for ground in [0, count - 1] {
            let sizes = [vec![6; count], vec![rows; 2 * count]].concat();
            let mut blocks: Vec<(usize, usize)> = (0..3 * count).map(|group| (group, group)).collect();
            for body in 0..count {
                let next = match body {
                    _ if body == ground => body,
                    _ if ground == 0 => body - 1,
                    _ => body + 1,
                };
                let (joint, stabilizer) = (count + body, 2 * count + body);
                let pairs = [(body, next), (joint, body), (joint, next), (joint, stabilizer)];
                let of_stabilizer = [(stabilizer, body), (stabilizer, next), (stabilizer, 2 * count + next)];
                let pairs = pairs.into_iter().chain(of_stabilizer);
                blocks.extend(pairs.flat_map(|(one, other)| [(one, other), (other, one)]));
            }
            let pattern = BlockPattern::new(&sizes, &sizes, blocks);
            let mut roles = [vec![Role::Primary; count], vec![Role::Multiplier; count]].concat();
            roles.resize(3 * count, Role::Paired);
            let plan = FrontPlan::new(&pattern, &roles);
            let tree = Tree::new(&pattern, &plan);
            let rows =
                |groups: &mut dyn Iterator<Item = usize>| groups.map(|group| sizes[group]).sum::<usize>();
            for (node, border) in plan.nodes.iter().zip(&tree.border).take(2 * count - 4) {
                let front = node.iter().copied().chain(border.iter().map(|&group| group as usize));
                assert!(rows(&mut front.into_iter()) <= 22, "{:?} {:?}", plan.nodes, tree.border);
            }
        }
    }

    #[test]
    fn arms_of_a_hub_take_their_joints_so_that_the_hub_stays_small() {
        let sample = SampleMatrix::hub(200, 3);
        let plan = FrontPlan::new(&sample.pattern, &sample.roles);
        let largest = plan.nodes.iter().map(|groups| groups.len()).max().unwrap();
        assert_eq!(largest, 2);
    }
}
