//! Sizes against which coordinates are judged.

use crate::dae::Shape;
use crate::lie::Group;

/// Size against which each velocity coordinate is judged: 1 rad or a length.
pub(crate) fn coordinate_scales(shape: &Shape, length: f64) -> Vec<f64> {
    let mut scales = Vec::with_capacity(shape.velocity_count());
    for node in 0..shape.space.factor_count() {
        match shape.space.group(node) {
            Group::Vector(size) => scales.extend(std::iter::repeat_n(length, size)),
            Group::So3 => scales.extend([1.0; 3]),
            Group::So3xR3 | Group::Se3 => scales.extend([1.0, 1.0, 1.0, length, length, length]),
        }
    }
    scales
}
