//! In which order the groups are eliminated, and which multipliers go with which primary.
//!
//! See the module page of [`super`] for the rule and why it keeps every pivot block of full rank.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

use super::Role;
use crate::solve::block::BlockPattern;

/// A node that gathers more multiplier rows than this gives those away that may be eliminated earlier:
/// a hub with a hundred arms would otherwise end in one dense front. On chains and slender trees the
/// late place is the cheaper one, because a joint has fewer rows than the body behind it.
const GATHERED_ROWS_LIMIT: usize = 18;

/// A multiplier that meets more primaries than this is seen by the minimum-degree ordering as a star.
const CLIQUE_LIMIT: usize = 8;

/// Which groups are eliminated together, in elimination order; in a node the primary comes first.
pub(super) struct Plan {
    pub nodes: Vec<Vec<usize>>,
}

/// The groups as the ordering sees them.
struct Incidence {
    /// Groups that open a node: the primaries, and multipliers that meet no primary.
    anchors: Vec<usize>,
    /// Every other multiplier group with the anchors it meets, as positions in `anchors`.
    multipliers: Vec<(usize, Vec<usize>)>,
    /// Pairs of anchors with a common block.
    couplings: Vec<(usize, usize)>,
}

impl Incidence {
    fn new(pattern: &BlockPattern, roles: &[Role]) -> Self {
        let group_count = roles.len();
        let mut meets_primary: Vec<Vec<usize>> = vec![Vec::new(); group_count];
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
                let mut met: Vec<usize> = primaries.into_iter().map(|primary| anchor_of[primary]).collect();
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

        let rows = |group: usize| pattern.row_range(group).len();
        let last = |met: &[usize]| met.iter().map(|&anchor| position[anchor]).max().unwrap_or(0);
        let mut gathered = vec![0; order.len()];
        for (group, met) in &incidence.multipliers {
            gathered[last(met)] += rows(*group);
        }
        let crowded = gathered.iter().any(|&rows| rows > GATHERED_ROWS_LIMIT);
        let outer_ends = if crowded { bridges(&incidence, &order) } else { Vec::new() };

        let mut nodes: Vec<Vec<usize>> =
            order.iter().map(|&anchor| vec![incidence.anchors[anchor]]).collect();
        for (index, (group, met)) in incidence.multipliers.iter().enumerate() {
            let late = last(met);
            let early = outer_ends.get(index).copied().flatten().map(|anchor| position[anchor]);
            let place = early.filter(|_| gathered[late] > GATHERED_ROWS_LIMIT).unwrap_or(late);
            nodes[place].push(*group);
        }
        Self { nodes }
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

/// For each multiplier that is a bridge of the constraint graph, the anchor on its outer side, if that
/// is eliminated before the inner one.
///
/// Vertices are the anchors and one for everything fixed; a multiplier of two anchors is an edge, one of
/// a single anchor is an edge to the fixed vertex, and one of more anchors is never a bridge (its edges
/// are doubled). The graph is searched from the fixed vertex, then from the anchors eliminated last, so
/// that every part between bridges has at most one bridge of which it is the outer side.
fn bridges(incidence: &Incidence, order: &[usize]) -> Vec<Option<usize>> {
    let fixed = incidence.anchors.len();
    let mut ends: Vec<(usize, usize, usize)> = Vec::new();
    for (index, (_, met)) in incidence.multipliers.iter().enumerate() {
        match met.as_slice() {
            [only] => ends.push((fixed, *only, index)),
            [one, other] => ends.push((*one, *other, index)),
            many => many.windows(2).for_each(|pair| ends.extend([(pair[0], pair[1], index); 2])),
        }
    }
    let mut neighbours: Vec<Vec<(usize, usize)>> = vec![Vec::new(); fixed + 1];
    for (edge, &(one, other, _)) in ends.iter().enumerate() {
        neighbours[one].push((other, edge));
        neighbours[other].push((one, edge));
    }
    let mut position = vec![usize::MAX; fixed + 1];
    order.iter().enumerate().for_each(|(place, &anchor)| position[anchor] = place);

    const UNSEEN: usize = usize::MAX;
    let mut outer_ends = vec![None; incidence.multipliers.len()];
    let mut depth = vec![UNSEEN; fixed + 1];
    let mut low = vec![UNSEEN; fixed + 1];
    let mut path: Vec<(usize, usize, usize)> = Vec::new(); // vertex, edge it was reached by, next neighbour
    for root in std::iter::once(fixed).chain(order.iter().rev().copied()) {
        if depth[root] != UNSEEN {
            continue;
        }
        (depth[root], low[root]) = (0, 0);
        path.push((root, UNSEEN, 0));
        while let Some(&mut (vertex, arrival, ref mut next)) = path.last_mut() {
            if let Some(&(neighbour, edge)) = neighbours[vertex].get(*next) {
                *next += 1;
                if edge == arrival {
                    continue;
                }
                if depth[neighbour] == UNSEEN {
                    (depth[neighbour], low[neighbour]) = (path.len(), path.len());
                    path.push((neighbour, edge, 0));
                } else {
                    low[vertex] = low[vertex].min(depth[neighbour]);
                }
                continue;
            }
            path.pop();
            if let Some(&(inner, ..)) = path.last() {
                low[inner] = low[inner].min(low[vertex]);
                if low[vertex] > depth[inner] && position[vertex] < position[inner] {
                    outer_ends[ends[arrival].2] = Some(vertex);
                }
            }
        }
    }
    outer_ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::sparse_lu::samples::Sample;

    fn place_of(plan: &Plan, group: usize) -> usize {
        plan.nodes.iter().position(|node| node.contains(&group)).unwrap()
    }

    #[test]
    fn every_group_is_eliminated_once_and_multipliers_after_all_their_primaries() {
        for sample in [Sample::chain(7, 3), Sample::tree(20, 5), Sample::ring(9, 3), Sample::grid(5)] {
            let plan = Plan::new(&sample.pattern, &sample.roles);
            let mut groups: Vec<usize> = plan.nodes.iter().flatten().copied().collect();
            groups.sort_unstable();
            assert_eq!(groups, (0..sample.roles.len()).collect::<Vec<_>>());
            for (_, row, column) in sample.pattern.blocks() {
                if sample.roles[row] == Role::Multiplier && sample.roles[column] == Role::Primary {
                    assert!(place_of(&plan, row) >= place_of(&plan, column));
                }
            }
        }
    }

    #[test]
    fn arms_of_a_hub_take_their_joints_so_that_the_hub_stays_small() {
        let sample = Sample::hub(200, 3);
        let plan = Plan::new(&sample.pattern, &sample.roles);
        let largest = plan.nodes.iter().map(Vec::len).max().unwrap();
        assert_eq!(largest, 2);
    }

    #[test]
    fn joints_of_a_loop_are_never_taken_early() {
        // Two hinges between the same two bodies form a loop, as on a door.
        let incidence = Incidence {
            anchors: vec![0, 1, 2],
            multipliers: vec![(3, vec![0, 1]), (4, vec![0, 1]), (5, vec![1, 2])],
            couplings: Vec::new(),
        };
        assert_eq!(bridges(&incidence, &[2, 1, 0]), [None, None, Some(2)]);
    }
}
