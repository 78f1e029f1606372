//! Which unknown of a Newton matrix is which, and where the blocks of a [`Tangent`] go in it.
//!
//! Groups in order: nodes, holonomic constraints, nonholonomic constraints, stabilizers η of holonomic
//! constraints with `index2`, states. A method may carry several unknowns of a kind (x and v of a node, say):
//! groups then hold [`Copies`] one after the other.

use std::sync::Arc;

use crate::dae::{
    Couplings, Equation, GradientPlace, Reactions, Shape, StateGroup, Tangent, TangentOperators,
};
use crate::solve::block::{BlockId, BlockMatrix, BlockPattern};
use crate::solve::kernel::{BlockTarget, DenseBlock, add, add_transposed};
use crate::solve::linear::Role;

/// How many unknowns (and equations) of a kind a method has per component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copies {
    pub nodes: usize,
    pub constraints: usize,
    pub nonholonomic: usize,
    /// Whether holonomic constraints have stabilizers, in groups of their own.
    pub stabilizers: bool,
}

impl Copies {
    /// One of each: `index3`, and consistent initial values.
    pub const ONE: Self = Self { nodes: 1, constraints: 1, nonholonomic: 1, stabilizers: false };
    /// λ and η per constraint: `index2`.
    pub const STABILIZED: Self = Self { stabilizers: true, ..Self::ONE };
    /// x and v per node: the three-field form of `bdf2`.
    pub const THREE_FIELDS: Self = Self { nodes: 2, ..Self::ONE };
    /// Two of each: `soi2`.
    pub const TWO: Self = Self { nodes: 2, constraints: 2, nonholonomic: 2, stabilizers: false };
}

/// Which copies of the equations and of the unknowns a block belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyIndex {
    pub row: usize,
    pub column: usize,
}

impl CopyIndex {
    pub const FIRST: Self = Self { row: 0, column: 0 };

    pub fn new(row: usize, column: usize) -> Self {
        Self { row, column }
    }
}

/// Constraints of one kind in a layout.
#[derive(Clone, Debug)]
struct Constraints {
    first_group: usize,
    sizes: Vec<usize>,
    copies: usize,
    /// Places of each block of the gradient's pattern.
    gradient: Vec<GradientPlace>,
    /// Place of each block of the pattern of reactions.
    reaction: Vec<BlockId>,
}

/// States in a layout: they have one unknown each, whatever the method.
#[derive(Clone, Debug)]
struct States {
    first_group: usize,
    groups: Vec<StateGroup>,
    /// Place of each block of the couplings: forces with states, and rates with nodes, states and λ.
    force: Vec<BlockId>,
    node: Vec<BlockId>,
    state: Vec<BlockId>,
    constraint: Vec<BlockId>,
}

/// How rates and unknowns of states are scaled in a Newton matrix; the first number is for ċ = h, the second
/// for 0 = h.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StateScaling {
    /// Diagonal of the equations ċ = h, where h changes as its state does; 0 in statics.
    pub inertia: f64,
    /// Factor of h in the equations of states.
    pub rate: [f64; 2],
    /// Change of a state per change of its unknown.
    pub unknown: [f64; 2],
    /// Factor of forces.
    pub force: f64,
    /// Change of a multiplier per change of its unknown.
    pub multiplier: f64,
}

/// Place of a state's number in a [`StateScaling`].
fn kind_of(algebraic: bool) -> usize {
    usize::from(algebraic)
}

/// The kinds of constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// Holonomic ones with λ.
    Holonomic,
    /// Nonholonomic ones with ψ.
    Nonholonomic,
    /// The hidden constraints of holonomic ones with η, in methods that stabilize.
    Stabilizer,
}

/// Pattern of a Newton matrix and the places of the tangent's blocks in it.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub pattern: Arc<BlockPattern>,
    pub roles: Vec<Role>,
    node_copies: usize,
    node_sizes: Vec<usize>,
    /// Place of each block of `Couplings::force_node`.
    force: Vec<BlockId>,
    holonomic: Constraints,
    nonholonomic: Constraints,
    stabilizers: Constraints,
    internal_states: States,
}

impl Layout {
    /// Layout with copies of the unknowns; `extra` names further blocks, by group.
    pub fn new(
        shape: &Shape,
        couplings: &Couplings,
        copies: Copies,
        extra: impl IntoIterator<Item = (usize, usize)>,
    ) -> Self {
        let node_sizes = shape.node_sizes();
        let node_count = node_sizes.len();
        let first_nonholonomic = node_count + shape.constraints.len();
        let mut sizes: Vec<usize> = node_sizes.iter().map(|size| copies.nodes * size).collect();
        sizes.extend(shape.constraints.iter().map(|size| copies.constraints * size));
        sizes.extend(shape.nonholonomic.iter().map(|size| copies.nonholonomic * size));
        let mut roles = vec![Role::Primary; node_count];
        roles.resize(sizes.len(), Role::Multiplier);
        let first_stabilizer = sizes.len();
        let stabilizer_sizes = if copies.stabilizers { shape.constraints.clone() } else { Vec::new() };
        sizes.extend(&stabilizer_sizes);
        roles.resize(sizes.len(), Role::Paired);
        let first_state = sizes.len();
        sizes.extend(shape.internal_states.iter().map(|group| group.size));
        roles.resize(sizes.len(), Role::Primary);

        let of = |pattern: &BlockPattern, rows: usize, columns: usize| -> Vec<(usize, usize)> {
            pattern.blocks().map(|(_, row, column)| (row + rows, column + columns)).collect()
        };
        let force = of(&couplings.force_node, 0, 0);
        let gradient = of(&couplings.constraint_node, node_count, 0);
        let nonholonomic = of(&couplings.nonholonomic_node, first_nonholonomic, 0);
        let reaction = of(&couplings.force_constraint, 0, node_count);
        let nonholonomic_reaction = of(&couplings.force_nonholonomic, 0, first_nonholonomic);
        let stabilizer = match copies.stabilizers {
            true => of(&couplings.constraint_node, first_stabilizer, 0),
            false => Vec::new(),
        };
        // Where constraints are compliant, η gives way in the rows of λ and λ in those of η.
        let crossed = (0..stabilizer_sizes.len()).map(|index| (node_count + index, first_stabilizer + index));
        let crossed = crossed.flat_map(|(one, other)| [(one, other), (other, one)]);
        let force_state = of(&couplings.force_state, 0, first_state);
        let state_node = of(&couplings.state_node, first_state, 0);
        let state_state = of(&couplings.state_state, first_state, first_state);
        let state_constraint = of(&couplings.state_constraint, first_state, node_count);
        let with_internal_states =
            || force_state.iter().chain(&state_node).chain(&state_state).chain(&state_constraint);
        let mirrored = gradient.iter().chain(&nonholonomic).chain(&stabilizer).chain(with_internal_states());
        let transposed = mirrored.map(|&(row, column)| (column, row));
        let diagonal = (0..sizes.len()).map(|group| (group, group));
        let blocks = (force
            .iter()
            .chain(&gradient)
            .chain(&nonholonomic)
            .chain(&reaction)
            .chain(&nonholonomic_reaction))
        .chain(&stabilizer)
        .chain(with_internal_states())
        .copied()
        .chain(transposed)
        .chain(crossed)
        .chain(diagonal)
        .chain(extra);
        let dropped =
            couplings.force_node.blocks().filter(|(block, ..)| couplings.force_node.is_dropped(*block));
        let dropped = dropped.map(|(_, row, column)| (row, column));
        let pattern = BlockPattern::new(&sizes, &sizes, blocks).with_dropped(dropped);
        let place = |&(row, column): &(usize, usize)| {
            pattern.find(row, column).expect("every block was put into the pattern")
        };
        let places =
            |pair: &(usize, usize)| GradientPlace { row: place(pair), column: place(&(pair.1, pair.0)) };
        Self {
            force: force.iter().map(place).collect(),
            holonomic: Constraints {
                first_group: node_count,
                sizes: shape.constraints.clone(),
                copies: copies.constraints,
                gradient: gradient.iter().map(places).collect(),
                reaction: reaction.iter().map(place).collect(),
            },
            nonholonomic: Constraints {
                first_group: first_nonholonomic,
                sizes: shape.nonholonomic.clone(),
                copies: copies.nonholonomic,
                gradient: nonholonomic.iter().map(places).collect(),
                reaction: nonholonomic_reaction.iter().map(place).collect(),
            },
            stabilizers: Constraints {
                first_group: first_stabilizer,
                sizes: stabilizer_sizes,
                copies: 1,
                gradient: stabilizer.iter().map(places).collect(),
                reaction: Vec::new(),
            },
            internal_states: States {
                first_group: first_state,
                groups: shape.internal_states.clone(),
                force: force_state.iter().map(place).collect(),
                node: state_node.iter().map(place).collect(),
                state: state_state.iter().map(place).collect(),
                constraint: state_constraint.iter().map(place).collect(),
            },
            node_copies: copies.nodes,
            node_sizes,
            roles,
            pattern: Arc::new(pattern),
        }
    }

    fn constraints(&self, kind: RowKind) -> &Constraints {
        match kind {
            RowKind::Holonomic => &self.holonomic,
            RowKind::Nonholonomic => &self.nonholonomic,
            RowKind::Stabilizer => &self.stabilizers,
        }
    }

    /// Group of a constraint group.
    pub fn constraint_group(&self, kind: RowKind, index: usize) -> usize {
        self.constraints(kind).first_group + index
    }

    /// First unknown of copy `which` of each constraint group, with the group's size.
    pub fn multiplier_starts(
        &self,
        kind: RowKind,
        which: usize,
    ) -> impl Iterator<Item = (usize, usize)> + '_ {
        let constraints = self.constraints(kind);
        (constraints.sizes.iter().enumerate()).map(move |(index, &size)| {
            (self.pattern.row_range(constraints.first_group + index).start + which * size, size)
        })
    }

    /// How many unknowns each velocity coordinate has.
    pub fn node_copies(&self) -> usize {
        self.node_copies
    }

    /// First unknown of copy `which` of each node, with the node's size.
    pub fn node_starts(&self, which: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (self.node_sizes.iter().enumerate())
            .map(move |(node, &size)| (self.pattern.row_range(node).start + which * size, size))
    }

    /// Copies multipliers `which` out of a vector of unknowns.
    pub fn gather(&self, kind: RowKind, which: usize, unknowns: &[f64], out: &mut [f64]) {
        gather(self.multiplier_starts(kind, which), unknowns, out);
    }

    /// Writes one value per constraint into the rows `which` of a vector of equations.
    pub fn scatter(&self, kind: RowKind, which: usize, values: &[f64], out: &mut [f64]) {
        scatter(self.multiplier_starts(kind, which), values, out);
    }

    /// Copies the unknowns `which` of the nodes out of a vector of unknowns.
    pub fn gather_nodes(&self, which: usize, unknowns: &[f64], out: &mut [f64]) {
        gather(self.node_starts(which), unknowns, out);
    }

    /// Writes one value per velocity coordinate into the rows `which` of the nodes.
    pub fn scatter_nodes(&self, which: usize, values: &[f64], out: &mut [f64]) {
        scatter(self.node_starts(which), values, out);
    }

    /// Meaning of a row; unknowns and equations are numbered alike.
    pub fn equation(&self, row: usize) -> Equation {
        let mut first = 0;
        for (start, size) in self.node_starts(0) {
            if row < start + self.node_copies * size {
                return Equation::Equilibrium(first + (row - start) % size.max(1));
            }
            first += size;
        }
        first = 0;
        for (start, size) in self.multiplier_starts(RowKind::Holonomic, 0) {
            if row < start + size {
                return Equation::Constraint(first + row - start);
            }
            if row < start + self.holonomic.copies * size {
                return Equation::ConstraintRate(first + row - start - size);
            }
            first += size;
        }
        first = 0;
        for (start, size) in self.multiplier_starts(RowKind::Nonholonomic, 0) {
            if row < start + self.nonholonomic.copies * size {
                return Equation::Nonholonomic(first + (row - start) % size.max(1));
            }
            first += size;
        }
        first = 0;
        for (start, size) in self.multiplier_starts(RowKind::Stabilizer, 0) {
            if row < start + size {
                return Equation::ConstraintRate(first + row - start);
            }
            first += size;
        }
        Equation::State(row.saturating_sub(self.first_state()))
    }

    /// Whether a row belongs to the second copy of a node's unknowns.
    pub fn is_second_of_node(&self, row: usize) -> bool {
        self.node_copies > 1 && self.node_starts(1).any(|(start, size)| (start..start + size).contains(&row))
    }

    /// First unknown of the states; the others follow to the end.
    pub fn first_state(&self) -> usize {
        let internal_states = &self.internal_states;
        let size: usize = internal_states.groups.iter().map(|group| group.size).sum();
        self.pattern.row_count() - size
    }

    /// Adds the derivatives of forces by states to the rows `row` of the nodes.
    pub fn add_state_forces(
        &self,
        matrix: &BlockMatrix,
        factor: f64,
        scaling: &StateScaling,
        row: usize,
        out: &mut BlockMatrix,
    ) {
        let pattern = Arc::clone(matrix.pattern());
        for ((block, _, group), &place) in pattern.blocks().zip(&self.internal_states.force) {
            let source = view(matrix, block);
            let unknown = scaling.unknown[kind_of(self.internal_states.groups[group].algebraic)];
            let target = self.part_of(out, place, source, CopyIndex::new(row, 0), self.node_copies);
            add(target, factor * scaling.force * unknown, source);
        }
    }

    /// Adds derivatives of rates by the motion of nodes (times T) to the columns `column` of the nodes.
    pub fn add_state_nodes(
        &self,
        matrix: &BlockMatrix,
        operators: Option<&TangentOperators>,
        factor: f64,
        scaling: &StateScaling,
        column: usize,
        out: &mut BlockMatrix,
    ) {
        let pattern = Arc::clone(matrix.pattern());
        for ((block, group, node), &place) in pattern.blocks().zip(&self.internal_states.node) {
            let source = view(matrix, block);
            let rate = scaling.rate[kind_of(self.internal_states.groups[group].algebraic)];
            let target = self.part_of(out, place, source, CopyIndex::new(0, column), 1);
            add_times(operators, node, target, factor * rate, source);
        }
    }

    /// Adds the derivatives of the states' equations by states and by λ: what is left are those by the motion
    /// of nodes.
    pub fn add_states(&self, tangent: &Tangent, scaling: &StateScaling, out: &mut BlockMatrix) {
        let States { first_group, groups, state, constraint, .. } = &self.internal_states;
        for (index, _) in groups.iter().enumerate().filter(|(_, group)| !group.algebraic) {
            let group = first_group + index;
            if let Some(block) = self.pattern.find(group, group) {
                let mut view = out.block_mut(block);
                for i in 0..view.nrows() {
                    view[(i, i)] += scaling.inertia;
                }
            }
        }
        let rate = |group: usize| scaling.rate[kind_of(groups[group].algebraic)];
        let pattern = Arc::clone(tangent.state_state.pattern());
        for ((block, row, column), &place) in pattern.blocks().zip(state) {
            let source = view(&tangent.state_state, block);
            let unknown = scaling.unknown[kind_of(groups[column].algebraic)];
            add(self.part_of(out, place, source, CopyIndex::FIRST, 1), rate(row) * unknown, source);
        }
        let pattern = Arc::clone(tangent.state_reaction.pattern());
        for ((block, row, _), &place) in pattern.blocks().zip(constraint) {
            let source = view(&tangent.state_reaction, block);
            add(
                self.part_of(out, place, source, CopyIndex::FIRST, 1),
                rate(row) * scaling.multiplier,
                source,
            );
        }
    }

    /// Gives every state's unknown an equation of its own, by which it vanishes.
    pub fn hold_states(&self, algebraic: bool, out: &mut BlockMatrix) {
        let States { first_group, groups, .. } = &self.internal_states;
        for (index, _) in groups.iter().enumerate().filter(|(_, group)| algebraic || !group.algebraic) {
            let group = first_group + index;
            if let Some(block) = self.pattern.find(group, group) {
                out.block_mut(block).fill_diagonal(1.0);
            }
        }
    }

    /// Groups of the states: the first, and whether each is algebraic.
    pub fn state_groups(&self) -> (usize, &[StateGroup]) {
        (self.internal_states.first_group, &self.internal_states.groups)
    }

    /// Adds `factor · matrix` (times T) to the node blocks.
    pub fn add_nodes(
        &self,
        matrix: &BlockMatrix,
        operators: Option<&TangentOperators>,
        factor: f64,
        part: CopyIndex,
        out: &mut BlockMatrix,
    ) {
        let pattern = Arc::clone(matrix.pattern());
        for ((block, _, node), &place) in pattern.blocks().zip(&self.force) {
            let source = view(matrix, block);
            let target = self.part_of(out, place, source, part, self.node_copies);
            add_times(operators, node, target, factor, source);
        }
    }

    /// Adds `factor` times T, or times the identity, to the diagonal blocks of the nodes.
    pub fn add_diagonal(
        &self,
        operators: Option<&TangentOperators>,
        factor: f64,
        part: CopyIndex,
        out: &mut BlockMatrix,
    ) {
        for (node, &size) in self.node_sizes.iter().enumerate() {
            let Some(block) = self.pattern.find(node, node) else { continue };
            let mut view = out.block_mut(block);
            for column in 0..size {
                for row in 0..size {
                    let value = match operators {
                        Some(operators) => operators.entry(node, row, column),
                        None => f64::from(u8::from(row == column)),
                    };
                    view[(part.row * size + row, part.column * size + column)] += factor * value;
                }
            }
        }
    }

    /// Adds `factor · (dynamic + stiffness T)` to the node blocks.
    pub fn add_forces(
        &self,
        tangent: &Tangent,
        operators: Option<&TangentOperators>,
        factor: f64,
        out: &mut BlockMatrix,
    ) {
        self.add_nodes(&tangent.dynamic, None, factor, CopyIndex::FIRST, out);
        if operators.is_some() {
            self.add_nodes(&tangent.stiffness, operators, factor, CopyIndex::FIRST, out);
        }
    }

    /// Places of the blocks nodes × nodes.
    pub fn force_places(&self) -> &[BlockId] {
        &self.force
    }

    /// Places of the blocks of B.
    pub fn gradient_places(&self) -> &[GradientPlace] {
        &self.holonomic.gradient
    }

    /// Adds `factor · matrix` (times T) to the rows of constraints.
    pub fn add_rows(
        &self,
        kind: RowKind,
        matrix: &BlockMatrix,
        operators: Option<&TangentOperators>,
        factor: f64,
        part: CopyIndex,
        out: &mut BlockMatrix,
    ) {
        let constraints = self.constraints(kind);
        let pattern = Arc::clone(matrix.pattern());
        for ((block, _, node), place) in pattern.blocks().zip(&constraints.gradient) {
            let source = view(matrix, block);
            let target = self.part_of(out, place.row, source, part, constraints.copies);
            add_times(operators, node, target, factor, source);
        }
    }

    /// Adds `factor ·` Bᵀ to the columns of multipliers.
    pub fn add_transposed_rows(
        &self,
        kind: RowKind,
        gradient: &BlockMatrix,
        factor: f64,
        part: CopyIndex,
        out: &mut BlockMatrix,
    ) {
        let pattern = Arc::clone(gradient.pattern());
        for ((block, _, _), place) in pattern.blocks().zip(&self.constraints(kind).gradient) {
            let source = view(gradient, block);
            let columns = pattern.shape_of(block).1;
            let stride = self.node_copies * columns;
            let first = part.row * columns + part.column * source.rows * stride;
            let values = from(place_values(out, place.column), first);
            add_transposed(BlockTarget { values, stride: stride.max(1) }, factor, source);
        }
    }

    /// Adds `factor ·` Bᵀ (or ∂r/∂λ) to the columns of multipliers.
    pub fn add_columns(
        &self,
        kind: RowKind,
        shape: &Shape,
        tangent: &Tangent,
        factor: f64,
        part: CopyIndex,
        out: &mut BlockMatrix,
    ) {
        let constraints = self.constraints(kind);
        let (gradient, reaction) = match kind {
            RowKind::Holonomic | RowKind::Stabilizer => (&tangent.gradient, &tangent.reaction),
            RowKind::Nonholonomic => (&tangent.nonholonomic, &tangent.nonholonomic_reaction),
        };
        if shape.reactions == Reactions::Gradient {
            return self.add_transposed_rows(kind, gradient, factor, part, out);
        }
        let pattern = Arc::clone(reaction.pattern());
        for ((block, _, _), &place) in pattern.blocks().zip(&constraints.reaction) {
            let source = view(reaction, block);
            add(self.part_of(out, place, source, part, self.node_copies), factor, source);
        }
    }

    /// Adds B T to the rows and Bᵀ (or ∂r/∂λ) to the columns of λ.
    pub fn add_gradient(
        &self,
        shape: &Shape,
        tangent: &Tangent,
        operators: Option<&TangentOperators>,
        out: &mut BlockMatrix,
    ) {
        self.add_rows(RowKind::Holonomic, &tangent.gradient, operators, 1.0, CopyIndex::FIRST, out);
        self.add_columns(RowKind::Holonomic, shape, tangent, 1.0, CopyIndex::FIRST, out);
    }

    /// Adds A to the rows and Aᵀ (or ∂r/∂ψ) to the columns of ψ.
    pub fn add_nonholonomic(&self, shape: &Shape, tangent: &Tangent, out: &mut BlockMatrix) {
        self.add_rows(RowKind::Nonholonomic, &tangent.nonholonomic, None, 1.0, CopyIndex::FIRST, out);
        self.add_columns(RowKind::Nonholonomic, shape, tangent, 1.0, CopyIndex::FIRST, out);
    }

    /// Subtracts a compliance from the diagonal between rows and columns of each constraint.
    pub fn subtract_compliance(
        &self,
        kind: RowKind,
        compliance: &[f64],
        part: CopyIndex,
        out: &mut BlockMatrix,
    ) {
        let constraints = self.constraints(kind);
        let mut first = 0;
        for (index, &size) in constraints.sizes.iter().enumerate() {
            let group = constraints.first_group + index;
            let Some(block) = self.pattern.find(group, group) else { continue };
            let mut view = out.block_mut(block);
            for (i, value) in compliance[first..first + size].iter().enumerate() {
                view[(part.row * size + i, part.column * size + i)] -= value;
            }
            first += size;
        }
    }

    /// Subtracts a compliance between the constraints and their stabilizers: η gives way in the rows of λ, λ
    /// in those of η.
    pub fn subtract_crossed_compliance(&self, compliance: &[f64], out: &mut BlockMatrix) {
        let mut first = 0;
        for (index, &size) in self.stabilizers.sizes.iter().enumerate() {
            let groups = [self.holonomic.first_group + index, self.stabilizers.first_group + index];
            for [row, column] in [groups, [groups[1], groups[0]]] {
                let Some(block) = self.pattern.find(row, column) else { continue };
                let mut view = out.block_mut(block);
                for (i, value) in compliance[first..first + size].iter().enumerate() {
                    view[(i, i)] -= value;
                }
            }
            first += size;
        }
    }

    /// The part of a place that a block of this size goes to; row groups hold `row_copies`.
    fn part_of<'a>(
        &self,
        out: &'a mut BlockMatrix,
        place: BlockId,
        source: DenseBlock,
        part: CopyIndex,
        row_copies: usize,
    ) -> BlockTarget<'a> {
        let stride = row_copies * source.rows;
        let columns = source.values.len() / source.rows.max(1);
        let first = part.row * source.rows + part.column * columns * stride;
        BlockTarget { values: from(place_values(out, place), first), stride: stride.max(1) }
    }
}

/// Values from an entry on; none beyond the end.
fn from(values: &mut [f64], first: usize) -> &mut [f64] {
    let first = first.min(values.len());
    &mut values[first..]
}

fn gather(starts: impl Iterator<Item = (usize, usize)>, unknowns: &[f64], out: &mut [f64]) {
    let mut first = 0;
    for (start, size) in starts {
        out[first..first + size].copy_from_slice(&unknowns[start..start + size]);
        first += size;
    }
}

fn scatter(starts: impl Iterator<Item = (usize, usize)>, values: &[f64], out: &mut [f64]) {
    let mut first = 0;
    for (start, size) in starts {
        out[start..start + size].copy_from_slice(&values[first..first + size]);
        first += size;
    }
}

fn add_times(
    operators: Option<&TangentOperators>,
    node: usize,
    target: BlockTarget,
    factor: f64,
    source: DenseBlock,
) {
    match operators {
        _ if source.rows == 0 => {}
        Some(operators) => operators.add_product(node, target, factor, source),
        None => add(target, factor, source),
    }
}

/// One block of a matrix, to be read.
pub(crate) fn view(matrix: &BlockMatrix, block: BlockId) -> DenseBlock<'_> {
    let pattern = matrix.pattern();
    DenseBlock { values: &matrix.values()[pattern.value_range(block)], rows: pattern.shape_of(block).0 }
}

/// The values of one block, to be written.
pub(crate) fn place_values(matrix: &mut BlockMatrix, block: BlockId) -> &mut [f64] {
    let range = matrix.pattern().value_range(block);
    &mut matrix.values_mut()[range]
}
