//! The `shape` of a body as a model file writes it.

use std::sync::Arc;

use crate::lie::{Matrix3, Pose, UnitQuaternion, Vector3};
use crate::machine::shape::{Geometry, MassProperties, Solid, Triangles};
use crate::machine::stl;
use crate::model::document::read_beside;
use crate::model::error::{ModelError, ModelErrors};
use crate::model::{Dimension, Key, Need, PartReader, Text, ValueKind};

/// Keys of `shape`.
pub static KEYS: &[Key] = &[
    Key::new(
        "kind",
        ValueKind::Choice(&["sphere", "box", "cylinder", "capsule", "cone", "frustum", "stl"]),
        Need::Required,
    )
    .doc("What it is; the axis of a cylinder, capsule, cone or frustum is z."),
    Key::new("radius", ValueKind::Number(Dimension::LENGTH), Need::Optional)
        .doc("Radius of a sphere, cylinder, capsule or of the base of a cone."),
    Key::new("radii", ValueKind::Numbers(Dimension::LENGTH, &[2]), Need::Optional)
        .doc("Radii of a frustum: at its base and, `length` further along z, at its top."),
    Key::new("size", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
        .doc("Full edge lengths of a box along x, y and z."),
    Key::new("length", ValueKind::Number(Dimension::LENGTH), Need::Optional)
        .doc("Length of a cylinder, height of a cone or frustum; of a capsule the part between its half spheres."),
    Key::new("file", ValueKind::Text, Need::Optional)
        .doc("STL file (text or binary) of a closed surface, in the folder of the model or below."),
    Key::new("unit", ValueKind::Number(Dimension::LENGTH), Need::Default("1"))
        .doc("Unit of length of an STL file."),
    Key::new("position", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
        .doc("Where the shape's centroid stands in body axes, if the body has its own `inertia`; the centre of mass otherwise."),
    Key::new("orientation", ValueKind::Orientation, Need::Optional)
        .doc("Rotation from the shape's axes to body axes."),
];

/// Whether the shape may stand anywhere on its body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Placing {
    /// The shape is what the body weighs: its centroid is the centre of mass.
    AtCentre,
    /// The shape is for pictures.
    Free,
}

/// Reads a shape; its volume integrals are in body axes.
pub fn read(reader: PartReader, placing: Placing) -> Result<(Solid, MassProperties), ModelErrors> {
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
    reader.finish()?;
    Ok((Solid { geometry, frame }, MassProperties { inertia, centroid: position, ..properties }))
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
