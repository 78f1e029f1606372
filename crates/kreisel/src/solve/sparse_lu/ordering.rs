//! In which order the groups are eliminated, and which multipliers go with which primary.
//!
//! See the module page of [`super`] for the rule and why it keeps every pivot block of full rank.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use smallvec::smallvec;

use super::Role;
use super::owner::owners;
use super::symbolic::{Few, Tree};
use crate::solve::block::BlockPattern;

/// A multiplier that meets more primaries than this is seen by the minimum-degree ordering as a star.
const CLIQUE_LIMIT: usize = 8;

/// Which groups are eliminated together, in elimination order; in a node the primary comes first.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub nodes: Vec<Few<usize>>,
}

/// The groups as the ordering sees them.
pub(super) struct Incidence {
    /// Groups that open a node: the primaries, and multipliers that meet no primary.
    pub anchors: Vec<usize>,
    /// Every other multiplier group with the anchors it meets, as positions in `anchors`.
    pub multipliers: Vec<(usize, Few<usize>)>,
    /// Pairs of anchors with a common block.
    pub couplings: Vec<(usize, usize)>,
}

impl Incidence {
    fn new(pattern: &BlockPattern, roles: &[Role]) -> Self {
        let group_count = roles.len();
        let mut meets_primary: Vec<Few<usize>> = vec![Few::new(); group_count];
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
            if roles[group] == Role::Primary || meets_primary[group].is_empty() {
                anchor_of[group] = anchors.len();
                anchors.push(group);
            }
        }
        let multipliers = meets_primary
            .into_iter()
            .enumerate()
            .filter(|(_, primaries)| !primaries.is_empty())
            .map(|(group, primaries)| {
                let mut met: Few<usize> = primaries.into_iter().map(|primary| anchor_of[primary]).collect();
                met.sort_unstable();
                met.dedup();
                (group, met)
            })
            .collect();
        let couplings = pattern
            .blocks()
            .map(|(_, row, column)| (anchor_of[row], anchor_of[column]))
            .filter(|&(one, other)| one != other && one != usize::MAX && other != usize::MAX)
            .collect();
        Self { anchors, multipliers, couplings }
    }

    /// Edges of the graph of anchors, both directions, each once.
    fn edges(&self) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        let mut connect = |one, other| edges.extend([(one, other), (other, one)]);
        self.couplings.iter().for_each(|&(one, other)| connect(one, other));
        for (_, met) in &self.multipliers {
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

impl Plan {
    pub fn new(pattern: &BlockPattern, roles: &[Role]) -> Self {
        let incidence = Incidence::new(pattern, roles);
        let order = minimum_degree(incidence.anchors.len(), &incidence.edges());
        let mut position = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &anchor)| position[anchor] = place);

        let last = |met: &[usize]| met.iter().map(|&anchor| position[anchor]).max().unwrap_or(0);
        let late: Vec<usize> = incidence.multipliers.iter().map(|(_, met)| last(met)).collect();
        let plan = Self::with_places(&incidence, &order, &late);
        let owners = owners(&incidence, pattern, &position);
        let tree = Tree::new(pattern, &plan);
        let costs = NodeCosts::new(pattern, &plan, &tree);
        let places: Vec<usize> = incidence
            .multipliers
            .iter()
            .zip(late.iter().zip(&owners))
            .map(|((group, met), (&late, owner))| match owner.map(|anchor| position[anchor]) {
                Some(early) if early < late => {
                    let others = met.iter().filter(|&&anchor| position[anchor] > early);
                    let others = others.map(|&anchor| incidence.anchors[anchor]);
                    if costs.early_is_cheaper(*group, early, late, others) { early } else { late }
                }
                _ => late,
            })
            .collect();
        Self::with_places(&incidence, &order, &places)
    }

    fn with_places(incidence: &Incidence, order: &[usize], places: &[usize]) -> Self {
        let mut nodes: Vec<Few<usize>> =
            order.iter().map(|&anchor| smallvec![incidence.anchors[anchor]]).collect();
        for ((group, _), &place) in incidence.multipliers.iter().zip(places) {
            nodes[place].push(*group);
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
}

impl<'a> NodeCosts<'a> {
    fn new(pattern: &'a BlockPattern, plan: &Plan, tree: &'a Tree) -> Self {
        let rows = |group: usize| pattern.row_range(group).len();
        let pivots: Vec<usize> =
            plan.nodes.iter().map(|groups| groups.iter().map(|&group| rows(group)).sum()).collect();
        let front = pivots
            .iter()
            .zip(&tree.border)
            .map(|(pivots, border)| pivots + border.iter().map(|&group| rows(group as usize)).sum::<usize>())
            .collect();
        Self { pattern, tree, pivots, front }
    }

    /// Compares the work of the multiplier's pivots in a late node with that of an early node, whose border
    /// then has to hold the multiplier's other primaries.
    ///
    /// If the border holds them already (bodies that also share a block, as with the stiffness of joints under load),
    /// equal work is reason enough: what goes early is gone from the borders of the nodes that follow, which makes a
    /// chain of such bodies cheaper by half.
    fn early_is_cheaper(
        &self,
        group: usize,
        early: usize,
        late: usize,
        others: impl Iterator<Item = usize>,
    ) -> bool {
        let rows = |group: usize| self.pattern.row_range(group).len();
        let square = |size: usize| (size * size) as f64;
        let border = &self.tree.border[early];
        let added: usize = others.filter(|&other| !border.contains(&(other as u32))).map(rows).sum();
        let (pivots, front) = (self.pivots[early] as f64, self.front[early]);
        let more = rows(group) as f64;
        let early_work = (pivots + more) * square(front + added) - pivots * square(front);
        let late_work = more * square(self.front[late]);
        if added == 0 { early_work <= late_work } else { early_work < late_work }
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
    use crate::solve::sparse_lu::samples::Sample;

    fn place_of(plan: &Plan, group: usize) -> usize {
        plan.nodes.iter().position(|node| node.contains(&group)).unwrap()
    }

    #[test]
    fn every_group_is_eliminated_once_and_multipliers_never_before_all_their_primaries() {
        for sample in [Sample::chain(7, 3), Sample::hub(20, 5), Sample::ring(9, 3), Sample::lattice(5)] {
            let plan = Plan::new(&sample.pattern, &sample.roles);
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
        let plan = Plan::new(&pattern, &roles);
        let tree = Tree::new(&pattern, &plan);
        // No front holds more than two bodies and one joint; with joints that go late it would be two of each.
        let rows = |groups: &[usize]| groups.iter().map(|&group| sizes[group]).sum::<usize>();
        for (node, border) in plan.nodes.iter().zip(&tree.border) {
            let border: Vec<usize> = border.iter().map(|&group| group as usize).collect();
            // The first body carries its joint to the ground as well.
            let most = if node.contains(&0) { 18 } else { 15 };
            assert!(rows(node) + rows(&border) <= most, "{:?} {:?}", plan.nodes, tree.border);
        }
    }

    #[test]
    fn arms_of_a_hub_take_their_joints_so_that_the_hub_stays_small() {
        let sample = Sample::hub(200, 3);
        let plan = Plan::new(&sample.pattern, &sample.roles);
        let largest = plan.nodes.iter().map(|groups| groups.len()).max().unwrap();
        assert_eq!(largest, 2);
    }
}
