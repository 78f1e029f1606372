//! The assembly tree: fronts, where their numbers stand, and how they are filled.

use std::ops::Range;

use smallvec::SmallVec;

use super::Role;
use super::ordering::FrontPlan;
use crate::solve::block::BlockPattern;

/// A list for each node or group: nearly all are short, and hundreds of thousands of small vectors take
/// longer than the rest.
pub(super) type ShortList<T> = SmallVec<[T; 4]>;

/// What starting, filling and passing on one more front costs, counted in multiplications. A choice; `cargo
/// xtask bench` shows what comes of it.
const FRONT_OVERHEAD: f64 = 150.0;
/// Merging a front with its parent may add this fraction of work for the sake of longer columns. A choice, as
/// above.
const MERGE_SLACK: f64 = 0.06;

/// A dense matrix `[pivots, border]²`, of which the pivot part is eliminated.
///
/// With p pivots, b border unknowns and m = p + b, it is kept as `panel` (m × p: `L` and the upper
/// triangle of the pivot block), `right` (p × b: the rest of `U`) and `schur` (b × b, handed to the
/// parent), each column by column.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    // Numbers of half the size: a large machine has many fronts, and passes by all of them in every
    // factorisation and solution.
    pivot_start: u32,
    pivots: u32,
    border: u32,
    border_start: u32,
    entries: Range<u32>,
    children: Range<u32>,
    row_ranges: Range<u32>,
    /// Place of the panel in the factors; the right part follows it.
    pub panel: usize,
    /// Place of the Schur complement in the work space.
    pub schur: usize,
}

impl Front {
    /// First pivot, counted in elimination order.
    pub fn pivot_start(&self) -> usize {
        self.pivot_start as usize
    }

    pub fn pivots(&self) -> usize {
        self.pivots as usize
    }

    pub fn border(&self) -> usize {
        self.border as usize
    }

    pub fn height(&self) -> usize {
        self.pivots() + self.border()
    }

    /// Pivots in elimination order.
    pub fn pivot_range(&self) -> Range<usize> {
        self.pivot_start()..self.pivot_start() + self.pivots()
    }

    /// Elimination numbers of the border unknowns, in [`Symbolic::border_rows`].
    pub fn border_rows(&self) -> Range<usize> {
        self.border_start as usize..self.border_start as usize + self.border()
    }

    /// Blocks of the matrix to be copied in, in [`Symbolic::entries`].
    pub fn entries(&self) -> Range<usize> {
        wide(&self.entries)
    }

    /// Fronts whose Schur complement is added, in [`Symbolic::children`].
    pub fn children(&self) -> Range<usize> {
        wide(&self.children)
    }

    /// How the border lies in the parent, in [`Symbolic::row_ranges`].
    pub fn row_ranges(&self) -> Range<usize> {
        wide(&self.row_ranges)
    }

    /// Where an entry of the pivot rows or columns stands in the factors, and the distance to its neighbour
    /// in the row.
    pub fn place(&self, row: usize, column: usize) -> (usize, usize) {
        match column.checked_sub(self.pivots()) {
            None => (self.panel + column * self.height() + row, self.height()),
            Some(column) => (self.panel + self.panel_len() + column * self.pivots() + row, self.pivots()),
        }
    }

    pub fn panel_len(&self) -> usize {
        self.height() * self.pivots()
    }

    pub fn right_len(&self) -> usize {
        self.pivots() * self.border()
    }

    pub fn schur_range(&self) -> Range<usize> {
        self.schur..self.schur + self.border() * self.border()
    }
}

fn wide(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// A range as long as lists with numbers of this size can be: unknowns have such numbers as well.
fn narrow(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}

/// Where a front comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrontOrigin {
    /// The last node of the plan that belongs to it.
    pub top_node: usize,
    /// The front that takes its Schur complement.
    pub parent: Option<usize>,
}

/// One block of the matrix and its place in the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrontBlock<N = u32> {
    pub value: N,
    pub rows: N,
    pub columns: N,
    pub row: N,
    pub column: N,
}

impl FrontBlock {
    /// The same in numbers that are indices.
    #[inline(always)]
    pub fn wide(self) -> FrontBlock<usize> {
        FrontBlock {
            value: self.value as usize,
            rows: self.rows as usize,
            columns: self.columns as usize,
            row: self.row as usize,
            column: self.column as usize,
        }
    }
}

impl FrontBlock<usize> {
    pub fn narrow(self) -> FrontBlock {
        FrontBlock {
            value: self.value as u32,
            rows: self.rows as u32,
            columns: self.columns as u32,
            row: self.row as u32,
            column: self.column as u32,
        }
    }
}

/// Consecutive border unknowns of a front that are consecutive in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowRange<N = u32> {
    pub from: N,
    pub to: N,
    pub len: N,
}

impl RowRange {
    /// The same in numbers that are indices.
    #[inline(always)]
    pub fn wide(self) -> RowRange<usize> {
        RowRange { from: self.from as usize, to: self.to as usize, len: self.len as usize }
    }
}

/// Everything about a factorisation that does not depend on numbers.
#[derive(Clone, Debug)]
pub(super) struct Symbolic {
    /// Fronts in elimination order: children before parents.
    pub fronts: Vec<Front>,
    /// For each front.
    pub origins: Vec<FrontOrigin>,
    /// For each node of the plan, the last node of its front.
    pub top_of_node: Vec<u32>,
    pub border_rows: Vec<u32>,
    pub entries: Vec<FrontBlock>,
    pub children: Vec<u32>,
    pub row_ranges: Vec<RowRange>,
    /// For each place in elimination order, the unknown that stands there.
    pub unknown_at: Vec<u32>,
    /// For each place in elimination order, its group.
    pub group_at: Vec<u32>,
    /// For each pivot, counted from the first of its front, the end of the rows to search first: those of
    /// its own group for a primary, all for a multiplier.
    pub search_ends: Vec<u32>,
    pub factor_len: usize,
    /// Multiplications of a factorisation.
    pub work: f64,
    pub schur_len: usize,
    pub largest_front: usize,
}

/// The tree of nodes before merging.
pub(super) struct Tree {
    pub parent: Vec<Option<usize>>,
    /// Groups outside a node that its elimination connects.
    pub border: Vec<ShortList<u32>>,
}

impl Tree {
    pub fn new(pattern: &BlockPattern, plan: &FrontPlan) -> Self {
        let node_count = plan.nodes.len();
        let mut node_of = vec![0; pattern.row_group_count()];
        for (node, groups) in plan.nodes.iter().enumerate() {
            groups.iter().for_each(|&group| node_of[group] = node);
        }
        let mut border: Vec<ShortList<u32>> = vec![ShortList::new(); node_count];
        for (_, row, column) in pattern.blocks() {
            let (early, late) = if node_of[row] < node_of[column] { (row, column) } else { (column, row) };
            if node_of[early] != node_of[late] {
                border[node_of[early]].push(late as u32);
            }
        }
        let mut parent = vec![None; node_count];
        let mut children: Vec<ShortList<usize>> = vec![ShortList::new(); node_count];
        let mut seen_by = vec![usize::MAX; pattern.row_group_count()];
        for node in 0..node_count {
            let mut connected = std::mem::take(&mut border[node]);
            for &child in &children[node] {
                connected.extend_from_slice(&border[child]);
            }
            connected.retain(|&mut group| {
                let group = group as usize;
                node_of[group] != node && std::mem::replace(&mut seen_by[group], node) != node
            });
            parent[node] = connected.iter().map(|&group| node_of[group as usize]).min();
            if let Some(parent) = parent[node] {
                children[parent].push(node);
            }
            border[node] = connected;
        }
        Self { parent, border }
    }
}

/// Multiplications of eliminating `pivots` out of a front of `pivots + border`.
fn work(pivots: usize, border: usize) -> f64 {
    let (all, border) = ((pivots + border) as f64, border as f64);
    (all * all * all - border * border * border) / 3.0
}

/// For each node, the last node of the front it belongs to. A node whose `forced` flag is set joins its
/// parent in any case.
fn merge(tree: &Tree, own_size: &[usize], border_size: &[usize], forced: &[bool]) -> Vec<usize> {
    let node_count = own_size.len();
    let mut size = own_size.to_vec();
    let mut joins_parent = vec![false; node_count];
    for node in 0..node_count {
        let Some(parent) = tree.parent[node] else { continue };
        let border = border_size[node] as f64;
        let apart = work(size[node], border_size[node]) + work(size[parent], border_size[parent]);
        let together = work(size[node] + size[parent], border_size[parent]);
        if forced[node] || together < apart * (1.0 + MERGE_SLACK) + FRONT_OVERHEAD + border * border {
            joins_parent[node] = true;
            size[parent] += size[node];
        }
    }
    let mut front = vec![0; node_count];
    for node in (0..node_count).rev() {
        front[node] = match tree.parent[node] {
            Some(parent) if joins_parent[node] => front[parent],
            _ => node,
        };
    }
    front
}

/// The given nodes, ascending, so that each comes after its children, with the children of one parent
/// together.
///
/// Of these, the one that needs most memory beside the Schur complement it leaves comes first: what its
/// descendants need is free again when the others follow [Liu1986], and what is still to be read stays in the
/// cache.
fn postorder(
    top_nodes: &[usize],
    parent: impl Fn(usize) -> Option<usize>,
    border_size: &[usize],
) -> Vec<usize> {
    let mut children: Vec<ShortList<usize>> = vec![ShortList::new(); border_size.len()];
    let mut waiting = Vec::new();
    let left = |node: usize| border_size[node] * border_size[node];
    let mut most = vec![0; border_size.len()];
    for &top in top_nodes {
        children[top].sort_by_key(|&child| std::cmp::Reverse(most[child] - left(child)));
        let mut before = 0;
        for &child in &children[top] {
            most[top] = most[top].max(before + most[child]);
            before += left(child);
        }
        most[top] = most[top].max(before + left(top));
        match parent(top) {
            Some(parent) => children[parent].push(top),
            None => waiting.push(top),
        }
    }
    let mut order = Vec::with_capacity(top_nodes.len());
    while let Some(top) = waiting.pop() {
        order.push(top);
        waiting.extend_from_slice(&children[top]);
    }
    order.reverse();
    order
}

/// Hands out places for Schur complements whose lifetimes are known.
#[derive(Default)]
struct Places {
    /// Free ranges in ascending order.
    free: Vec<Range<usize>>,
    end: usize,
}

impl Places {
    fn take(&mut self, len: usize) -> usize {
        if let Some(index) = self.free.iter().position(|range| range.len() >= len) {
            let start = self.free[index].start;
            self.free[index].start += len;
            if self.free[index].is_empty() {
                self.free.remove(index);
            }
            return start;
        }
        let start = match self.free.last() {
            Some(last) if last.end == self.end => self.free.pop().map_or(self.end, |last| last.start),
            _ => self.end,
        };
        self.end = start + len;
        start
    }

    fn give_back(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let mut index = self.free.partition_point(|free| free.start < range.start);
        self.free.insert(index, range);
        if index > 0 && self.free[index - 1].end == self.free[index].start {
            index -= 1;
            self.free[index].end = self.free[index + 1].end;
            self.free.remove(index + 1);
        }
        if index + 1 < self.free.len() && self.free[index].end == self.free[index + 1].start {
            self.free[index].end = self.free[index + 1].end;
            self.free.remove(index + 1);
        }
    }
}

impl Symbolic {
    /// Analyses a square pattern; nodes whose `forced` flag is set are merged with their parents.
    pub fn new(pattern: &BlockPattern, roles: &[Role], plan: &FrontPlan, forced: &[bool]) -> Self {
        let tree = Tree::new(pattern, plan);
        let size_of = |groups: &mut dyn Iterator<Item = usize>| -> usize {
            groups.map(|group| pattern.row_range(group).len()).sum()
        };
        let own_size: Vec<usize> =
            plan.nodes.iter().map(|groups| size_of(&mut groups.iter().copied())).collect();
        let border_size: Vec<usize> =
            tree.border.iter().map(|groups| size_of(&mut groups.iter().map(|&g| g as usize))).collect();
        let front_of_node = merge(&tree, &own_size, &border_size, forced);
        let mut members: Vec<ShortList<usize>> = vec![ShortList::new(); plan.nodes.len()];
        front_of_node.iter().enumerate().for_each(|(node, &top)| members[top].push(node));
        let top_nodes: Vec<usize> =
            (0..plan.nodes.len()).filter(|&node| front_of_node[node] == node).collect();
        let parent_of = |top: usize| tree.parent[top].map(|parent| front_of_node[parent]);
        let order = postorder(&top_nodes, parent_of, &border_size);

        let mut builder = SymbolicBuilder::new(pattern);
        builder.symbolic.top_of_node = front_of_node.iter().map(|&top| top as u32).collect();
        for &top in &order {
            let pivots = members[top].iter().flat_map(|&node| plan.nodes[node].iter().copied());
            builder.number_pivots(top, pivots, roles);
        }
        for &top in &order {
            builder.lay_out(&tree.border[top]);
        }
        builder.connect(&order, parent_of);
        builder.finish()
    }
}

/// Fills a [`Symbolic`] front by front.
struct SymbolicBuilder<'a> {
    pattern: &'a BlockPattern,
    symbolic: Symbolic,
    pivot_groups: Vec<ShortList<usize>>,
    border_groups: Vec<ShortList<usize>>,
    /// Elimination number of the first unknown of each group.
    start_of_group: Vec<usize>,
    /// Place of each top node in the order of fronts.
    front_of_top: Vec<usize>,
    blocks_of_row: Vec<ShortList<(usize, usize)>>,
}

impl<'a> SymbolicBuilder<'a> {
    fn new(pattern: &'a BlockPattern) -> Self {
        let group_count = pattern.row_group_count();
        let mut blocks_of_row = vec![ShortList::new(); group_count];
        for (block, row, column) in pattern.blocks() {
            blocks_of_row[row].push((pattern.value_range(block).start, column));
        }
        Self {
            pattern,
            symbolic: Symbolic {
                fronts: Vec::new(),
                origins: Vec::new(),
                top_of_node: Vec::new(),
                border_rows: Vec::new(),
                entries: Vec::new(),
                children: Vec::new(),
                row_ranges: Vec::new(),
                unknown_at: Vec::with_capacity(pattern.row_count()),
                group_at: Vec::with_capacity(pattern.row_count()),
                search_ends: Vec::with_capacity(pattern.row_count()),
                factor_len: 0,
                work: 0.0,
                schur_len: 0,
                largest_front: 0,
            },
            pivot_groups: Vec::new(),
            border_groups: Vec::new(),
            start_of_group: vec![0; group_count],
            front_of_top: vec![usize::MAX; group_count],
            blocks_of_row,
        }
    }

    /// Gives the pivots of the next front their places in elimination order.
    fn number_pivots(&mut self, top: usize, groups: impl Iterator<Item = usize>, roles: &[Role]) {
        let symbolic = &mut self.symbolic;
        let pivot_start = symbolic.unknown_at.len();
        let groups: ShortList<usize> = groups.collect();
        let pivots: usize = groups.iter().map(|&group| self.pattern.row_range(group).len()).sum();
        for &group in &groups {
            let rows = self.pattern.row_range(group).len();
            let end = match roles[group] {
                Role::Primary => symbolic.unknown_at.len() - pivot_start + rows,
                Role::Multiplier | Role::Paired => pivots,
            };
            symbolic.search_ends.extend(std::iter::repeat_n(end as u32, rows));
            self.start_of_group[group] = symbolic.unknown_at.len();
            for unknown in self.pattern.row_range(group) {
                symbolic.unknown_at.push(unknown as u32);
                symbolic.group_at.push(group as u32);
            }
        }
        self.front_of_top[top] = symbolic.fronts.len();
        let (pivot_start, pivots) = (pivot_start as u32, pivots as u32);
        symbolic.fronts.push(Front { pivot_start, pivots, ..Front::default() });
        symbolic.origins.push(FrontOrigin { top_node: top, parent: None });
        self.pivot_groups.push(groups);
    }

    /// Sorts the border of the next front and gives its factors their place.
    fn lay_out(&mut self, border: &[u32]) {
        let index = self.border_groups.len();
        let mut groups: ShortList<usize> = border.iter().map(|&group| group as usize).collect();
        groups.sort_unstable_by_key(|&group| self.start_of_group[group]);
        let symbolic = &mut self.symbolic;
        let first = symbolic.border_rows.len();
        for &group in &groups {
            let start = self.start_of_group[group];
            let rows = start..start + self.pattern.row_range(group).len();
            symbolic.border_rows.extend(rows.map(|row| row as u32));
        }
        let front = &mut symbolic.fronts[index];
        front.border_start = first as u32;
        front.border = (symbolic.border_rows.len() - first) as u32;
        front.panel = symbolic.factor_len;
        symbolic.factor_len += front.panel_len() + front.right_len();
        symbolic.work += work(front.pivots(), front.border());
        symbolic.largest_front = symbolic.largest_front.max(front.height());
        self.border_groups.push(groups);
    }

    /// Links parents and children, and finds where matrix blocks and Schur complements go.
    fn connect(&mut self, order: &[usize], parent_of: impl Fn(usize) -> Option<usize>) {
        let front_count = order.len();
        let mut children: Vec<ShortList<usize>> = vec![ShortList::new(); front_count];
        for (index, &top) in order.iter().enumerate() {
            let parent = parent_of(top).map(|parent| self.front_of_top[parent]);
            self.symbolic.origins[index].parent = parent;
            if let Some(parent) = parent {
                children[parent].push(index);
            }
        }
        let mut local = vec![0; self.pattern.row_group_count()];
        let mut places = Places::default();
        for (index, children) in children.iter().enumerate() {
            self.number_locally(index, &mut local);
            self.add_entries(index, &local);
            let first = self.symbolic.children.len();
            for &child in children {
                self.add_ranges(child, index, &local);
                self.symbolic.children.push(child as u32);
            }
            self.symbolic.fronts[index].children = narrow(first..self.symbolic.children.len());
            let border = self.symbolic.fronts[index].border();
            self.symbolic.fronts[index].schur = places.take(border * border);
            for &child in children {
                places.give_back(self.symbolic.fronts[child].schur_range());
            }
        }
        self.symbolic.schur_len = places.end;
    }

    /// Writes the place of each group inside a front.
    fn number_locally(&self, index: usize, local: &mut [usize]) {
        let mut place = 0;
        for &group in self.pivot_groups[index].iter().chain(&self.border_groups[index]) {
            local[group] = place;
            place += self.pattern.row_range(group).len();
        }
    }

    fn add_entries(&mut self, index: usize, local: &[usize]) {
        let Range { start, end } = self.symbolic.fronts[index].pivot_range();
        let first = self.symbolic.entries.len();
        let rows_of = |group: usize| self.pattern.row_range(group).len();
        for &group in &self.pivot_groups[index] {
            if rows_of(group) == 0 {
                continue;
            }
            for (block, row) in self.pattern.column_blocks(group) {
                if self.start_of_group[row] >= start && rows_of(row) > 0 {
                    let entry = FrontBlock {
                        value: self.pattern.value_range(block).start,
                        rows: rows_of(row),
                        columns: rows_of(group),
                        row: local[row],
                        column: local[group],
                    };
                    self.symbolic.entries.push(entry.narrow());
                }
            }
            for &(value, column) in &self.blocks_of_row[group] {
                if self.start_of_group[column] >= end && rows_of(column) > 0 {
                    let entry = FrontBlock {
                        value,
                        rows: rows_of(group),
                        columns: rows_of(column),
                        row: local[group],
                        column: local[column],
                    };
                    self.symbolic.entries.push(entry.narrow());
                }
            }
        }
        self.symbolic.fronts[index].entries = narrow(first..self.symbolic.entries.len());
    }

    fn add_ranges(&mut self, child: usize, parent: usize, local: &[usize]) {
        let pivots = self.symbolic.fronts[parent].pivots;
        let first = self.symbolic.row_ranges.len();
        let mut from = 0;
        for &group in &self.border_groups[child] {
            let (to, len) = (local[group] as u32, self.pattern.row_range(group).len() as u32);
            match self.symbolic.row_ranges[first..].last_mut() {
                Some(run) if run.to + run.len == to && to != pivots => run.len += len,
                _ => self.symbolic.row_ranges.push(RowRange { from, to, len }),
            }
            from += len;
        }
        self.symbolic.fronts[child].row_ranges = narrow(first..self.symbolic.row_ranges.len());
    }

    fn finish(self) -> Symbolic {
        self.symbolic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::sparse_lu::samples::SampleMatrix;

    fn analyse(sample: &SampleMatrix) -> Symbolic {
        let plan = FrontPlan::new(&sample.pattern, &sample.roles);
        let forced = vec![false; plan.nodes.len()];
        Symbolic::new(&sample.pattern, &sample.roles, &plan, &forced)
    }

    #[test]
    fn work_and_memory_of_chains_trees_and_beams_grow_linearly() {
        for make in [
            |n| SampleMatrix::chain(n, 3),
            |n| SampleMatrix::chain(n, 5),
            |n| SampleMatrix::tree(n, 5),
            SampleMatrix::beam,
        ] {
            let (small, large) = (analyse(&make(100)), analyse(&make(1000)));
            let ratio = large.factor_len as f64 / small.factor_len as f64;
            assert!((9.0..11.0).contains(&ratio), "{ratio}");
            assert!(large.largest_front <= 36, "{}", large.largest_front);
        }
    }

    #[test]
    fn the_child_whose_descendants_need_most_memory_comes_first() {
        // Fronts 1 and 2 are children of 3; front 0, with the largest border, is below 2.
        let (parents, borders) = ([Some(2), Some(3), Some(3), None], [10, 3, 1, 0]);
        assert_eq!(postorder(&[0, 1, 2, 3], |top| parents[top], &borders), [0, 2, 1, 3]);
    }

    #[test]
    fn places_are_reused_and_never_overlap() {
        let mut places = Places::default();
        let (a, b) = (places.take(4), places.take(6));
        places.give_back(a..a + 4);
        let c = places.take(3);
        assert_eq!((a, b, c), (0, 4, 0));
        places.give_back(b..b + 6);
        places.give_back(c..c + 3);
        assert!(places.free.len() == 1 && places.free[0] == (0..10));
        // Grows the last free range instead of leaving it behind.
        assert_eq!((places.take(12), places.end), (0, 12));
    }

    #[test]
    fn every_unknown_is_eliminated_exactly_once() {
        for sample in [SampleMatrix::grid(6), SampleMatrix::hub(40, 5), SampleMatrix::random(3, 30, 12)] {
            let mut unknowns = analyse(&sample).unknown_at;
            unknowns.sort_unstable();
            assert!(unknowns.iter().copied().eq(0..sample.unknown_count() as u32));
        }
    }
}
