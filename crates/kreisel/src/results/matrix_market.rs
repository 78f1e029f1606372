//! Matrices as text that MATLAB, SciPy and Julia read: the Matrix Market exchange format
//! [BoisvertPozoRemington1996, NISTIR 5935].

use std::fmt::Write;

use nalgebra::DMatrix;

use crate::solve::block::BlockMatrix;

/// A sparse matrix by its entries; zeros are left out.
pub fn sparse(matrix: &BlockMatrix, comment: &str) -> String {
    let pattern = matrix.pattern();
    let mut entries = Vec::new();
    for (block, row, column) in pattern.blocks() {
        let (rows, columns) = (pattern.row_range(row), pattern.column_range(column));
        let view = matrix.block(block);
        for (j, column) in columns.enumerate() {
            for (i, row) in rows.clone().enumerate() {
                if view[(i, j)] != 0.0 {
                    entries.push((column, row, view[(i, j)]));
                }
            }
        }
    }
    entries.sort_by_key(|&(column, row, _)| (column, row));
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n% {comment}\n");
    let (rows, columns) = (pattern.row_count(), pattern.column_count());
    let _ = writeln!(text, "{rows} {columns} {}", entries.len());
    for (column, row, value) in entries {
        let _ = writeln!(text, "{} {} {value:e}", row + 1, column + 1);
    }
    text
}

/// A dense matrix, column by column.
pub fn dense(matrix: &DMatrix<f64>, comment: &str) -> String {
    let mut text = format!("%%MatrixMarket matrix array real general\n% {comment}\n");
    let _ = writeln!(text, "{} {}", matrix.nrows(), matrix.ncols());
    for value in matrix.iter() {
        let _ = writeln!(text, "{value:e}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::block::BlockPattern;
    use std::sync::Arc;

    #[test]
    fn entries_count_from_one_and_keep_every_bit() {
        let pattern = Arc::new(BlockPattern::new(&[1, 2], &[2], [(1, 0)]));
        let mut matrix = BlockMatrix::zeros(pattern);
        matrix.values_mut().copy_from_slice(&[0.1, 0.0, -2.5e-300, 4.0]);
        let text = sparse(&matrix, "a test");
        assert_eq!(
            text,
            "%%MatrixMarket matrix coordinate real general\n% a test\n3 2 3\n2 1 1e-1\n2 2 -2.5e-300\n3 2 4e0\n"
        );
        let text = dense(&DMatrix::from_row_slice(1, 2, &[1.0, 0.1]), "row");
        assert_eq!(text, "%%MatrixMarket matrix array real general\n% row\n1 2\n1e0\n1e-1\n");
    }
}
