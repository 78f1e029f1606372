//! Eigenvalues of small dense matrices.

use faer::Mat;
use nalgebra::{Complex, DMatrix, SymmetricEigen};

/// Eigenvalues and eigenvectors (as columns).
pub(super) type ComplexPairs = (Vec<Complex<f64>>, DMatrix<Complex<f64>>);

/// Eigenvalues and eigenvectors of any real matrix; `None` if the iteration fails.
pub(super) fn general(matrix: &DMatrix<f64>) -> Option<ComplexPairs> {
    let size = matrix.nrows();
    if size == 0 || matrix.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let copy = Mat::from_fn(size, size, |i, j| matrix[(i, j)]);
    let eigen = copy.eigen().ok()?;
    let (values, vectors) = (eigen.S(), eigen.U());
    let complex = |value: &faer::c64| Complex::new(value.re, value.im);
    let values = (0..size).map(|i| complex(&values.column_vector()[i])).collect();
    Some((values, DMatrix::from_fn(size, size, |i, j| complex(&vectors[(i, j)]))))
}

/// Eigenvalues, ascending, and orthonormal eigenvectors (as columns) of a symmetric matrix.
pub(super) fn symmetric(matrix: DMatrix<f64>) -> (Vec<f64>, DMatrix<f64>) {
    let eigen = SymmetricEigen::new(matrix);
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    let values = order.iter().map(|&i| eigen.eigenvalues[i]).collect();
    let columns: Vec<_> = order.iter().map(|&i| eigen.eigenvectors.column(i).into_owned()).collect();
    let vectors = if columns.is_empty() { DMatrix::zeros(0, 0) } else { DMatrix::from_columns(&columns) };
    (values, vectors)
}
