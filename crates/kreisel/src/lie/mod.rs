//! Rotations and rigid motions: exp, log, tangent operator.
