//! The `section` of a beam: by its stiffnesses, by full matrices or by its shape.

use super::body::positive_moments;
use crate::element::beam::{Material, Profile, Section, SectionError, mass_about, stiffness_about};
use crate::lie::{Matrix3, Matrix6, Vector6};
use crate::model::{Dimension, Key, ModelErrors, Need, PartReader, ValueKind};

const fn length(name: &'static str, doc: &'static str) -> Key {
    Key::new(name, ValueKind::Number(Dimension::LENGTH), Need::Optional).doc(doc)
}

const fn centre(name: &'static str, doc: &'static str) -> Key {
    Key::new(name, ValueKind::Numbers(Dimension::LENGTH, &[2]), Need::Default("[0, 0]")).doc(doc)
}

/// kg·m: moment of inertia per length.
const INERTIA_PER_LENGTH: Dimension = Dimension::from_exponents([1, 1, 0, 0]);

/// Keys of `section`.
pub static KEYS: &[Key] = &[
    Key::new("shape", ValueKind::Choice(&["circle", "tube", "rectangle", "i-section"]), Need::Optional)
        .doc("Outline of the section, with `youngs-modulus`, `poisson-ratio` and `density`, in place of stiffnesses and masses."),
    length("radius", "Radius of a circle."),
    length("outer-radius", "Outer radius of a tube."),
    length("inner-radius", "Inner radius of a tube."),
    length("width", "Extent of a rectangle or I along y."),
    length("height", "Extent of a rectangle or I along z."),
    length(
        "flange-thickness",
        "Thickness along z of each flange of an I. Its torsional constant is that of thin walls, (2 b t³ + (h − t) s³)/3 with width b, height h, flanges t and web s, free to warp and without fillets: an I of 100 × 100 mm with t = 10 mm, s = 6 mm has 7.31e-8 m⁴.",
    ),
    length("web-thickness", "Thickness along y of the web of an I."),
    Key::new("youngs-modulus", ValueKind::Number(Dimension::PRESSURE), Need::Optional)
        .doc("Young's modulus of the shape's material."),
    Key::new("poisson-ratio", ValueKind::Number(Dimension::NONE), Need::Optional)
        .doc("Poisson's ratio of the shape's material."),
    Key::new("density", ValueKind::Number(Dimension::DENSITY), Need::Optional)
        .doc("Density of the shape's material."),
    Key::new("axial-stiffness", ValueKind::Number(Dimension::FORCE), Need::Optional)
        .doc("EA: resistance to stretch."),
    Key::new("shear-stiffness", ValueKind::Numbers(Dimension::FORCE, &[2]), Need::Optional)
        .doc("GA along y and along z, shear correction included."),
    Key::new("torsional-stiffness", ValueKind::Number(Dimension::BENDING_STIFFNESS), Need::Optional)
        .doc("GJ: resistance to twist."),
    Key::new("bending-stiffness", ValueKind::Numbers(Dimension::BENDING_STIFFNESS, &[2]), Need::Optional)
        .doc("EI about y and about z."),
    centre("elastic-centre", "Where a pull stretches without bending, as y and z from the axis."),
    centre("shear-centre", "Where a transverse force bends without twist, as y and z from the axis."),
    Key::new("mass-per-length", ValueKind::Number(Dimension::MASS_PER_LENGTH), Need::Optional)
        .doc("Mass per length."),
    Key::new("inertia-per-length", ValueKind::Symmetric3(INERTIA_PER_LENGTH), Need::Optional)
        .doc("Moments of inertia per length about the centre of mass, in section axes (x along the beam)."),
    centre("mass-centre", "Centre of mass, as y and z from the axis."),
    Key::new("stiffness-matrix", ValueKind::Matrix(Dimension::NONE, 6, 6), Need::Optional)
        .doc("Whole stiffness in N, Nm and Nm² over twist rate, curvatures about y and z, stretch, shears along y and z, in place of the single ones."),
    Key::new("mass-matrix", ValueKind::Matrix(Dimension::NONE, 6, 6), Need::Optional)
        .doc("Whole mass per length in kg/m, kg and kg m over rotations and translations, in place of the single ones."),
];

/// Reads a section.
pub fn read(reader: PartReader) -> Result<Section, ModelErrors> {
    let section = match reader.optional_choice("shape")? {
        Some(shape) => section_of_shape(&reader, shape)?,
        None => {
            let stiffness = match reader.optional_matrix("stiffness-matrix")? {
                Some(matrix) => Matrix6::from_iterator(matrix.iter().copied()),
                None => stiffness(&reader)?,
            };
            let mass = match reader.optional_matrix("mass-matrix")? {
                Some(matrix) => Matrix6::from_iterator(matrix.iter().copied()),
                None => mass(&reader)?,
            };
            Section::new(stiffness, mass).map_err(|error| refused(&reader, &error))?
        }
    };
    reader.finish()?;
    Ok(section)
}

fn section_of_shape(reader: &PartReader, shape: &str) -> Result<Section, ModelErrors> {
    let profile = match shape {
        "circle" => Profile::Circle { radius: reader.positive("radius")? },
        "tube" => {
            let (outer_radius, inner_radius) =
                (reader.positive("outer-radius")?, reader.not_negative("inner-radius")?);
            let fits = inner_radius < outer_radius;
            reader.require(fits, "inner-radius", "less than `outer-radius`", inner_radius)?;
            Profile::Tube { outer_radius, inner_radius }
        }
        "rectangle" => {
            Profile::Rectangle { width: reader.positive("width")?, height: reader.positive("height")? }
        }
        _ => i_section(reader)?,
    };
    let poisson_ratio = reader.number("poisson-ratio")?;
    let exists = -1.0 < poisson_ratio && poisson_ratio <= 0.5;
    reader.require(exists, "poisson-ratio", "above −1 and not above 0.5", poisson_ratio)?;
    let material = Material {
        youngs_modulus: reader.positive("youngs-modulus")?,
        poisson_ratio,
        density: reader.positive("density")?,
    };
    profile.section(&material).map_err(|error| refused(reader, &error))
}

fn i_section(reader: &PartReader) -> Result<Profile, ModelErrors> {
    let (width, height) = (reader.positive("width")?, reader.positive("height")?);
    let (flange, web) = (reader.positive("flange-thickness")?, reader.positive("web-thickness")?);
    reader.require(2.0 * flange < height, "flange-thickness", "less than half of `height`", flange)?;
    reader.require(web <= width, "web-thickness", "at most `width`", web)?;
    Ok(Profile::ISection { width, height, flange, web })
}

/// diag(GJ, EI_y, EI_z, EA, GA_y, GA_z) about the axis.
fn stiffness(reader: &PartReader) -> Result<Matrix6, ModelErrors> {
    const HINT: &str = "or give a `shape` with its material, or a `stiffness-matrix`";
    let torsion = positive(reader, "torsional-stiffness", HINT)?;
    let bending = both_positive(reader, "bending-stiffness", HINT)?;
    let axial = positive(reader, "axial-stiffness", HINT)?;
    let shear = both_positive(reader, "shear-stiffness", HINT)?;
    let diagonal = Vector6::new(torsion, bending[0], bending[1], axial, shear[0], shear[1]);
    let (elastic, centre) = (pair(reader, "elastic-centre")?, pair(reader, "shear-centre")?);
    Ok(stiffness_about(&diagonal, elastic, centre))
}

fn mass(reader: &PartReader) -> Result<Matrix6, ModelErrors> {
    const HINT: &str = "or give a `shape` with its `density`, or a `mass-matrix`";
    let mass = positive(reader, "mass-per-length", HINT)?;
    let inertia: Option<Matrix3> = reader.optional_symmetric3("inertia-per-length")?;
    let inertia = inertia.ok_or_else(|| reader.missing("inertia-per-length", HINT))?;
    positive_moments(reader, "inertia-per-length", &inertia)?;
    Ok(mass_about(mass, &inertia, pair(reader, "mass-centre")?))
}

fn pair(reader: &PartReader, key: &str) -> Result<[f64; 2], ModelErrors> {
    let numbers = reader.numbers(key)?;
    Ok([numbers[0], numbers[1]])
}

fn positive(reader: &PartReader, key: &str, hint: &str) -> Result<f64, ModelErrors> {
    Ok(reader.optional_positive(key)?.ok_or_else(|| reader.missing(key, hint))?)
}

fn both_positive(reader: &PartReader, key: &str, hint: &str) -> Result<[f64; 2], ModelErrors> {
    if !reader.has(key) {
        return Err(reader.missing(key, hint).into());
    }
    let numbers = pair(reader, key)?;
    match numbers.iter().find(|number| **number <= 0.0) {
        Some(number) => Err(reader.unsuitable(key, "positive", number).into()),
        None => Ok(numbers),
    }
}

/// A matrix that no section has.
fn refused(reader: &PartReader, error: &SectionError) -> ModelErrors {
    let matrix = if reader.has("stiffness-matrix") { "stiffness-matrix" } else { "mass-matrix" };
    let key = match error {
        SectionError::Stiffness { .. } if reader.has("stiffness-matrix") => "stiffness-matrix",
        SectionError::Mass { .. } | SectionError::NotMatter { .. } if reader.has("mass-matrix") => {
            "mass-matrix"
        }
        SectionError::NotSymmetric { .. } => matrix,
        _ => "shape",
    };
    reader.unsuitable(key, "that of a section", error).into()
}
