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

    /// Evaluates the inverses of the operators at an increment; false if one does not exist.
    pub fn evaluate_inverse(&mut self, space: &Space, increment: &[f64]) -> bool {
        self.nodes.iter().enumerate().all(|(node, &Operator { form, start, size })| {
            let out = match form {
                Form::Identity => return true,
                Form::Rotation | Form::Full => &mut self.values[start..start + size * size],
            };
            space.inverse_tangent_operator(node, &increment[space.velocity_range(node)], out).is_ok()
        })
    }

    /// Multiplies the parts of the nodes by their operators.
    pub fn multiply(&self, values: &mut [f64]) {
        let mut first = 0;
        for &Operator { form, start, size } in &self.nodes {
            let part = &mut values[first..first + size];
            first += size;
            if matches!(form, Form::Identity) {
                continue;
            }
            let mut product = [0.0; 6];
            for (column, factor) in self.values[start..].chunks_exact(size).zip(&*part) {
                product.iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value);
            }
            part.copy_from_slice(&product[..size]);
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

    /// `a` T with the operator of a node with six coordinates, column by column.
    #[inline]
    fn product(&self, node: usize, a: &Matrix6) -> [[f64; 6]; 6] {
        let Operator { form, start, .. } = self.nodes[node];
        let (columns, _) = self.values.get(start..).unwrap_or_default().as_chunks::<6>();
        let mut product = a.data.0;
        // Rotations stand before translations: [A 0; C A] on SE(3), [A 0; 0 1] on SO(3)×R³.
        match (form, columns) {
            (Form::Full, [t0, t1, t2, t3, t4, t5, ..]) => {
                product[..3].copy_from_slice(&[t0, t1, t2].map(|column| combine::<0, 6>(a, column)));
                product[3..].copy_from_slice(&[t3, t4, t5].map(|column| combine::<3, 6>(a, column)));
            }
            (Form::Rotation, [t0, t1, t2, ..]) => {
                product[..3].copy_from_slice(&[t0, t1, t2].map(|column| combine::<0, 3>(a, column)));
            }
            _ => {}
        }
        product
    }

    /// Column `index` of `a` T with the operator of a node, in the leading columns of the node's dimension.
    #[inline]
    fn column_of_product(&self, node: usize, a: &Matrix6, index: usize) -> [f64; 6] {
        let Operator { form, start, size } = self.nodes[node];
        // Rotations stand before translations, and only SE(3) has more than the rotation: [A 0; C A].
        let rows = match (form, index < 3) {
            (Form::Full, true) => 0..size,
            (Form::Full, false) if size == 6 => 3..6,
            (Form::Rotation, true) => 0..3,
            _ => return a.data.0[index],
        };
        let factors = &self.values[start + index * size..][rows.clone()];
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

/// Where a system adds all derivatives of forces at once: `factor (dynamic + stiffness T)` by increments x of the nodes, or
/// `factor (dynamic T⁻¹ + stiffness)` by displacements y = T x of the moved nodes.
///
/// Joints have no dynamic part: by y they need no product.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fold {
    /// Place of each block nodes × nodes in [`super::Tangent::stiffness`], which is the iteration matrix then: nodes come first, then
    /// joints. It holds another matrix; the system clears it.
    pub places: Vec<BlockId>,
    /// T of all nodes, or T⁻¹.
    pub operators: TangentOperators,
    /// Whether derivatives are by y.
    pub moved: bool,
    /// A factor of all.
    pub factor: f64,
    /// Places of the blocks of B, which is then written there at once; none if it is wanted in [`super::Tangent::gradient`] only.
    pub gradient: Vec<GradientPlace>,
    /// Whether the dynamic part and B are wanted by themselves as well, in [`super::Tangent::dynamic`] and
    /// [`super::Tangent::gradient`].
    pub parts_wanted: bool,
}

impl Fold {
    /// Adds derivatives of a node's forces by the coordinates of another one, the column's, to a block with these rows.
    #[inline]
    pub fn add(
        &self,
        column: usize,
        dynamic: Option<&Matrix6>,
        stiffness: Option<&Matrix6>,
        rows: usize,
        target: &mut [f64],
    ) {
        let (plain, multiplied) = self.plain_and_multiplied(dynamic, stiffness);
        for (index, target) in target.chunks_exact_mut(rows.max(1)).enumerate() {
            let mut sum = plain.map_or([0.0; 6], |plain| plain.data.0[index]);
            if let Some(multiplied) = multiplied {
                let product = self.operators.column_of_product(column, multiplied, index);
                sum.iter_mut().zip(product).for_each(|(sum, value)| *sum += value);
            }
            target.iter_mut().zip(sum).for_each(|(target, value)| *target += self.factor * value);
        }
    }

    /// The same for two nodes with six coordinates.
    #[inline]
    pub fn add_six(
        &self,
        column: usize,
        dynamic: Option<&Matrix6>,
        stiffness: Option<&Matrix6>,
        target: &mut [f64; 36],
    ) {
        let (plain, multiplied) = self.plain_and_multiplied(dynamic, stiffness);
        if let Some(plain) = plain {
            let values = plain.data.0.as_flattened();
            target.iter_mut().zip(values).for_each(|(target, value)| *target += self.factor * value);
        }
        if let Some(multiplied) = multiplied {
            let product = self.operators.product(column, multiplied);
            let values = product.as_flattened();
            target.iter_mut().zip(values).for_each(|(target, value)| *target += self.factor * value);
        }
    }

    /// What is added as it is, and what is multiplied by the operators before.
    #[inline]
    fn plain_and_multiplied<'a>(
        &self,
        dynamic: Option<&'a Matrix6>,
        stiffness: Option<&'a Matrix6>,
    ) -> (Option<&'a Matrix6>, Option<&'a Matrix6>) {
        if self.moved { (stiffness, dynamic) } else { (dynamic, stiffness) }
    }
}

/// Sum of the columns `FROM` to `TO` of a matrix with factors.
#[inline(always)]
fn combine<const FROM: usize, const TO: usize>(matrix: &Matrix6, factors: &[f64; 6]) -> [f64; 6] {
    let mut sum = [0.0; 6];
    for (column, factor) in matrix.data.0[FROM..TO].iter().zip(&factors[FROM..TO]) {
        sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value);
    }
    sum
}
