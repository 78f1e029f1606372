//! Numbers as model files write them: read back they are the same, to the last bit.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

/// A number in as few digits as name it.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        // Without the sign of a negative zero.
        "0".to_owned()
    } else if (1e-4..1e9).contains(&value.abs()) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// A vector, without what rounding left of zeros.
pub fn vector(value: &Vector3<f64>) -> String {
    let least = 1e-16 * value.amax().max(1.0);
    list(value.iter().map(|entry| if entry.abs() < least { 0.0 } else { *entry }))
}

/// An orientation of a part, w first.
pub fn orientation(rotation: &UnitQuaternion<f64>) -> String {
    let sign = if rotation.w < 0.0 { -1.0 } else { 1.0 };
    let entries = [rotation.w, rotation.i, rotation.j, rotation.k];
    let tidy = entries.map(|entry| if entry.abs() < 1e-16 { 0.0 } else { sign * entry });
    format!("{{ quaternion = {} }}", list(tidy))
}

/// Whether nothing is turned.
pub fn is_identity(rotation: &UnitQuaternion<f64>) -> bool {
    rotation.imag().amax() < 1e-16
}

/// xx, yy, zz, and the rest unless it is zero.
pub fn inertia(value: &Matrix3<f64>) -> String {
    // Below this is what rounding left of zeros.
    let least = 1e-15 * value.amax();
    let others = [value.m12, value.m13, value.m23].map(|entry| if entry.abs() < least { 0.0 } else { entry });
    let moments = [value.m11, value.m22, value.m33];
    if others == [0.0; 3] { list(moments) } else { list(moments.into_iter().chain(others)) }
}

/// Numbers in brackets.
pub fn list(values: impl IntoIterator<Item = f64>) -> String {
    format!("[{}]", values.into_iter().map(number).collect::<Vec<_>>().join(", "))
}
