//! Rotations as a model file may write them.
//!
//! One of these forms, as a table:
//! - `{ quaternion = [w, x, y, z] }`, scalar first, of length one;
//! - `{ axis = [x, y, z], angle = "30 deg" }`;
//! - `{ euler = ["10 deg", 0, "5 deg"], sequence = "zyx" }`: turns about the named axes, each of them
//!   carried along by the turns before it (intrinsic);
//! - `{ matrix = [[…], […], […]] }`: rows of the matrix that turns part axes into world axes;
//! - `{ z-axis = [x, y, z] }`, or `x-axis`, or `y-axis`: that axis of the part points there, and the part is turned
//!   the shortest way. With two of them the first in the order z, x, y points there, and the other one that
//!   way as nearly as it can.

use nalgebra::{Matrix3, Rotation3, Unit, UnitQuaternion, Vector3};

use super::error::{ModelError, ModelErrors};
use super::fields::{Field, Fields};
use super::kind::ORIENTATION_KEYS;
use super::name;
use super::quantity::Dimension;

/// How far a quaternion or matrix may be from a rotation: four digits are often copied from elsewhere,
/// and what is left is removed.
const TOLERANCE: f64 = 1e-3;

/// The keys of which exactly one chooses the form; axes of the part are one form together.
const FORMS: &[&str] = &["quaternion", "axis", "euler", "matrix", "z-axis", "x-axis", "y-axis"];

/// The axes of a part, the one that counts most first, with their places.
const AXES: [(&str, usize); 3] = [("z-axis", 2), ("x-axis", 0), ("y-axis", 1)];

/// Reads a rotation from part axes to world axes.
pub(crate) fn read(field: Field<'_>) -> Result<UnitQuaternion<f64>, ModelErrors> {
    let part = format!("the orientation `{}`", field.key);
    let fields = Fields { entries: field.table()?, context: field.context, part: &part };
    fields.check_keys(ORIENTATION_KEYS)?;
    let form = single_form(fields)?;
    let companions: &[&str] = match form {
        "axis" => &["angle"],
        "euler" => &["sequence"],
        "z-axis" => &["x-axis", "y-axis"],
        "x-axis" => &["y-axis"],
        _ => &[],
    };
    let has_effect = |key: &str| key == form || companions.contains(&key);
    if let Some(entry) = fields.entries.iter().find(|entry| !has_effect(&entry.key)) {
        return Err(fields.unused(entry).into());
    }
    let main = Field::new(fields.required(form)?, field.context);
    Ok(match form {
        "quaternion" => quaternion(main),
        "axis" => axis_angle(main, fields),
        "euler" => euler(main, fields),
        "matrix" => matrix(main),
        _ => axes_of_part(fields),
    }?)
}

fn single_form(fields: Fields<'_>) -> Result<&'static str, ModelError> {
    let given: Vec<&'static str> =
        FORMS.iter().copied().filter(|form| fields.optional(form).is_some()).collect();
    let is_axis = |form: &&str| AXES.iter().any(|(axis, _)| axis == form);
    match given.as_slice() {
        [form] => Ok(form),
        [first, others @ ..] if [first].into_iter().chain(others).all(is_axis) => Ok(first),
        _ => {
            let found = match given.len() {
                0 => "none is given".to_string(),
                _ => format!("{} are given", name::list(&given)),
            };
            Err(fields.ambiguous(FORMS, found))
        }
    }
}

fn quaternion(field: Field<'_>) -> Result<UnitQuaternion<f64>, ModelError> {
    let numbers = field.numbers(Dimension::NONE, &[4])?;
    let quaternion = nalgebra::Quaternion::new(numbers[0], numbers[1], numbers[2], numbers[3]);
    let length = quaternion.norm();
    if (length - 1.0).abs() <= TOLERANCE {
        return Ok(UnitQuaternion::from_quaternion(quaternion));
    }
    let error = field.unsuitable("a quaternion w, x, y, z of length 1", format!("of length {length}"));
    if length == 0.0 || !length.is_finite() {
        return Err(error.with_hint("no rotation is [1, 0, 0, 0]"));
    }
    let scaled = quaternion / length;
    Err(error.with_hint(format!(
        "divided by its length: [{}, {}, {}, {}]",
        scaled.w, scaled.i, scaled.j, scaled.k
    )))
}

fn axis_angle(axis: Field<'_>, fields: Fields<'_>) -> Result<UnitQuaternion<f64>, ModelError> {
    let angle = Field::new(fields.required("angle")?, axis.context).number(Dimension::ANGLE)?;
    Ok(UnitQuaternion::from_axis_angle(&Unit::new_unchecked(axis.direction()?), angle))
}

fn euler(angles: Field<'_>, fields: Fields<'_>) -> Result<UnitQuaternion<f64>, ModelError> {
    let sequence = Field::new(fields.required("sequence")?, angles.context);
    let axes = axes(sequence)?;
    let angles = angles.vector3(Dimension::ANGLE)?;
    let turn = |index: usize| UnitQuaternion::from_axis_angle(&axes[index], angles[index]);
    Ok(turn(0) * turn(1) * turn(2))
}

/// The three axes of a sequence such as `zyx`; the same axis twice in a row would waste an angle.
fn axes(sequence: Field<'_>) -> Result<[Unit<Vector3<f64>>; 3], ModelError> {
    let text = sequence.text()?;
    let letters: Vec<char> = text.content().chars().collect();
    let axis = |letter: char| match letter {
        'x' => Some(Vector3::x_axis()),
        'y' => Some(Vector3::y_axis()),
        'z' => Some(Vector3::z_axis()),
        _ => None,
    };
    if let [a, b, c] = *letters.as_slice()
        && let (Some(first), Some(second), Some(third)) = (axis(a), axis(b), axis(c))
        && a != b
        && b != c
    {
        return Ok([first, second, third]);
    }
    let requirement = "three of the letters x, y, z without the same one twice in a row";
    Err(sequence
        .unsuitable(requirement, sequence.value.description())
        .with_hint("for instance `zyx` or `zxz`"))
}

fn matrix(field: Field<'_>) -> Result<UnitQuaternion<f64>, ModelError> {
    let rows = field.matrix(Dimension::NONE, 3, 3)?;
    let matrix = Matrix3::from_fn(|row, column| rows[row][column]);
    let error = (matrix.transpose() * matrix - Matrix3::identity()).amax();
    if error.is_nan() || error > TOLERANCE {
        let found = format!("one whose columns miss that by {error:.2e}");
        return Err(field.unsuitable("a rotation matrix (orthonormal columns)", found));
    }
    if matrix.determinant() < 0.0 {
        return Err(field
            .unsuitable("a rotation matrix", "a reflection (its determinant is −1)")
            .with_hint("turn the sign of one axis"));
    }
    // Gram–Schmidt removes what the rounding of the entries left.
    let x = matrix.column(0).normalize();
    let z = x.cross(&matrix.column(1)).normalize();
    Ok(from_axes(x, z))
}

/// The rotation by one or two axes of the part.
fn axes_of_part(fields: Fields<'_>) -> Result<UnitQuaternion<f64>, ModelError> {
    let given = AXES.iter().filter_map(|&(key, place)| Some((fields.optional(key)?, place)));
    let given: Vec<_> = given.map(|(entry, place)| (Field::new(entry, fields.context), place)).collect();
    let (exact, place) = given[0];
    let direction = exact.direction()?;
    let [(wish_field, other)] = given[1..] else {
        let [_, _, (third, _)] = given[..] else { return Ok(shortest_to(direction, place)) };
        return Err(third.unsuitable("left out beside two others", "a third axis"));
    };
    let wish = wish_field.direction()?;
    let nearest = wish - direction * direction.dot(&wish);
    // Six digits of the direction are gone below: no direction that anybody meant.
    if nearest.norm() < 1e-6 {
        let requirement = format!("a direction other than the {}", exact.key.replace('-', " "));
        return Err(wish_field.unsuitable(requirement, "parallel to it"));
    }
    let mut columns = [Vector3::zeros(); 3];
    (columns[place], columns[other]) = (direction, nearest.normalize());
    let missing = 3 - place - other;
    columns[missing] = columns[(missing + 1) % 3].cross(&columns[(missing + 2) % 3]);
    Ok(from_axes(columns[0], columns[2]))
}

/// The shortest rotation that takes an axis to a direction, seen in axes of which that one is the last.
fn shortest_to(direction: Vector3<f64>, axis: usize) -> UnitQuaternion<f64> {
    let place = |k: usize| (axis + 1 + k) % 3;
    let turned = shortest_from_z(Vector3::from_fn(|k, _| direction[place(k)]));
    let mut vector = Vector3::zeros();
    (0..3).for_each(|k| vector[place(k)] = turned.imag()[k]);
    UnitQuaternion::new_unchecked(nalgebra::Quaternion::from_parts(turned.w, vector))
}

/// The shortest rotation that takes the z axis to a direction: half of the angle θ between them has cos θ/2 ~
/// 1 + cos θ and sin θ/2 ~ sin θ. Both are taken without a difference of nearly equal numbers, so that no
/// digits are lost near z and −z.
fn shortest_from_z(to: Vector3<f64>) -> UnitQuaternion<f64> {
    let sine = to.x.hypot(to.y);
    if sine == 0.0 && to.z < 0.0 {
        // Every half turn is the shortest; take the one about x.
        return UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    }
    let [w, x, y] = match to.z < 0.0 {
        true => [sine / (1.0 - to.z), -to.y / sine, to.x / sine],
        false => [1.0 + to.z, -to.y, to.x],
    };
    UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, 0.0))
}

fn from_axes(x: Vector3<f64>, z: Vector3<f64>) -> UnitQuaternion<f64> {
    let matrix = Matrix3::from_columns(&[x, z.cross(&x), z]);
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix))
}
