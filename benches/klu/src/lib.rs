//! The sparse LU of SuiteSparse's KLU, as a reference for measurements; only with the feature `klu`.

#![cfg(feature = "klu")]

use std::ffi::{c_double, c_int};

/// Storage of KLU's settings and statistics, which are not looked at here: more than the structure of any
/// version takes.
#[repr(C, align(16))]
struct Common([u8; 1024]);

/// KLU's analysis of a pattern.
#[repr(C)]
struct Symbolic {
    _private: [u8; 0],
}

/// KLU's factors.
#[repr(C)]
struct Numeric {
    _private: [u8; 0],
}

#[link(name = "klu")]
unsafe extern "C" {
    fn klu_defaults(common: *mut Common) -> c_int;
    fn klu_analyze(n: c_int, starts: *mut c_int, rows: *mut c_int, common: *mut Common) -> *mut Symbolic;
    fn klu_factor(
        starts: *mut c_int,
        rows: *mut c_int,
        values: *mut c_double,
        symbolic: *mut Symbolic,
        common: *mut Common,
    ) -> *mut Numeric;
    fn klu_refactor(
        starts: *mut c_int,
        rows: *mut c_int,
        values: *mut c_double,
        symbolic: *mut Symbolic,
        numeric: *mut Numeric,
        common: *mut Common,
    ) -> c_int;
    fn klu_solve(
        symbolic: *mut Symbolic,
        numeric: *mut Numeric,
        leading_dimension: c_int,
        count: c_int,
        right_sides: *mut c_double,
        common: *mut Common,
    ) -> c_int;
    fn klu_free_symbolic(symbolic: *mut *mut Symbolic, common: *mut Common) -> c_int;
    fn klu_free_numeric(numeric: *mut *mut Numeric, common: *mut Common) -> c_int;
}

/// A square matrix in compressed columns.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Where each column begins, and the end.
    pub starts: Vec<i32>,
    /// Rows of the entries, ascending in each column.
    pub rows: Vec<i32>,
    /// The entries.
    pub values: Vec<f64>,
}

impl Columns {
    fn size(&self) -> c_int {
        self.starts.len() as c_int - 1
    }
}

/// KLU with its default settings: AMD, partial pivoting with preference for the diagonal, pivots kept in
/// later factorisations.
pub struct Klu {
    matrix: Columns,
    common: Box<Common>,
    symbolic: *mut Symbolic,
    numeric: *mut Numeric,
}

impl Klu {
    /// Analyses and factors a matrix; nothing if it is singular.
    pub fn new(mut matrix: Columns) -> Option<Self> {
        let size = matrix.size();
        let valid = size >= 0
            && matrix.rows.len() == matrix.values.len()
            && matrix.starts.last() == Some(&(matrix.rows.len() as i32));
        if !valid {
            return None;
        }
        let mut common = Box::new(Common([0; 1024]));
        let (starts, rows, values) =
            (matrix.starts.as_mut_ptr(), matrix.rows.as_mut_ptr(), matrix.values.as_mut_ptr());
        // SAFETY: the arrays have the lengths that KLU reads (checked above), and KLU itself checks indices
        // and order; the results are null on failure and are then not used.
        let (symbolic, numeric) = unsafe {
            klu_defaults(&mut *common);
            let symbolic = klu_analyze(size, starts, rows, &mut *common);
            if symbolic.is_null() {
                return None;
            }
            (symbolic, klu_factor(starts, rows, values, symbolic, &mut *common))
        };
        let klu = Self { matrix, common, symbolic, numeric };
        (!numeric.is_null()).then_some(klu)
    }

    /// Factors the matrix again with the pivots of the first time; false if that failed.
    pub fn refactor(&mut self) -> bool {
        let Columns { starts, rows, values } = &mut self.matrix;
        // SAFETY: the arrays are those that were analysed, the pointers come from KLU and are not null.
        let done = unsafe {
            klu_refactor(
                starts.as_mut_ptr(),
                rows.as_mut_ptr(),
                values.as_mut_ptr(),
                self.symbolic,
                self.numeric,
                &mut *self.common,
            )
        };
        done == 1
    }

    /// Solves in place; false if that failed.
    pub fn solve(&mut self, right_side: &mut [f64]) -> bool {
        let size = self.matrix.size();
        if right_side.len() as c_int != size {
            return false;
        }
        // SAFETY: the right side has the length of the matrix, the pointers come from KLU and are not null.
        let done = unsafe {
            klu_solve(self.symbolic, self.numeric, size, 1, right_side.as_mut_ptr(), &mut *self.common)
        };
        done == 1
    }
}

impl Drop for Klu {
    fn drop(&mut self) {
        // SAFETY: KLU frees what it made; null pointers are passed over.
        unsafe {
            klu_free_numeric(&mut self.numeric, &mut *self.common);
            klu_free_symbolic(&mut self.symbolic, &mut *self.common);
        }
    }
}
