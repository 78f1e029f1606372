//! Tangent operators of the nodes, and how a system multiplies its derivatives by them.

use std::ops::Range;

use crate::lie::{Group, Matrix3, Matrix6, Space};
use crate::solve::block::{BlockId, BlockMatrix};
use crate::solve::kernel::{BlockTarget, DenseBlock, add, add_product};

/// Form of a node's tangent operator.
#[derive(Clone, Copy, Debug)]
enum OperatorForm {
    /// R^k: the identity.
    Identity,
    /// SO(3)×R³: [A 0; 0 1] with A of SO(3).
    Rotation,
    /// SE(3): [A 0; C A].
    Motion,
    /// Any matrix.
    Full,
}

impl OperatorForm {
    /// Leading columns that are stored, of those that an operator of this size has: large machines pass by
    /// all of them.
    fn stored(self, size: usize) -> usize {
        match self {
            Self::Identity => 0,
            Self::Rotation | Self::Motion => 3,
            Self::Full => size,
        }
    }
}

/// Tangent operators T(h Δq) of all nodes [ArnoldCardonaBruls2015, Eq. (30)], or their inverses.
#[derive(Clone, Debug)]
pub(crate) struct TangentOperators {
    nodes: Vec<Operator>,
    values: Vec<f64>,
    /// Whether they are T⁻¹.
    pub inverse: bool,
}

/// Where the operator of a node is stored.
#[derive(Clone, Copy, Debug)]
struct Operator {
    form: OperatorForm,
    start: usize,
    size: usize,
}

impl Operator {
    /// Where its columns are stored.
    #[inline(always)]
    fn range(&self) -> Range<usize> {
        self.start..self.start + self.form.stored(self.size) * self.size
    }
}

impl TangentOperators {
    pub fn new(space: &Space) -> Self {
        Self::with_form_of_motions(space, OperatorForm::Motion)
    }

    /// Operators to which any matrix can be added.
    pub fn general(space: &Space) -> Self {
        Self::with_form_of_motions(space, OperatorForm::Full)
    }

    fn with_form_of_motions(space: &Space, of_motions: OperatorForm) -> Self {
        let mut total = 0;
        let operator = |node| {
            let group = space.group(node);
            let form = match group {
                Group::Vector(_) => OperatorForm::Identity,
                Group::So3xR3 => OperatorForm::Rotation,
                Group::So3 => OperatorForm::Full,
                Group::Se3 => of_motions,
            };
            let (start, size) = (total, group.dimension());
            total += form.stored(size) * size;
            Operator { form, start, size }
        };
        let nodes = (0..space.factor_count()).map(operator).collect();
        Self { nodes, values: vec![0.0; total], inverse: false }
    }

    /// Evaluates the operators at an increment.
    pub fn evaluate(&mut self, space: &Space, increment: &[f64]) {
        self.inverse = false;
        for (node, operator) in self.nodes.iter().enumerate() {
            if !matches!(operator.form, OperatorForm::Identity) {
                let out = &mut self.values[operator.range()];
                space.tangent_operator(node, &increment[space.velocity_range(node)], out);
            }
        }
    }

    /// Evaluates the inverses of the operators at an increment; false if one does not exist.
    pub fn evaluate_inverse(&mut self, space: &Space, increment: &[f64]) -> bool {
        self.inverse = self.nodes.iter().enumerate().all(|(node, operator)| {
            if matches!(operator.form, OperatorForm::Identity) {
                return true;
            }
            let out = &mut self.values[operator.range()];
            space.inverse_tangent_operator(node, &increment[space.velocity_range(node)], out).is_ok()
        });
        self.inverse
    }

    /// Multiplies the parts of the nodes by their operators, and hands out the products with their places.
    #[inline]
    pub fn for_each_product(&self, values: &[f64], mut take: impl FnMut(usize, &[f64])) {
        let mut end = 0;
        for operator in &self.nodes {
            let first = end;
            end += operator.size;
            let part = &values[first..end];
            if matches!(operator.form, OperatorForm::Identity) {
                take(first, part);
                continue;
            }
            let mut product = [0.0; 6];
            let columns = &self.values[operator.range()];
            for (column, factor) in columns.chunks_exact(operator.size).zip(part) {
                product.iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value);
            }
            match (operator.form, part) {
                (OperatorForm::Motion, &[_, _, _, x, y, z]) => {
                    for (column, factor) in columns.chunks_exact(6).zip([x, y, z]) {
                        product[3..].iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value);
                    }
                }
                (OperatorForm::Rotation, &[_, _, _, ref position @ ..]) => {
                    product[3..].iter_mut().zip(position).for_each(|(out, value)| *out = *value);
                }
                _ => {}
            }
            take(first, &product[..operator.size]);
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

    /// Adds `factor` times a matrix, column by column, to the operator of a node that turns; general
    /// operators only.
    pub fn add(&mut self, node: usize, factor: f64, matrix: &[f64]) {
        let values = &mut self.values[self.nodes[node].range()];
        values.iter_mut().zip(matrix).for_each(|(value, entry)| *value += factor * entry);
    }

    /// One entry of the operator of a node.
    pub fn entry(&self, node: usize, row: usize, column: usize) -> f64 {
        let Operator { form, start, size } = self.nodes[node];
        if column < form.stored(size) {
            return self.values[start + column * size + row];
        }
        match form {
            OperatorForm::Motion if row < 3 => 0.0,
            OperatorForm::Motion => self.values[start + (column - 3) * size + row - 3],
            OperatorForm::Identity | OperatorForm::Rotation | OperatorForm::Full => {
                f64::from(u8::from(row == column))
            }
        }
    }

    /// `target += factor · a T` with the operator of a node.
    pub fn add_product(&self, node: usize, target: BlockTarget, factor: f64, a: DenseBlock) {
        let operator = &self.nodes[node];
        let stored = DenseBlock { values: &self.values[operator.range()], rows: operator.size };
        match operator.form {
            OperatorForm::Identity => add(target, factor, a),
            OperatorForm::Full => add_product(target, factor, a, stored),
            // Columns of six, of which three rows count where what is multiplied by them has three columns.
            OperatorForm::Rotation => {
                let ([rotation, position], [of_rotation, of_position]) = halves(target, a);
                add_product(rotation, factor, of_rotation, stored);
                add(position, factor, of_position);
            }
            OperatorForm::Motion => {
                let ([rotation, position], [_, of_position]) = halves(target, a);
                add_product(rotation, factor, a, stored);
                add_product(position, factor, of_position, stored);
            }
        }
    }

    /// `a` T with the operator of a node with six coordinates, column by column.
    #[inline]
    fn product(&self, node: usize, a: &Matrix6) -> [[f64; 6]; 6] {
        let Operator { form, start, .. } = self.nodes[node];
        let (columns, _) = self.values.get(start..).unwrap_or_default().as_chunks::<6>();
        let mut product = a.data.0;
        match (form, columns) {
            (OperatorForm::Motion, [t0, t1, t2, ..]) => {
                product[..3].copy_from_slice(&[t0, t1, t2].map(|column| combine::<0, 6>(a, column)));
                product[3..].copy_from_slice(&[t0, t1, t2].map(|column| combine::<3, 6>(a, column)));
            }
            (OperatorForm::Full, [t0, t1, t2, t3, t4, t5, ..]) => {
                product = [t0, t1, t2, t3, t4, t5].map(|column| combine::<0, 6>(a, column));
            }
            (OperatorForm::Rotation, [t0, t1, t2, ..]) => {
                product[..3].copy_from_slice(&[t0, t1, t2].map(|column| combine::<0, 3>(a, column)));
            }
            _ => {}
        }
        product
    }

    /// Column `index` of `a` T with the operator of a node, in the leading columns of the node's dimension.
    #[inline]
    fn column_of_product(&self, node: usize, a: &Matrix6, index: usize) -> [f64; 6] {
        let operator = &self.nodes[node];
        let (rows, stored) = match (operator.form, index < 3) {
            (OperatorForm::Full, _) => (0..operator.size, index),
            (OperatorForm::Motion, true) => (0..6, index),
            (OperatorForm::Motion, false) => (3..6, index - 3),
            (OperatorForm::Rotation, true) => (0..3, index),
            _ => return a.data.0[index],
        };
        let factors = &self.values[operator.range()][stored * operator.size..];
        let mut sum = [0.0; 6];
        for (column, factor) in a.data.0[rows].iter().zip(factors) {
            sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value);
        }
        sum
    }
}

/// Places of a block of B in an iteration matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GradientPlace {
    /// Of B, constraint × node.
    pub row: BlockId,
    /// Of Bᵀ, node × constraint.
    pub column: BlockId,
}

/// An iteration matrix to which a system adds all derivatives of forces at once: `factor (dynamic + stiffness
/// T)` by increments x of the nodes, or `factor (dynamic T⁻¹ + stiffness)` by displacements y = T x of the
/// moved nodes.
///
/// Joints have no dynamic part: by y they need no product.
#[derive(Debug)]
pub(crate) struct Merged<'a> {
    /// The matrix: nodes come first, then joints. It holds another one; the system clears it.
    pub matrix: &'a mut BlockMatrix,
    /// Place of each block nodes × nodes in it.
    pub places: &'a [BlockId],
    /// Places of the blocks of B, which is then written there at once.
    pub rows: Option<&'a [GradientPlace]>,
    /// T of all nodes, or T⁻¹ for derivatives by y.
    pub operators: &'a TangentOperators,
    /// A factor of all.
    pub factor: f64,
}

/// Where derivatives of forces by the motion of nodes go.
#[derive(Debug)]
pub(crate) enum ForceMatrix<'a> {
    /// To two matrices: those by velocities and accelerations, if they are wanted, and those by the
    /// configuration.
    Apart { dynamic: Option<&'a mut BlockMatrix>, stiffness: &'a mut BlockMatrix },
    /// To one; those by velocities and accelerations also by themselves, if they are wanted so.
    Merged { dynamic: Option<&'a mut BlockMatrix>, all: Merged<'a> },
}

impl ForceMatrix<'_> {
    /// Adds derivatives of a node's forces by the coordinates of another one, the column's.
    #[inline]
    pub fn add(
        &mut self,
        block: BlockId,
        column: usize,
        dynamic: Option<&Matrix6>,
        stiffness: Option<&Matrix6>,
    ) {
        let (Self::Apart { dynamic: alone, .. } | Self::Merged { dynamic: alone, .. }) = self;
        if let (Some(matrix), Some(values)) = (alone, dynamic) {
            add_block(matrix, block, values);
        }
        match self {
            Self::Apart { stiffness: matrix, .. } => {
                if let Some(values) = stiffness {
                    add_block(matrix, block, values);
                }
            }
            Self::Merged { all, .. } => all.add(block, column, dynamic, stiffness),
        }
    }

    /// Clears columns of a matrix that holds another one.
    pub fn clear(&mut self, columns: Range<usize>) {
        if let Self::Merged { all, .. } = self {
            all.matrix.clear_columns(columns);
        }
    }
}

impl Merged<'_> {
    #[inline]
    fn add(&mut self, block: BlockId, column: usize, dynamic: Option<&Matrix6>, stiffness: Option<&Matrix6>) {
        let Self { operators, factor, .. } = *self;
        // What is added as it is, and what is multiplied by the operators before.
        let (plain, multiplied) = if operators.inverse { (stiffness, dynamic) } else { (dynamic, stiffness) };
        let place = self.places[block.index()];
        if let Some(target) = self.matrix.block_values_mut(place).as_mut_array::<36>() {
            // Known sizes make a few vector operations of the loops.
            if let Some(plain) = plain {
                let values = plain.data.0.as_flattened();
                target.iter_mut().zip(values).for_each(|(target, value)| *target += factor * value);
            }
            if let Some(multiplied) = multiplied {
                let product = operators.product(column, multiplied);
                let values = product.as_flattened();
                target.iter_mut().zip(values).for_each(|(target, value)| *target += factor * value);
            }
            return;
        }
        let rows = self.matrix.pattern().shape_of(place).0;
        let columns = self.matrix.block_values_mut(place).chunks_exact_mut(rows.max(1));
        for (index, target) in columns.enumerate() {
            let mut sum = plain.map_or([0.0; 6], |plain| plain.data.0[index]);
            if let Some(multiplied) = multiplied {
                let product = operators.column_of_product(column, multiplied, index);
                sum.iter_mut().zip(product).for_each(|(sum, value)| *sum += value);
            }
            target.iter_mut().zip(sum).for_each(|(target, value)| *target += factor * value);
        }
    }
}

/// Adds the leading part of a matrix to a block, which is smaller for nodes with fewer coordinates.
fn add_block(matrix: &mut BlockMatrix, block: BlockId, values: &Matrix6) {
    if let Some(target) = matrix.block_values_mut(block).as_mut_array::<36>() {
        target.iter_mut().zip(values.as_slice()).for_each(|(target, value)| *target += value);
        return;
    }
    let (rows, _) = matrix.pattern().shape_of(block);
    let target = matrix.block_values_mut(block);
    for (target, column) in target.chunks_exact_mut(rows.max(1)).zip(values.column_iter()) {
        target.iter_mut().zip(column.iter()).for_each(|(target, value)| *target += value);
    }
}

/// The columns of rotations and those of positions, of a product and of its first factor.
#[inline(always)]
fn halves<'t, 'a>(target: BlockTarget<'t>, a: DenseBlock<'a>) -> ([BlockTarget<'t>; 2], [DenseBlock<'a>; 2]) {
    let (stride, rows) = (target.stride, a.rows);
    let (rotation, position) = target.values.split_at_mut(3 * stride);
    let (of_rotation, of_position) = a.values.split_at(3 * rows);
    (
        [rotation, position].map(|values| BlockTarget { values, stride }),
        [of_rotation, of_position].map(|values| DenseBlock { values, rows }),
    )
}

/// Sum of the columns `FROM` to `TO` of a matrix with the first factors.
#[inline(always)]
fn combine<const FROM: usize, const TO: usize>(matrix: &Matrix6, factors: &[f64; 6]) -> [f64; 6] {
    let mut sum = [0.0; 6];
    for (column, factor) in matrix.data.0[FROM..TO].iter().zip(factors) {
        sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lie::Vector6;

    const GROUPS: [Group; 4] = [Group::Se3, Group::So3xR3, Group::So3, Group::Vector(2)];
    const INCREMENT: [f64; 17] =
        [0.4, -0.3, 0.8, 0.2, 0.5, -0.7, -0.1, 0.6, 0.3, 1.0, -2.0, 0.4, 0.7, -0.2, 0.1, 0.3, 0.9];

    /// The whole matrix of a node, column by column.
    fn whole(space: &Space, node: usize, inverse: bool) -> Vec<f64> {
        let (size, x) = (space.group(node).dimension(), &INCREMENT[space.velocity_range(node)]);
        let mut out = vec![0.0; size * size];
        if inverse {
            space.inverse_tangent_operator(node, x, &mut out).unwrap();
        } else {
            space.tangent_operator(node, x, &mut out);
        }
        out
    }

    /// Operators of every form that a space can have, with their whole matrices.
    fn each(check: impl Fn(&Space, &TangentOperators, &dyn Fn(usize) -> Vec<f64>)) {
        let space = Space::new(GROUPS);
        for mut operators in [TangentOperators::new(&space), TangentOperators::general(&space)] {
            operators.evaluate(&space, &INCREMENT);
            check(&space, &operators, &|node| whole(&space, node, false));
            assert!(operators.evaluate_inverse(&space, &INCREMENT));
            check(&space, &operators, &|node| whole(&space, node, true));
        }
    }

    #[test]
    fn stored_columns_stand_for_the_whole_matrix() {
        each(|space, operators, whole| {
            for node in 0..space.factor_count() {
                let size = space.group(node).dimension();
                for (place, value) in whole(node).into_iter().enumerate() {
                    assert_eq!(operators.entry(node, place % size, place / size), value, "{node} {place}");
                }
            }
        });
    }

    #[test]
    fn products_with_vectors_are_those_of_the_whole_matrix() {
        let values: Vec<f64> = (1..18).map(|i| f64::from(i).sqrt()).collect();
        each(|space, operators, whole| {
            let mut seen = 0;
            operators.for_each_product(&values, |first, product| {
                let node =
                    (0..space.factor_count()).find(|&n| space.velocity_range(n).start == first).unwrap();
                let (matrix, part) = (whole(node), &values[space.velocity_range(node)]);
                for (row, value) in product.iter().enumerate() {
                    let terms = part.iter().enumerate().map(|(k, x)| matrix[k * part.len() + row] * x);
                    // Sums of six products of size one.
                    assert!((value - terms.sum::<f64>()).abs() < 1e-14, "{node} {row}");
                }
                seen += product.len();
            });
            assert_eq!(seen, values.len());
        });
    }

    #[test]
    fn products_with_blocks_are_those_of_the_whole_matrix() {
        let a = Matrix6::from_fn(|row, column| (1.0 + row as f64).powf(0.3 * column as f64));
        each(|space, operators, whole| {
            for node in 0..space.factor_count() {
                let (size, matrix) = (space.group(node).dimension(), whole(node));
                let mut target = vec![0.0; 6 * size];
                let block = DenseBlock { values: &a.as_slice()[..6 * size], rows: 6 };
                operators.add_product(node, BlockTarget { values: &mut target, stride: 6 }, 1.0, block);
                for index in 0..size {
                    let mut expected = Vector6::zeros();
                    for k in 0..size {
                        expected += matrix[index * size + k] * a.column(k);
                    }
                    let added = Vector6::from_column_slice(&target[6 * index..6 * index + 6]);
                    let column = Vector6::from(operators.column_of_product(node, &a, index));
                    let of_six = (size == 6).then(|| Vector6::from(operators.product(node, &a)[index]));
                    for found in [Some(added), Some(column), of_six].into_iter().flatten() {
                        // Sums of six products, each with a few roundings.
                        assert!(
                            (found - expected).amax() < 1e-13 * expected.amax().max(1.0),
                            "{node} {index}"
                        );
                    }
                }
            }
        });
    }
}
