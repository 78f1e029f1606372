//! Shapes of MJCF: what they weigh and what they look like.

use super::attributes::Attributes;
use super::{Reader, unknown};
use crate::mesh::{self, Triangle};
use crate::robot::{Look, Solid};
use crate::xml::Element;
use kreisel::machine::shape::{Geometry, MassProperties};
use kreisel::model::{ModelError, ModelErrors};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Density of a shape that names none, in kg/m³.
const DENSITY: f64 = 1000.0;
/// Groups of shapes that are drawn: the others are for contact.
const DRAWN: [f64; 3] = [0.0, 1.0, 2.0];

/// Something that weighs: inertia about the centre of mass in the axes of its pose.
#[derive(Clone, Copy)]
pub struct Weight {
    pub mass: f64,
    pub pose: Isometry3<f64>,
    pub inertia: Matrix3<f64>,
}

impl Weight {
    /// Nothing at the origin.
    pub fn none() -> Self {
        Self { mass: 0.0, pose: Isometry3::identity(), inertia: Matrix3::zeros() }
    }

    /// The same elsewhere.
    pub fn moved(self, by: &dyn Fn(Isometry3<f64>) -> Isometry3<f64>) -> Self {
        Self { pose: by(self.pose), ..self }
    }

    /// The same with the axes in which its pose counts.
    pub fn in_axes(self) -> Self {
        let turn = self.pose.rotation.to_rotation_matrix();
        let pose = Isometry3::from_parts(self.pose.translation, UnitQuaternion::identity());
        Self { mass: self.mass, pose, inertia: turn * self.inertia * turn.transpose() }
    }

    /// All of them as one.
    pub fn sum(weights: &[Self]) -> Self {
        let mass: f64 = weights.iter().map(|weight| weight.mass).sum();
        if mass <= 0.0 {
            // Where nothing weighs, the first place serves as well as any.
            return weights.first().map_or_else(Self::none, |weight| Self {
                mass: 0.0,
                inertia: Matrix3::zeros(),
                ..*weight
            });
        }
        let at = |weight: &Self| weight.pose.translation.vector;
        let centre = weights.iter().map(|weight| weight.mass * at(weight)).sum::<Vector3<f64>>() / mass;
        let mut inertia = Matrix3::zeros();
        for weight in weights {
            let arm = at(weight) - centre;
            let moved = Matrix3::identity() * arm.norm_squared() - arm * arm.transpose();
            inertia += weight.in_axes().inertia + weight.mass * moved;
        }
        let pose = Isometry3::from_parts(Translation3::from(centre), UnitQuaternion::identity());
        Self { mass, pose, inertia }
    }
}

/// Surfaces by their names.
#[derive(Default)]
pub struct Meshes(HashMap<String, Arc<Vec<Triangle>>>);

/// The least turn that brings z to a direction.
pub fn turned_to(direction: Vector3<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::rotation_between(&Vector3::z(), &direction)
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI))
}

/// The middle of a line, with z along it, and half its length.
pub fn along(ends: &[f64; 6]) -> (Isometry3<f64>, f64) {
    let [a, b] = [0, 3].map(|first| Vector3::new(ends[first], ends[first + 1], ends[first + 2]));
    let way = b - a;
    let turn = way.try_normalize(1e-12).map_or_else(UnitQuaternion::identity, turned_to);
    (Isometry3::from_parts(Translation3::from(0.5 * (a + b)), turn), 0.5 * way.norm())
}

impl<'d> Reader<'_, 'd> {
    /// Reads surfaces and colours.
    pub(super) fn assets(&mut self) -> Result<(), ModelErrors> {
        let mut errors = ModelErrors::new();
        for section in self.tree.sections("asset") {
            for element in self.tree.elements(section) {
                let Some(given) = errors.keep(self.classes.attributes(element, None)) else { continue };
                match element.tag() {
                    "mesh" => _ = errors.keep(self.mesh(&given)),
                    "material" => {
                        let colour = errors.keep(given.array::<4>("rgba")).flatten();
                        if let Some((name, colour)) = element.word("name").zip(colour) {
                            self.colours.insert(name, colour);
                        }
                    }
                    "texture" => {}
                    other => self.left.count(format!("`<{other}>` among the assets")),
                }
            }
        }
        errors.into_result()
    }

    fn mesh(&mut self, given: &Attributes<'d>) -> Result<(), ModelError> {
        let element = given.element();
        let Some(file) = given.word("file") else {
            self.left.tell(element, "a surface that is given by points");
            return Ok(());
        };
        let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let name = element.word("name").unwrap_or(stem).to_owned();
        let Some(folder) = self.request.beside else { return Ok(()) };
        let path = folder.join(&self.settings.meshdir).join(file);
        match mesh::read(&path) {
            Ok(triangles) => {
                let scale = given.vector("scale")?.unwrap_or_else(|| Vector3::repeat(1.0));
                let mut triangles = mesh::scaled(triangles, &scale);
                let back = self.reference(given)?.inverse();
                let moved = |corner: Vector3<f64>| back.transform_point(&corner.into()).coords;
                triangles.iter_mut().for_each(|triangle| *triangle = triangle.map(moved));
                self.meshes.0.insert(name, Arc::new(triangles));
            }
            Err(reason) => self.left.tell(element, format!("the surface `{file}`: {reason}")),
        }
        Ok(())
    }

    /// The frame of a surface in its file.
    fn reference(&self, given: &Attributes<'d>) -> Result<Isometry3<f64>, ModelError> {
        let position = given.vector("refpos")?.unwrap_or_default();
        let turn = given.array::<4>("refquat")?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
        let turn = nalgebra::Quaternion::new(turn[0], turn[1], turn[2], turn[3]);
        let turn = UnitQuaternion::try_new(turn, 1e-12).unwrap_or_else(UnitQuaternion::identity);
        Ok(Isometry3::from_parts(Translation3::from(position), turn))
    }

    /// A shape in the axes of its body: what it weighs and how it looks.
    pub(super) fn geom(
        &mut self,
        given: &Attributes<'d>,
    ) -> Result<(Option<Weight>, Option<Look>), ModelError> {
        let element = given.element();
        let named = given.word("mesh");
        let kind = given.word("type").unwrap_or(if named.is_some() { "mesh" } else { "sphere" });
        let line = given.array::<6>("fromto")?;
        let mut pose = self.pose(given)?;
        let mut size = given.numbers("size")?.unwrap_or_default();
        if let Some((middle, half)) = line.as_ref().map(along) {
            pose = middle;
            let across = size.first().copied().unwrap_or(0.0);
            size = match kind {
                "box" | "ellipsoid" => vec![across, across, half],
                "capsule" | "cylinder" => vec![across, half],
                other => return Err(element.mistake(format!("`fromto` says nothing of a `{other}`"))),
            };
        }
        let solid = match kind {
            "sphere" | "capsule" | "cylinder" | "box" | "ellipsoid" => {
                let wanted = match kind {
                    "sphere" => 1,
                    "box" | "ellipsoid" => 3,
                    _ => 2,
                };
                if size.len() < wanted || size[..wanted].iter().any(|length| *length <= 0.0) {
                    let message = format!("a `{kind}` needs {wanted} positive number(s) in `size`");
                    return Err(element.mistake(message));
                }
                let half = |place: usize| 2.0 * size[place];
                match kind {
                    "sphere" => Solid::Sphere(size[0]),
                    "capsule" => Solid::Capsule(size[0], half(1)),
                    "cylinder" => Solid::Cylinder(size[0], half(1)),
                    "box" => Solid::Box(Vector3::new(half(0), half(1), half(2))),
                    _ => Solid::Ellipsoid(Vector3::new(size[0], size[1], size[2])),
                }
            }
            "mesh" => {
                let name = named.ok_or_else(|| element.mistake("a shape of a surface needs `mesh`"))?;
                let Some(triangles) = self.meshes.0.get(name) else {
                    // Those that could not be read are told already.
                    self.left.count("shape whose surface is missing");
                    return Ok((None, None));
                };
                Solid::Mesh(triangles.as_ref().clone())
            }
            "plane" | "hfield" | "sdf" => {
                self.left.count(format!("shape of the kind `{kind}`"));
                return Ok((None, None));
            }
            other => {
                let known = "sphere, capsule, ellipsoid, cylinder, box, mesh, plane, hfield, sdf";
                return Err(unknown(element, "type", other, known));
            }
        };
        if given.word("contype") != Some("0") || given.word("conaffinity") != Some("0") {
            self.left.count("contact of a shape");
        }
        let weight = self.weight(given, &solid, &pose)?;
        let group = given.number("group")?.unwrap_or(0.0);
        let material = given.word("material").and_then(|name| self.colours.get(name)).copied();
        let colour = given.array::<4>("rgba")?.or(material);
        let is_seen = DRAWN.contains(&group) && colour.is_none_or(|[.., opacity]| opacity > 0.0);
        let look = is_seen.then(|| Look::new(pose, solid).with_colour(colour));
        Ok((weight, look))
    }

    fn weight(
        &mut self,
        given: &Attributes<'d>,
        solid: &Solid,
        pose: &Isometry3<f64>,
    ) -> Result<Option<Weight>, ModelError> {
        let element = given.element();
        let MassProperties { volume, centroid, inertia } = properties(solid);
        let density = given.number("density")?.unwrap_or(DENSITY);
        // Where a class gives a mass and the shape a density, MuJoCo takes the mass too.
        let mass = match given.number("mass")? {
            Some(mass) => mass,
            None => density * volume.abs(),
        };
        if mass < 0.0 || density < 0.0 {
            return Err(element.mistake("a shape has a negative mass or density"));
        }
        if mass == 0.0 {
            return Ok(None);
        }
        if volume <= 0.0 {
            self.tell_flat(element);
            return Ok(None);
        }
        if matches!(solid, Solid::Mesh(_)) && given.word("shellinertia") == Some("true") {
            self.left.tell(element, "`shellinertia`: the surface weighs as what it encloses");
        }
        let pose = pose * Isometry3::from_parts(Translation3::from(centroid), UnitQuaternion::identity());
        Ok(Some(Weight { mass, pose, inertia: mass / volume * inertia }))
    }

    fn tell_flat(&mut self, element: Element<'d>) {
        self.left.tell(element, "the mass of a surface that encloses nothing, or is turned inside out");
    }
}

/// Volume integrals.
fn properties(solid: &Solid) -> MassProperties {
    match solid {
        Solid::Box(size) => Geometry::Box { size: (*size).into() }.properties(),
        Solid::Cylinder(radius, length) => {
            Geometry::Cylinder { radius: *radius, length: *length }.properties()
        }
        Solid::Capsule(radius, length) => Geometry::Capsule { radius: *radius, length: *length }.properties(),
        Solid::Sphere(radius) => Geometry::Sphere { radius: *radius }.properties(),
        // A ball of radius 1, stretched: ∫x² = a² V/5.
        Solid::Ellipsoid(radii) => {
            let volume = 4.0 / 3.0 * std::f64::consts::PI * radii.product();
            let squares = radii.component_mul(radii) * (volume / 5.0);
            let inertia = Matrix3::from_diagonal(&(Vector3::repeat(squares.sum()) - squares));
            MassProperties { volume, centroid: Vector3::zeros(), inertia }
        }
        Solid::Mesh(triangles) => Geometry::Mesh(Arc::new(triangles.clone())).properties(),
    }
}
