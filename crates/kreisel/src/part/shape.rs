//! The `shape` of a body as a model file writes it.

use std::sync::Arc;

use crate::lie::{Matrix3, Pose, UnitQuaternion, Vector3};
use crate::machine::shape::{Geometry, MassProperties, SeenShape, Solid, Triangles};
use crate::machine::stl;
use crate::model::document::read_beside;
use crate::model::error::{ModelError, ModelErrors};
use crate::model::{Dimension, Key, Need, PartReader, Text, ValueKind, name};

/// Keys of `shape`.
pub static KEYS: &[Key] =
    &[KIND, RADIUS, RADII, SIZE, LENGTH, FILE, UNIT, CENTROID, ORIENTATION, COLOUR, VISIBLE];

/// Keys of each of `shapes`.
pub static PIECE_KEYS: &[Key] =
    &[KIND, RADIUS, RADII, SIZE, LENGTH, FILE, UNIT, PLACE, ORIENTATION, DENSITY, MASS, COLOUR, VISIBLE];

const KIND: Key = Key::new(
    "kind",
    ValueKind::Choice(&["sphere", "box", "cylinder", "capsule", "cone", "frustum", "stl"]),
    Need::Required,
)
.doc("What it is; the axis of a cylinder, capsule, cone or frustum is z.");
const RADIUS: Key = Key::new("radius", ValueKind::Number(Dimension::LENGTH), Need::Optional)
    .doc("Radius of a sphere, cylinder, capsule or of the base of a cone.");
const RADII: Key = Key::new("radii", ValueKind::Numbers(Dimension::LENGTH, &[2]), Need::Optional)
    .doc("Radii of a frustum: at its base and, `length` further along z, at its top.");
const SIZE: Key = Key::new("size", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
    .doc("Full edge lengths of a box along x, y and z.");
const LENGTH: Key = Key::new("length", ValueKind::Number(Dimension::LENGTH), Need::Optional).doc(
    "Length of a cylinder, height of a cone or frustum; of a capsule the part between its half spheres.",
);
const FILE: Key = Key::new("file", ValueKind::Text, Need::Optional)
    .doc("STL file (text or binary) of a closed surface, in the folder of the model or below.");
const UNIT: Key = Key::new("unit", ValueKind::Number(Dimension::LENGTH), Need::Default("1"))
    .doc("Unit of length of an STL file.");
const CENTROID: Key = Key::new("position", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
    .doc("Where the shape's centroid stands in body axes, if the body has its own `inertia`; the centre of mass otherwise.");
const PLACE: Key = Key::new("position", ValueKind::Vector3(Dimension::LENGTH), Need::Default("[0, 0, 0]"))
    .doc("Where the shape's own origin stands, from the origin of the body in body axes: the centre of a sphere, box, cylinder or capsule, the middle of the base of a cone or frustum, the origin of an STL file.");
const ORIENTATION: Key = Key::new("orientation", ValueKind::Orientation, Need::Optional)
    .doc("Rotation from the shape's axes to body axes.");
const DENSITY: Key = Key::new("density", ValueKind::Number(Dimension::DENSITY), Need::Optional)
    .doc("Density of this shape; that of the body if neither it nor `mass` is given.");
const MASS: Key = Key::new("mass", ValueKind::Number(Dimension::MASS), Need::Optional)
    .doc("Mass of this shape, in place of its density.");
/// Colour of a body or shape.
pub const COLOUR: Key = Key::new("colour", ValueKind::Text, Need::Optional).doc(
    "Colour in pictures: `\"#3465a4\"` (red, green and blue), or `black`, `white`, `grey`, `silver`, `red`, `orange`, `yellow`, `green`, `teal`, `blue`, `purple`, `brown`; one that tells bodies apart if not given.",
);
/// Whether a body or shape is drawn.
pub const VISIBLE: Key = Key::new("visible", ValueKind::Boolean, Need::Default("true"))
    .doc("Whether it is drawn; what it weighs stays.");

/// Words for colours.
const COLOURS: &[(&str, &str)] = &[
    ("black", "#1b1b1d"),
    ("white", "#f4f4f2"),
    ("grey", "#8e9399"),
    ("silver", "#c8ccd1"),
    ("red", "#c8372d"),
    ("orange", "#e07b28"),
    ("yellow", "#e6c229"),
    ("green", "#3a8f4d"),
    ("teal", "#2a8c8c"),
    ("blue", "#2f62b0"),
    ("purple", "#7d4a9e"),
    ("brown", "#7d5a3c"),
];

/// The colour that a part names, as `#rrggbb`.
pub fn colour(reader: &PartReader) -> Result<Option<String>, ModelErrors> {
    let Some(text) = reader.optional_text("colour")? else { return Ok(None) };
    let found = text.content();
    if let Some((_, code)) = COLOURS.iter().find(|(word, _)| *word == found) {
        return Ok(Some((*code).to_owned()));
    }
    let digits = found.strip_prefix('#').unwrap_or_default();
    if digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(Some(found.to_lowercase()));
    }
    let words: Vec<&str> = COLOURS.iter().map(|(word, _)| *word).collect();
    let error = reader.unsuitable("colour", "a colour such as `\"#3465a4\"` or `\"blue\"`", found);
    Err(error.with_hint(format!("words are {}", name::list(&words))).into())
}

/// Whether the shape may stand anywhere on its body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Placing {
    /// The shape is what the body weighs: its centroid is the centre of mass.
    AtCentre,
    /// The shape is for pictures.
    Free,
}

/// Reads a shape; its volume integrals are in body axes.
pub fn read(reader: PartReader, placing: Placing) -> Result<(SeenShape, MassProperties), ModelErrors> {
    let geometry = geometry(&reader)?;
    let properties = geometry.properties();
    let rotation = reader.optional_orientation("orientation")?.unwrap_or_else(UnitQuaternion::identity);
    let position = match placing {
        Placing::AtCentre => Vector3::zeros(),
        Placing::Free => reader.optional_vector3("position")?.unwrap_or_else(Vector3::zeros),
    };
    let moments = properties.inertia.symmetric_eigenvalues();
    let thick = properties.volume > 0.0 && moments.min() > 0.0;
    if placing == Placing::AtCentre && !thick {
        let found = format!("one of {} m³", properties.volume);
        return Err(reader.unsuitable("kind", "a shape with a volume", found).into());
    }
    let turn: Matrix3 = rotation.to_rotation_matrix().into_inner();
    let frame = Pose::new(rotation, position - turn * properties.centroid);
    let inertia = turn * properties.inertia * turn.transpose();
    let (colour, visible) = (colour(&reader)?, reader.boolean("visible")?);
    reader.finish()?;
    let shape = SeenShape { solid: Solid { geometry, frame }, colour, visible };
    Ok((shape, MassProperties { inertia, centroid: position, ..properties }))
}

/// Something that weighs.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    /// Mass in kg.
    pub mass: f64,
    /// Its centre, from the origin of the body in body axes.
    pub centre: Vector3,
    /// Inertia about this centre, in body axes.
    pub inertia: Matrix3,
}

impl Weight {
    /// All of them as one: masses and first moments add up, inertias about the common centre by the parallel
    /// axes theorem, J = Σ Jᵢ + mᵢ (|dᵢ|² I − dᵢ dᵢᵀ).
    pub fn sum(weights: &[Weight]) -> Weight {
        if let [only] = weights {
            return *only;
        }
        let mass: f64 = weights.iter().map(|weight| weight.mass).sum();
        let moment: Vector3 = weights.iter().map(|weight| weight.mass * weight.centre).sum();
        let centre = moment / mass;
        let about_centre = |weight: &Weight| {
            let arm = weight.centre - centre;
            weight.inertia + weight.mass * (arm.norm_squared() * Matrix3::identity() - arm * arm.transpose())
        };
        Weight { mass, centre, inertia: weights.iter().map(about_centre).sum() }
    }
}

/// Reads one of several shapes, with its frame counted from the body's origin; its weight with the density of
/// the body, or with one of its own. Without `weighs` it is for pictures.
pub fn read_piece(
    reader: PartReader,
    density: Option<f64>,
    weighs: bool,
) -> Result<(SeenShape, f64, Option<Weight>), ModelErrors> {
    let geometry = geometry(&reader)?;
    let properties = geometry.properties();
    let rotation = reader.optional_orientation("orientation")?.unwrap_or_else(UnitQuaternion::identity);
    let frame = Pose::new(rotation, reader.vector3("position")?);
    let mut weight = None;
    if weighs {
        let mass = match (reader.has("mass"), reader.has("density"), density) {
            (true, true, _) => return Err(reader.ambiguous(&["density", "mass"], "both are given").into()),
            (true, false, _) => reader.positive("mass")?,
            (false, true, _) => reader.positive("density")? * properties.volume,
            (false, false, Some(density)) => density * properties.volume,
            (false, false, None) => {
                return Err(reader.missing("density", "or `mass`, or a `density` of the whole body").into());
            }
        };
        if !(properties.volume > 0.0 && mass > 0.0 && mass.is_finite()) {
            let found = format!("one of {} m³ and {mass} kg", properties.volume);
            return Err(reader.unsuitable("kind", "a shape with a volume and a mass", found).into());
        }
        let turn: Matrix3 = rotation.to_rotation_matrix().into_inner();
        let inertia = mass / properties.volume * (turn * properties.inertia * turn.transpose());
        weight = Some(Weight { mass, centre: frame.transform_point(&properties.centroid), inertia });
    }
    let (colour, visible) = (colour(&reader)?, reader.boolean("visible")?);
    reader.finish()?;
    Ok((SeenShape { solid: Solid { geometry, frame }, colour, visible }, properties.volume, weight))
}

/// Reads what a shape is.
pub(super) fn geometry(reader: &PartReader) -> Result<Geometry<Triangles>, ModelErrors> {
    Ok(match reader.choice("kind")? {
        "sphere" => Geometry::Sphere { radius: reader.positive("radius")? },
        "box" => Geometry::Box { size: box_size(reader)?.into() },
        "cylinder" => {
            Geometry::Cylinder { radius: reader.positive("radius")?, length: reader.positive("length")? }
        }
        "capsule" => {
            Geometry::Capsule { radius: reader.positive("radius")?, length: reader.not_negative("length")? }
        }
        "cone" => {
            Geometry::Frustum { radii: [reader.positive("radius")?, 0.0], length: reader.positive("length")? }
        }
        "frustum" => {
            let radii = reader.numbers("radii")?;
            let radii = [radii[0], radii[1]];
            if radii.iter().any(|radius| *radius < 0.0) || radii == [0.0, 0.0] {
                let found = format!("[{}, {}]", radii[0], radii[1]);
                return Err(reader.unsuitable("radii", "positive, or one of them zero", found).into());
            }
            Geometry::Frustum { radii, length: reader.positive("length")? }
        }
        _ => {
            let file = reader.text("file")?;
            let unit = reader.positive("unit")?;
            let mut triangles = read_stl(&file)?;
            triangles.iter_mut().flatten().for_each(|corner| *corner *= unit);
            Geometry::Mesh(Arc::new(triangles))
        }
    })
}

/// Edge lengths of a box.
fn box_size(reader: &PartReader) -> Result<Vector3, ModelErrors> {
    let size = reader.vector3("size")?;
    if size.min() <= 0.0 {
        let found = format!("[{}, {}, {}]", size.x, size.y, size.z);
        return Err(reader.unsuitable("size", "three positive lengths", found).into());
    }
    Ok(size)
}

/// Reads the surface in a file that lies in the folder of the model's file or below.
fn read_stl(file: &Text) -> Result<Vec<[Vector3; 3]>, ModelError> {
    let bytes = read_beside(file, stl::MAX_SIZE)?;
    stl::read(&bytes).map_err(|reason| {
        let what = format!("the file `{}`", file.content());
        ModelError::unsuitable(what, "an STL file of a closed surface", reason, file.place())
    })
}
