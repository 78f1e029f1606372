//! Products of small dense blocks, stored column by column.

/// A dense block to be read: its values and its number of rows.
#[derive(Clone, Copy, Debug)]
pub struct DenseBlock<'a> {
    /// Values, column by column.
    pub values: &'a [f64],
    /// Number of rows.
    pub rows: usize,
}

/// A part of a dense block to be written: values from its first entry on, and the distance of columns.
#[derive(Debug)]
pub struct BlockTarget<'a> {
    /// Values from the part's first entry on.
    pub values: &'a mut [f64],
    /// Number of rows of the whole block.
    pub stride: usize,
}

fn add_scaled_column(target: &mut [f64], factor: f64, column: &[f64]) {
    // Six rows are those of bodies: with the length known the loop becomes a few vector operations.
    match (target.as_mut_array(), column.as_array()) {
        (Some(target), Some(column)) => add_scaled::<6>(target, factor, column),
        _ => target.iter_mut().zip(column).for_each(|(t, c)| *t += factor * c),
    }
}

#[inline]
fn add_scaled<const ROWS: usize>(target: &mut [f64; ROWS], factor: f64, column: &[f64; ROWS]) {
    target.iter_mut().zip(column).for_each(|(t, c)| *t += factor * c);
}

/// `target = a`.
pub fn copy(target: BlockTarget, a: DenseBlock) {
    match a.rows {
        0 => {}
        3 => copy_sized::<3>(target, a),
        5 => copy_sized::<5>(target, a),
        6 => copy_sized::<6>(target, a),
        rows => {
            for (target, column) in target.values.chunks_mut(target.stride).zip(a.values.chunks_exact(rows)) {
                target[..rows].copy_from_slice(column);
            }
        }
    }
}

/// [`copy`] for a number of rows known to the compiler.
fn copy_sized<const ROWS: usize>(target: BlockTarget, a: DenseBlock) {
    let (columns, _) = a.values.as_chunks::<ROWS>();
    for (target, column) in target.values.chunks_mut(target.stride).zip(columns) {
        let Some(target) = target.first_chunk_mut::<ROWS>() else { return };
        *target = *column;
    }
}

/// `target += factor · a`.
pub fn add(target: BlockTarget, factor: f64, a: DenseBlock) {
    match a.rows {
        0 => {}
        3 => add_sized::<3>(target, factor, a),
        5 => add_sized::<5>(target, factor, a),
        6 => add_sized::<6>(target, factor, a),
        rows => {
            for (target, column) in target.values.chunks_mut(target.stride).zip(a.values.chunks_exact(rows)) {
                add_scaled_column(&mut target[..rows], factor, column);
            }
        }
    }
}

/// [`add`] for a number of rows known to the compiler.
fn add_sized<const ROWS: usize>(target: BlockTarget, factor: f64, a: DenseBlock) {
    let (columns, _) = a.values.as_chunks::<ROWS>();
    for (target, column) in target.values.chunks_mut(target.stride).zip(columns) {
        let Some(target) = target.first_chunk_mut::<ROWS>() else { return };
        add_scaled(target, factor, column);
    }
}

/// `target += factor · aᵀ`.
pub fn add_transposed(target: BlockTarget, factor: f64, a: DenseBlock) {
    for (row, target) in target.values.chunks_mut(target.stride).take(a.rows).enumerate() {
        for (target, value) in target.iter_mut().zip(a.values[row..].iter().step_by(a.rows)) {
            *target += factor * value;
        }
    }
}

/// `target += factor · a b`, where `a` has as many columns as `b` rows; further rows of `b` do not count.
pub fn add_product(target: BlockTarget, factor: f64, a: DenseBlock, b: DenseBlock) {
    if a.rows == 0 || b.rows == 0 {
        return;
    }
    match a.rows {
        3 => return add_product_sized::<3>(target, factor, a, b),
        5 => return add_product_sized::<5>(target, factor, a, b),
        6 => return add_product_sized::<6>(target, factor, a, b),
        _ => {}
    }
    for (target, b_column) in target.values.chunks_mut(target.stride).zip(b.values.chunks_exact(b.rows)) {
        let target = &mut target[..a.rows];
        for (column, b) in a.values.chunks_exact(a.rows).zip(b_column) {
            if *b != 0.0 {
                add_scaled_column(target, factor * b, column);
            }
        }
    }
}

/// [`add_product`] for a number of rows known to the compiler: a column of the sum stays in registers.
fn add_product_sized<const ROWS: usize>(target: BlockTarget, factor: f64, a: DenseBlock, b: DenseBlock) {
    let (a_columns, _) = a.values.as_chunks::<ROWS>();
    for (target, b_column) in target.values.chunks_mut(target.stride).zip(b.values.chunks_exact(b.rows)) {
        let Some(target) = target.first_chunk_mut::<ROWS>() else { return };
        let mut sum = *target;
        for (column, b) in a_columns.iter().zip(b_column) {
            // Tangent operators are half zeros.
            if *b != 0.0 {
                add_scaled(&mut sum, factor * b, column);
            }
        }
        *target = sum;
    }
}

/// `target += factor · a bᵀ`, where `a` and `b` have the same number of columns.
pub fn add_product_transposed(target: BlockTarget, factor: f64, a: DenseBlock, b: DenseBlock) {
    if a.rows == 0 || b.rows == 0 {
        return;
    }
    match a.rows {
        3 => return add_product_transposed_sized::<3>(target, factor, a, b),
        5 => return add_product_transposed_sized::<5>(target, factor, a, b),
        6 => return add_product_transposed_sized::<6>(target, factor, a, b),
        _ => {}
    }
    for (a_column, b_column) in a.values.chunks_exact(a.rows).zip(b.values.chunks_exact(b.rows)) {
        for (target, b) in target.values.chunks_mut(target.stride).zip(b_column) {
            if *b != 0.0 {
                add_scaled_column(&mut target[..a.rows], factor * b, a_column);
            }
        }
    }
}

/// [`add_product_transposed`] for a number of rows known to the compiler.
fn add_product_transposed_sized<const ROWS: usize>(
    target: BlockTarget,
    factor: f64,
    a: DenseBlock,
    b: DenseBlock,
) {
    let (a_columns, _) = a.values.as_chunks::<ROWS>();
    for (row, target) in target.values.chunks_mut(target.stride).take(b.rows).enumerate() {
        let Some(target) = target.first_chunk_mut::<ROWS>() else { return };
        let mut sum = *target;
        for (column, b) in a_columns.iter().zip(b.values[row..].iter().step_by(b.rows)) {
            if *b != 0.0 {
                add_scaled(&mut sum, factor * b, column);
            }
        }
        *target = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    fn numbered(rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |i, j| (1 + i * 7 + j * 3) as f64 * 0.25 - 1.0)
    }

    #[test]
    fn every_product_is_that_of_the_dense_matrices() {
        for (m, n, k) in [(6, 6, 6), (5, 5, 6), (3, 6, 2), (1, 4, 3)] {
            let (a, b, bt) = (numbered(m, k), numbered(k, n), numbered(n, k));
            let block = |m: &DMatrix<f64>| (m.as_slice().to_vec(), m.nrows());
            let stride = m + 2;
            let check = |name: &str, expected: DMatrix<f64>, apply: &dyn Fn(BlockTarget)| {
                let (rows, columns) = expected.shape();
                let mut whole = numbered(stride.max(rows + 2), columns);
                let before = whole.clone();
                let stride = whole.nrows();
                apply(BlockTarget { values: &mut whole.as_mut_slice()[1..], stride });
                let part = whole.view((1, 0), (rows, columns)) - before.view((1, 0), (rows, columns));
                // Products are multiples of 1/16, of which hardly anything is rounded.
                assert!((part - expected).amax() < 1e-12, "{name} {m} {n} {k}");
            };
            let ((av, ar), (bv, br), (tv, tr)) = (block(&a), block(&b), block(&bt));
            let (ab, bb, tb) = (
                DenseBlock { values: &av, rows: ar },
                DenseBlock { values: &bv, rows: br },
                DenseBlock { values: &tv, rows: tr },
            );
            check("sum", 2.0 * &a, &|t| add(t, 2.0, ab));
            check("transposed sum", 2.0 * a.transpose(), &|t| add_transposed(t, 2.0, ab));
            check("product", 0.5 * &a * &b, &|t| add_product(t, 0.5, ab, bb));
            check("transposed product", 0.5 * &a * bt.transpose(), &|t| {
                add_product_transposed(t, 0.5, ab, tb)
            });
        }
    }
}
