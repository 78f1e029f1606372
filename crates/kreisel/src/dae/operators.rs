//! Tangent operators of the nodes, and how a system multiplies its derivatives by them.

use crate::lie::{Group, Matrix3, Matrix6, Space};
use crate::solve::block::BlockId;
use crate::solve::kernel::{Block, Target, add, add_product};

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
#[derive(Clone, Debug, Default)]
pub(crate) struct TangentOperators {
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

    /// Adds `factor` times a matrix, column by column, to the operator of a node that turns.
    pub fn add(&mut self, node: usize, factor: f64, matrix: &[f64]) {
        let Operator { form, start, size } = self.nodes[node];
        if !matches!(form, Form::Identity) {
            let values = &mut self.values[start..start + size * size];
            values.iter_mut().zip(matrix).for_each(|(value, entry)| *value += factor * entry);
        }
    }

    /// One entry of the operator of a node.
    pub fn entry(&self, node: usize, row: usize, column: usize) -> f64 {
        let Operator { form, start, size } = self.nodes[node];
        match form {
            Form::Identity => f64::from(u8::from(row == column)),
            Form::Rotation | Form::Full => self.values[start + column * size + row],
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
    /// `a` T with the operator of a node, in the leading columns of the node's dimension.
    #[inline]
    pub fn times(&self, node: usize, a: &Matrix6) -> Matrix6 {
        let Operator { form, start, size } = self.nodes[node];
        let mut out = *a;
        if matches!(form, Form::Identity) {
            return out;
        }
        // Only SE(3) has more than the rotation: [A 0; C A], with translations behind rotations.
        let rows = if matches!(form, Form::Full) { size } else { 3 };
        let columns = self.values[start..start + rows * size].chunks_exact(size);
        for (index, (out, factors)) in out.data.0.iter_mut().zip(columns).enumerate() {
            let first = if index < 3 { 0 } else { 3 };
            let mut sum = [0.0; 6];
            for (column, factor) in a.data.0[first..rows].iter().zip(&factors[first..rows]) {
                sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value);
            }
            *out = sum;
        }
        out
    }
}

/// Where a system adds all derivatives of forces at once: `factor (dynamic + stiffness T)`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fold {
    /// Place of each block nodes × nodes in [`super::Tangent::dynamic`], which is the iteration matrix then.
    pub places: Vec<BlockId>,
    /// T of all nodes.
    pub operators: TangentOperators,
    /// A factor of all.
    pub factor: f64,
}
