//! Where a feature and a surface come closest, and how that changes.
//!
//! Everything is in axes of the surface's frame. With the displacement d and the rotation R of the feature's
//! frame a feature has a core point a, around which its radius r lies; the nearest point of the surface (of
//! its core, for a sphere or a capsule with radius r_s) is b. Then
//!
//! ```text
//! n = (a − b)/|a − b|,   g = |a − b| − r − r_s,   δn = (I − n nᵀ)(δa − δb)/|a − b|
//! ```
//!
//! and δg = n·δd + ((a − d) × n)·δθ with δR = δθ~ R: points that are nearest need not be followed for the gap
//! itself.

use nalgebra::SMatrix;

use super::shape::{Feature, Surface};
use crate::kinematics::Relative;
use crate::lie::{Matrix3, Vector3, skew};

/// Derivatives of a vector by displacement and rotation (d, θ) of the feature's frame.
pub(super) type ByPose = SMatrix<f64, 3, 6>;

/// Nearest points of a feature and a surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearestPoints {
    /// g, negative where they overlap.
    pub gap: f64,
    /// n: unit normal from the surface to the feature.
    pub normal: Vector3,
    /// a: core point of the feature.
    pub core: Vector3,
    /// Radius r around the core point.
    pub radius: f64,
    /// Derivative of n.
    pub normal_by: ByPose,
    /// Derivative of a.
    pub core_by: ByPose,
}

/// The nearest point b on a surface's core, with its derivative; or the normal where the point lies inside.
enum Nearest {
    /// b, its derivative by a, and the radius around it.
    Outside { point: Vector3, by_core: Matrix3, radius: f64 },
    /// Signed distance, normal and derivative of the normal by a.
    Inside { distance: f64, normal: Vector3, by_core: Matrix3 },
}

/// How sharp the edge of a cylinder is: sine of the tilt at which it has come to touch near its rim.
///
/// A disc that lies flat touches everywhere at once. Its support function ρ |n_⊥| is taken as ρ (√(|n_⊥|² +
/// ε²) − ε)/(√(1 + ε²) − ε), that of a convex body of the same radius whose end is domed by about ρ ε: flat
/// enough to stand on, and smooth.
const EDGE_TILT: f64 = 5e-3;

/// The nearest points at a relative pose; nothing where they are not defined (centres in one place).
pub(super) fn nearest_points(
    feature: &Feature,
    surface: &Surface,
    relative: &Relative,
) -> Option<NearestPoints> {
    let (d, rotation) = (&relative.displacement, &relative.rotation);
    match *feature {
        Feature::Point { at, radius } => {
            let arm = rotation * at;
            let core = d + arm;
            let core_by = by_pose(&Matrix3::identity(), &-skew(&arm));
            nearest_to_point(core, core_by, radius, surface)
        }
        Feature::Edge { height, radius } => Some(nearest_to_edge(d, rotation, height, radius)),
        Feature::Axis { half_length, radius } => match *surface {
            Surface::Capsule { radius: other, half_length: other_half } => {
                nearest_of_axes(d, rotation, [half_length, radius], [other_half, other])
            }
            _ => nearest_to_barrel(d, rotation, [half_length, radius], surface),
        },
    }
}

fn by_pose(by_displacement: &Matrix3, by_rotation: &Matrix3) -> ByPose {
    let mut out = ByPose::zeros();
    out.fixed_view_mut::<3, 3>(0, 0).copy_from(by_displacement);
    out.fixed_view_mut::<3, 3>(0, 3).copy_from(by_rotation);
    out
}

fn nearest_to_point(core: Vector3, core_by: ByPose, radius: f64, surface: &Surface) -> Option<NearestPoints> {
    let (distance, normal, normal_by_core) = facing(&core, surface)?;
    let (gap, normal_by) = (distance - radius, normal_by_core * core_by);
    Some(NearestPoints { gap, normal, core, radius, normal_by, core_by })
}

/// Signed distance of a point from a surface, the normal, and its derivative by the point.
fn facing(core: &Vector3, surface: &Surface) -> Option<(f64, Vector3, Matrix3)> {
    match nearest(core, surface) {
        Nearest::Inside { distance, normal, by_core } => Some((distance, normal, by_core)),
        Nearest::Outside { point, by_core, radius } => {
            let (distance, normal, across) = direction(&(core - point))?;
            Some((distance - radius, normal, across * (Matrix3::identity() - by_core)))
        }
    }
}

/// Length and direction of a vector, and the derivative of the direction; none if it vanishes.
fn direction(offset: &Vector3) -> Option<(f64, Vector3, Matrix3)> {
    let distance = offset.norm();
    if distance == 0.0 {
        return None;
    }
    let normal = offset / distance;
    Some((distance, normal, (Matrix3::identity() - normal * normal.transpose()) / distance))
}

fn nearest(core: &Vector3, surface: &Surface) -> Nearest {
    match *surface {
        Surface::Plane => {
            Nearest::Inside { distance: core.z, normal: Vector3::z(), by_core: Matrix3::zeros() }
        }
        Surface::Sphere { radius } => {
            Nearest::Outside { point: Vector3::zeros(), by_core: Matrix3::zeros(), radius }
        }
        Surface::Capsule { radius, half_length } => {
            let on_axis = core.z.clamp(-half_length, half_length);
            let mut by_core = Matrix3::zeros();
            by_core[(2, 2)] = f64::from(on_axis == core.z);
            Nearest::Outside { point: Vector3::new(0.0, 0.0, on_axis), by_core, radius }
        }
        Surface::Box { half_size } => nearest_on_box(core, &half_size),
        Surface::Cylinder { radius, half_length } => nearest_on_cylinder(core, radius, half_length),
    }
}

fn nearest_on_box(core: &Vector3, half_size: &Vector3) -> Nearest {
    let point = Vector3::from_fn(|axis, _| core[axis].clamp(-half_size[axis], half_size[axis]));
    if point != *core {
        let by_core = Matrix3::from_fn(|i, j| f64::from(i == j && point[i] == core[i]));
        return Nearest::Outside { point, by_core, radius: 0.0 };
    }
    let depth = |axis: usize| half_size[axis] - core[axis].abs();
    let axis = (1..3).fold(0, |best, axis| if depth(axis) < depth(best) { axis } else { best });
    let normal = Vector3::ith(axis, if core[axis] < 0.0 { -1.0 } else { 1.0 });
    Nearest::Inside { distance: -depth(axis), normal, by_core: Matrix3::zeros() }
}

fn nearest_on_cylinder(core: &Vector3, radius: f64, half_length: f64) -> Nearest {
    let distance = core.x.hypot(core.y);
    let outward =
        if distance > 0.0 { Vector3::new(core.x / distance, core.y / distance, 0.0) } else { Vector3::x() };
    let around = Vector3::new(-outward.y, outward.x, 0.0);
    let turning = if distance > 0.0 { around * around.transpose() / distance } else { Matrix3::zeros() };
    let height = core.z.clamp(-half_length, half_length);
    let (beside, beyond) = (distance > radius, height != core.z);
    if beside || beyond {
        let along = if beyond { 0.0 } else { 1.0 };
        let axial = Matrix3::from_diagonal(&Vector3::new(0.0, 0.0, along));
        let (point, by_core) = if beside {
            (radius * outward + Vector3::new(0.0, 0.0, height), radius * turning + axial)
        } else {
            let flat = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 0.0));
            (Vector3::new(core.x, core.y, height), flat + axial)
        };
        return Nearest::Outside { point, by_core, radius: 0.0 };
    }
    let (side, end) = (radius - distance, half_length - core.z.abs());
    if side < end {
        Nearest::Inside { distance: -side, normal: outward, by_core: turning }
    } else {
        let normal = Vector3::ith(2, if core.z < 0.0 { -1.0 } else { 1.0 });
        Nearest::Inside { distance: -end, normal, by_core: Matrix3::zeros() }
    }
}

/// The lowest point of a cylinder's end over a plane: with the axis u and w = n − (n·u) u the point is d + h
/// u − ρ' ((w + ε² n)/√(|w|² + ε²) − ε n), the gradient of the support function, with ρ' = ρ/(√(1 + ε²) − ε).
fn nearest_to_edge(d: &Vector3, rotation: &Matrix3, height: f64, radius: f64) -> NearestPoints {
    let (n, axis): (Vector3, Vector3) = (Vector3::z(), rotation.column(2).into());
    let radius = radius / (1.0_f64.hypot(EDGE_TILT) - EDGE_TILT);
    let slant = n.dot(&axis);
    let across = n - slant * axis;
    let root = (across.norm_squared() + EDGE_TILT * EDGE_TILT).sqrt();
    let direction = across + EDGE_TILT * EDGE_TILT * n;
    let core = d + height * axis - radius * (direction / root - EDGE_TILT * n);
    let axis_by = -skew(&axis);
    let across_by = -axis * (n.transpose() * axis_by) - slant * axis_by;
    let root_by = across.transpose() * across_by / root;
    let by_rotation = height * axis_by - radius * (across_by / root - direction * root_by / (root * root));
    NearestPoints {
        gap: core.z,
        normal: n,
        core,
        radius: 0.0,
        normal_by: ByPose::zeros(),
        core_by: by_pose(&Matrix3::identity(), &by_rotation),
    }
}

/// Slope of a capsule's side at its ends, against boxes and cylinders.
///
/// A capsule that lies on a flat side touches along a line. Its radius is taken as r − κ s²/2 at the distance
/// s from its middle, with κ = slope/half its length: a barrel, convex and so hardly bulged that it lies, and
/// smooth as it rocks.
const BARREL_SLOPE: f64 = 5e-3;

/// Halvings after which the nearest point of an axis is known to all digits.
const HALVINGS: usize = 56;

/// Nearest point d + s u of a capsule's axis: |d + s u − b| + κ s²/2 is least where n·u + κ s = 0, which
/// grows with s.
fn nearest_to_barrel(
    d: &Vector3,
    rotation: &Matrix3,
    [half, radius]: [f64; 2],
    surface: &Surface,
) -> Option<NearestPoints> {
    let u: Vector3 = rotation.column(2).into();
    let bulge = if half > 0.0 { BARREL_SLOPE / half } else { 0.0 };
    let slope = |s: f64| facing(&(d + s * u), surface).map(|(_, n, _)| n.dot(&u) + bulge * s);
    let s = if slope(-half)? >= 0.0 {
        -half
    } else if slope(half)? <= 0.0 {
        half
    } else {
        let (mut low, mut high) = (-half, half);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if slope(middle)? < 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    };
    let place = d + s * u;
    let (distance, normal, normal_by_place) = facing(&place, surface)?;
    let u_by = by_pose(&Matrix3::zeros(), &-skew(&u));
    let still_by = by_pose(&Matrix3::identity(), &Matrix3::zeros()) + s * u_by;
    let s_by = if s.abs() < half {
        let steepness = (u.transpose() * normal_by_place * u)[0] + bulge;
        -(u.transpose() * normal_by_place * still_by + normal.transpose() * u_by) / steepness
    } else {
        SMatrix::<f64, 1, 6>::zeros()
    };
    let place_by = still_by + u * s_by;
    let normal_by = normal_by_place * place_by;
    let lack = 0.5 * bulge * s * s;
    Some(NearestPoints {
        gap: distance + lack - radius,
        normal,
        // The sphere of radius r whose surface is that of the barrel.
        core: place + lack * normal,
        radius,
        normal_by,
        core_by: place_by + bulge * s * normal * s_by + lack * normal_by,
    })
}

/// 1 − cos² of the angle between axes below which they count as parallel. The quotient by it has lost ten of
/// sixteen digits there.
const PARALLEL: f64 = 1e-10;

/// Nearest points of two capsules' axes: d + s u on the feature's and t e_z on the surface's.
fn nearest_of_axes(
    d: &Vector3,
    rotation: &Matrix3,
    [half, radius]: [f64; 2],
    [other_half, other]: [f64; 2],
) -> Option<NearestPoints> {
    let (u, e): (Vector3, Vector3) = (rotation.column(2).into(), Vector3::z());
    let u_by = by_pose(&Matrix3::zeros(), &-skew(&u));
    let d_by = by_pose(&Matrix3::identity(), &Matrix3::zeros());
    let (along_u, along_e, cosine) = (d.dot(&u), d.z, u.z);
    let sine = 1.0 - cosine * cosine;
    let clamped = |value: f64, bound: f64| value.clamp(-bound, bound);
    // Parallel axes touch along a line: its middle stands for it.
    let free = if sine > PARALLEL {
        (cosine * along_e - along_u) / sine
    } else {
        -along_u * other_half.min(half) / (other_half + half).max(f64::MIN_POSITIVE)
    };
    let mut s = clamped(free, half);
    let t = clamped(along_e + s * cosine, other_half);
    s = clamped(t * cosine - along_u, half);
    let (s_free, t_free) = (s.abs() < half, t.abs() < other_half);
    let along_u_by = u.transpose() * d_by + d.transpose() * u_by;
    let along_e_by = e.transpose() * d_by;
    let cosine_by = e.transpose() * u_by;
    let zero = SMatrix::<f64, 1, 6>::zeros();
    let (s_by, t_by) = match (s_free, t_free) {
        (true, true) if sine > PARALLEL => {
            let numerator_by = cosine * along_e_by + along_e * cosine_by - along_u_by;
            let s_by = (numerator_by + 2.0 * s * cosine * cosine_by) / sine;
            (s_by, along_e_by + s * cosine_by + cosine * s_by)
        }
        (true, _) => (t * cosine_by - along_u_by, zero),
        (false, true) => (zero, along_e_by + s * cosine_by),
        (false, false) => (zero, zero),
    };
    let (core, point) = (d + s * u, t * e);
    let core_by = d_by + s * u_by + u * s_by;
    let (distance, normal, across) = direction(&(core - point))?;
    let normal_by = across * (core_by - e * t_by);
    Some(NearestPoints { gap: distance - radius - other, normal, core, radius, normal_by, core_by })
}
