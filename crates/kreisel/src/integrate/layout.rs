//! Which unknown of a Newton matrix is which, and where the blocks of a [`Tangent`] go in it.
//!
//! Groups in order: nodes, holonomic constraints, nonholonomic constraints. A method that carries two
//! multipliers per constraint (λ and η) has constraint groups of twice the size, λ first.

use std::sync::Arc;

use crate::dae::{Couplings, Equation, Reactions, Shape, Tangent};
use crate::lie::{Group, Matrix3, Space};
use crate::solve::block::{BlockId, BlockMatrix, BlockPattern};
use crate::solve::kernel::{Block, Target, add, add_product, add_transposed};
use crate::solve::linear::Role;

/// The two places of a constraint's gradient: its rows (constraint × node) and its columns (node × constraint).
#[derive(Clone, Copy, Debug)]
pub(super) struct GradientPlace {
    pub row: BlockId,
    pub column: BlockId,
}

/// Pattern of a Newton matrix and the places of the tangent's blocks in it.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub pattern: Arc<BlockPattern>,
    pub roles: Vec<Role>,
    /// Multipliers carried per constraint: 1 or 2.
    multiplicity: usize,
    constraints: Vec<usize>,
    slips: Vec<usize>,
    node_count: usize,
    /// Place of each block of `Couplings::force_node`.
    pub force: Vec<BlockId>,
    /// Places of each block of `Couplings::constraint_node`.
    pub gradient: Vec<GradientPlace>,
    /// Place of each block of `Couplings::force_constraint`.
    reaction: Vec<BlockId>,
    /// Places of each block of `Couplings::slip_node`.
    slip: Vec<GradientPlace>,
    /// Place of each block of `Couplings::force_slip`.
    slip_reaction: Vec<BlockId>,
}

impl Layout {
    /// Layout with `multiplicity` multipliers per constraint; `extra` names further blocks, by group.
    pub fn new(
        shape: &Shape,
        couplings: &Couplings,
        multiplicity: usize,
        extra: impl IntoIterator<Item = (usize, usize)>,
    ) -> Self {
        let mut sizes = shape.node_sizes();
        let node_count = sizes.len();
        let first_slip = node_count + shape.constraints.len();
        sizes.extend(shape.constraints.iter().map(|m| multiplicity * m));
        sizes.extend(&shape.slips);
        let mut roles = vec![Role::Primary; node_count];
        roles.resize(sizes.len(), Role::Multiplier);

        let of = |pattern: &BlockPattern, rows: usize, columns: usize| -> Vec<(usize, usize)> {
            pattern.blocks().map(|(_, row, column)| (row + rows, column + columns)).collect()
        };
        let force = of(&couplings.force_node, 0, 0);
        let gradient = of(&couplings.constraint_node, node_count, 0);
        let slip = of(&couplings.slip_node, first_slip, 0);
        let reaction = of(&couplings.force_constraint, 0, node_count);
        let slip_reaction = of(&couplings.force_slip, 0, first_slip);
        let transposed = gradient.iter().chain(&slip).map(|&(row, column)| (column, row));
        let diagonal = (0..sizes.len()).map(|group| (group, group));
        let blocks = (force.iter().chain(&gradient).chain(&slip).chain(&reaction).chain(&slip_reaction))
            .copied()
            .chain(transposed)
            .chain(diagonal)
            .chain(extra);
        let pattern = BlockPattern::new(&sizes, &sizes, blocks);
        let place = |&(row, column): &(usize, usize)| {
            pattern.find(row, column).expect("every block was put into the pattern")
        };
        let places =
            |pair: &(usize, usize)| GradientPlace { row: place(pair), column: place(&(pair.1, pair.0)) };
        Self {
            force: force.iter().map(place).collect(),
            gradient: gradient.iter().map(places).collect(),
            reaction: reaction.iter().map(place).collect(),
            slip: slip.iter().map(places).collect(),
            slip_reaction: slip_reaction.iter().map(place).collect(),
            multiplicity,
            constraints: shape.constraints.clone(),
            slips: shape.slips.clone(),
            node_count,
            roles,
            pattern: Arc::new(pattern),
        }
    }

    /// Group of a constraint group.
    pub fn constraint_group(&self, index: usize) -> usize {
        self.node_count + index
    }

    /// First unknown of the multipliers `which` (0: λ, 1: η) of each constraint group, with the group's size.
    pub fn multiplier_starts(&self, which: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.constraints.iter().enumerate().map(move |(index, &size)| {
            (self.pattern.row_range(self.constraint_group(index)).start + which * size, size)
        })
    }

    /// First unknown of the nonholonomic multipliers, which are contiguous.
    pub fn slip_start(&self) -> usize {
        self.pattern.row_count() - self.slips.iter().sum::<usize>()
    }

    /// Copies multipliers `which` out of a vector of unknowns, or in.
    pub fn gather(&self, which: usize, unknowns: &[f64], out: &mut [f64]) {
        let mut first = 0;
        for (start, size) in self.multiplier_starts(which) {
            out[first..first + size].copy_from_slice(&unknowns[start..start + size]);
            first += size;
        }
    }

    /// Writes one value per constraint into the rows `which` of a vector of equations.
    pub fn scatter(&self, which: usize, values: &[f64], out: &mut [f64]) {
        let mut first = 0;
        for (start, size) in self.multiplier_starts(which) {
            out[start..start + size].copy_from_slice(&values[first..first + size]);
            first += size;
        }
    }

    /// Meaning of a row; unknowns and equations are numbered alike.
    pub fn equation(&self, row: usize) -> Equation {
        let velocity_count = self.pattern.row_range(self.node_count.saturating_sub(1)).end;
        if self.node_count > 0 && row < velocity_count {
            return Equation::Equilibrium(row);
        }
        if row >= self.slip_start() {
            return Equation::Slip(row - self.slip_start());
        }
        let mut first = 0;
        for (start, size) in self.multiplier_starts(0) {
            if row < start + size {
                return Equation::Constraint(first + row - start);
            }
            if row < start + self.multiplicity * size {
                return Equation::ConstraintRate(first + row - start - size);
            }
            first += size;
        }
        Equation::Constraint(first)
    }

    /// Adds `factor · (dynamic + stiffness T)` to the node blocks.
    pub fn add_forces(
        &self,
        tangent: &Tangent,
        operators: Option<&TangentOperators>,
        factor: f64,
        out: &mut BlockMatrix,
    ) {
        let pattern = Arc::clone(tangent.dynamic.pattern());
        for ((block, _, column), &place) in pattern.blocks().zip(&self.force) {
            let rows = pattern.shape_of(block).0;
            let range = pattern.value_range(block);
            let dynamic = Block { values: &tangent.dynamic.values()[range.clone()], rows };
            let values = place_values(out, place);
            add(Target { values, stride: rows.max(1) }, factor, dynamic);
            let Some(operators) = operators else { continue };
            let stiffness = Block { values: &tangent.stiffness.values()[range], rows };
            let values = place_values(out, place);
            operators.add_product(column, Target { values, stride: rows.max(1) }, factor, stiffness);
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
        let pattern = Arc::clone(tangent.gradient.pattern());
        for ((block, _, node), place) in pattern.blocks().zip(&self.gradient) {
            let (rows, columns) = pattern.shape_of(block);
            let values = &tangent.gradient.values()[pattern.value_range(block)];
            let stride = self.multiplicity * rows;
            let target = Target { values: place_values(out, place.row), stride: stride.max(1) };
            match operators {
                Some(operators) => operators.add_product(node, target, 1.0, Block { values, rows }),
                None => add(target, 1.0, Block { values, rows }),
            }
            if shape.reactions == Reactions::Gradient {
                let target = Target { values: place_values(out, place.column), stride: columns.max(1) };
                add_transposed(target, 1.0, Block { values, rows });
            }
        }
        add_blocks(&tangent.reaction, &self.reaction, out);
    }

    /// Subtracts a compliance from the diagonal between rows `row` and columns `column` (0: λ, 1: η) of each constraint.
    pub fn subtract_compliance(&self, compliance: &[f64], row: usize, column: usize, out: &mut BlockMatrix) {
        let mut first = 0;
        for (index, &size) in self.constraints.iter().enumerate() {
            let group = self.constraint_group(index);
            let Some(block) = self.pattern.find(group, group) else { continue };
            let mut view = out.block_mut(block);
            for (i, value) in compliance[first..first + size].iter().enumerate() {
                view[(row * size + i, column * size + i)] -= value;
            }
            first += size;
        }
    }

    /// Adds A to the rows and Aᵀ (or ∂r/∂ψ) to the columns of ψ.
    pub fn add_slip(&self, shape: &Shape, tangent: &Tangent, out: &mut BlockMatrix) {
        let pattern = Arc::clone(tangent.slip.pattern());
        for ((block, _, _), place) in pattern.blocks().zip(&self.slip) {
            let (rows, columns) = pattern.shape_of(block);
            let values = &tangent.slip.values()[pattern.value_range(block)];
            add(
                Target { values: place_values(out, place.row), stride: rows.max(1) },
                1.0,
                Block { values, rows },
            );
            if shape.reactions == Reactions::Gradient {
                let target = Target { values: place_values(out, place.column), stride: columns.max(1) };
                add_transposed(target, 1.0, Block { values, rows });
            }
        }
        add_blocks(&tangent.slip_reaction, &self.slip_reaction, out);
    }
}

fn add_blocks(from: &BlockMatrix, places: &[BlockId], out: &mut BlockMatrix) {
    let pattern = Arc::clone(from.pattern());
    for ((block, _, _), &place) in pattern.blocks().zip(places) {
        let rows = pattern.shape_of(block).0;
        let values = &from.values()[pattern.value_range(block)];
        add(Target { values: place_values(out, place), stride: rows.max(1) }, 1.0, Block { values, rows });
    }
}

/// The values of one block, to be written.
pub(super) fn place_values(matrix: &mut BlockMatrix, block: BlockId) -> &mut [f64] {
    let range = matrix.pattern().value_range(block);
    &mut matrix.values_mut()[range]
}

/// Form of a node's tangent operator.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// R^k: the identity.
    Identity,
    /// SO(3)×R³: that of SO(3), and the identity for the position.
    Rotation,
    /// Any matrix.
    Full,
}

/// Tangent operators T(h Δq) of all nodes [ArnoldCardonaBruls2015, Eq. (30)].
#[derive(Clone, Debug)]
pub(super) struct TangentOperators {
    nodes: Vec<Operator>,
    values: Vec<f64>,
}

/// Where the operator of a node is stored.
#[derive(Clone, Copy, Debug)]
struct Operator {
    form: Form,
    start: usize,
    size: usize,
}

impl TangentOperators {
    pub fn new(space: &Space) -> Self {
        let mut total = 0;
        let operator = |node| {
            let group = space.group(node);
            let form = match group {
                Group::Vector(_) => Form::Identity,
                Group::So3xR3 => Form::Rotation,
                Group::So3 | Group::Se3 => Form::Full,
            };
            let (start, size) = (total, group.dimension());
            if !matches!(form, Form::Identity) {
                total += size * size;
            }
            Operator { form, start, size }
        };
        let nodes = (0..space.factor_count()).map(operator).collect();
        Self { nodes, values: vec![0.0; total] }
    }

    /// Evaluates the operators at an increment.
    pub fn evaluate(&mut self, space: &Space, increment: &[f64]) {
        for (node, &Operator { form, start, size }) in self.nodes.iter().enumerate() {
            if !matches!(form, Form::Identity) {
                let out = &mut self.values[start..start + size * size];
                space.tangent_operator(node, &increment[space.velocity_range(node)], out);
            }
        }
    }

    /// Sets the rotational part of the operator of a node on SO(3) or SO(3)×R³.
    pub fn set_rotation(&mut self, node: usize, rotation: &Matrix3) {
        let Operator { start, size, .. } = self.nodes[node];
        let columns = self.values[start..start + 3 * size].chunks_exact_mut(size);
        for (values, column) in columns.zip(rotation.column_iter()) {
            values[..3].copy_from_slice(column.as_slice());
        }
    }

    /// `target += factor · a T` with the operator of a node.
    pub fn add_product(&self, node: usize, target: Target, factor: f64, a: Block) {
        let Operator { form, start, size } = self.nodes[node];
        match form {
            Form::Identity => add(target, factor, a),
            Form::Full => {
                let operator = Block { values: &self.values[start..start + size * size], rows: size };
                add_product(target, factor, a, operator);
            }
            Form::Rotation => {
                let (rotation, position) = target.values.split_at_mut(3 * target.stride);
                let (of_rotation, of_position) = a.values.split_at(3 * a.rows);
                // Columns of six of which three rows count: `a` has three columns here.
                let operator = Block { values: &self.values[start..start + 3 * size], rows: size };
                let left = Block { values: of_rotation, rows: a.rows };
                add_product(Target { values: rotation, stride: target.stride }, factor, left, operator);
                let right = Block { values: of_position, rows: a.rows };
                add(Target { values: position, stride: target.stride }, factor, right);
            }
        }
    }
}
