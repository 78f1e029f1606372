//! Surfaces of triangles: read from STL, OBJ and Collada files, made of simple shapes, written as STL.

use crate::collada;
use crate::robot::Solid;
use kreisel::machine::shape::Geometry;
use kreisel::machine::stl::{self, StlError};
use kreisel::model::document::read_bytes;
use nalgebra::Vector3;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Three corners, counterclockwise seen from outside.
pub type Triangle = [Vector3<f64>; 3];

/// Most triangles of one surface: an STL file of the largest size that is read.
const MAX_TRIANGLES: usize = (stl::MAX_SIZE / 50) as usize - 2;

/// Reads the surface in a file, in the unit of the file; the reason if that cannot be.
pub fn read(path: &Path) -> Result<Vec<Triangle>, String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    let parse: fn(&[u8]) -> Result<Vec<Triangle>, String> = match ending.as_str() {
        "stl" => |bytes| stl::read_any(bytes).map_err(|reason| reason.to_string()),
        "obj" => |bytes| obj(&String::from_utf8_lossy(bytes)),
        "dae" => |bytes| collada::read(&String::from_utf8_lossy(bytes)),
        _ => return Err(format!("surfaces are STL, OBJ or Collada files, not `.{ending}`")),
    };
    let bytes = read_bytes(path, stl::MAX_SIZE).map_err(|mistake| mistake.to_string())?;
    let triangles = parse(&bytes)?;
    if triangles.is_empty() {
        return Err("it has no triangles".to_owned());
    }
    if triangles.iter().flatten().any(|corner| !corner.iter().all(|value| value.is_finite())) {
        return Err("a corner is not a finite number".to_owned());
    }
    Ok(triangles)
}

/// The file that a robot means: below `folder`, or for `package://` below a folder above that holds the package.
pub fn find(folder: &Path, written: &str) -> Option<PathBuf> {
    let plain = written.strip_prefix("file://").unwrap_or(written);
    let Some(inside) = ["package://", "model://"].iter().find_map(|start| plain.strip_prefix(start)) else {
        return Some(folder.join(plain)).filter(|path| is_there(path));
    };
    let inside = inside.trim_start_matches('/');
    let (package, rest) = inside.split_once('/')?;
    let folder = folder.canonicalize().ok()?;
    let places = folder.ancestors().flat_map(|above| {
        let own = above.file_name().is_some_and(|name| name == package).then(|| above.join(rest));
        own.into_iter().chain([above.join(inside)])
    });
    places.into_iter().find(|path| is_there(path))
}

/// Whether something else than a folder is there; what it is says who opens it.
fn is_there(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| !data.is_dir())
}

/// Faces of a Wavefront file.
fn obj(text: &str) -> Result<Vec<Triangle>, String> {
    let mut corners: Vec<Vector3<f64>> = Vec::new();
    let mut triangles = Vec::new();
    for (line, words) in text.lines().enumerate() {
        let bad = || format!("line {}: not a corner or face", line + 1);
        let mut words = words.split_whitespace();
        match words.next() {
            Some("v") => {
                let numbers: Vec<f64> = words.take(3).filter_map(|word| word.parse().ok()).collect();
                let numbers: [f64; 3] = numbers.try_into().map_err(|_| bad())?;
                corners.push(Vector3::from(numbers));
            }
            Some("f") => {
                let corner = |word: &str| {
                    let index: i64 = word.split('/').next()?.parse().ok()?;
                    let count = corners.len() as i64;
                    let index = if index < 0 { count.checked_add(index)? } else { index - 1 };
                    corners.get(usize::try_from(index).ok()?).copied()
                };
                let face: Option<Vec<Vector3<f64>>> = words.map(corner).collect();
                triangles.extend(fan(&face.ok_or_else(bad)?));
            }
            _ => {}
        }
        if triangles.len() > MAX_TRIANGLES {
            return Err(format!("more than {MAX_TRIANGLES} triangles"));
        }
    }
    Ok(triangles)
}

/// Triangles of a polygon.
pub fn fan(corners: &[Vector3<f64>]) -> impl Iterator<Item = Triangle> + '_ {
    corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]])
}

/// Sides of what is round.
const SIDES: usize = 32;

/// The surface of a shape.
pub fn triangles(solid: &Solid) -> Vec<Triangle> {
    match solid {
        Solid::Mesh(triangles) => triangles.clone(),
        Solid::Box(size) => {
            let half = 0.5 * size;
            turned(&[(half.x, -half.z), (half.x, half.z)], 4, Some(half.y / half.x))
        }
        Solid::Cylinder(radius, length) => {
            turned(&[(*radius, -0.5 * length), (*radius, 0.5 * length)], SIDES, None)
        }
        Solid::Sphere(radius) => turned(&ball(*radius, 0.0), SIDES, None),
        Solid::Ellipsoid(radii) => scaled(turned(&ball(1.0, 0.0), SIDES, None), radii),
        Solid::Capsule(radius, length) => turned(&ball(*radius, 0.5 * length), SIDES, None),
    }
}

/// Radii and heights of a ball whose halves are moved apart.
fn ball(radius: f64, apart: f64) -> Vec<(f64, f64)> {
    let steps = SIDES / 4;
    let circle = |step: usize| {
        let angle = std::f64::consts::FRAC_PI_2 * step as f64 / steps as f64;
        (radius * angle.cos(), radius * angle.sin())
    };
    // The poles are left to the lids, which are closed by a point of radius 0.
    let below = (0..steps).rev().map(circle).map(|(across, up)| (across, -apart - up));
    let above = (0..steps).map(circle).map(|(across, up)| (across, apart + up));
    let all = [(0.0, -apart - radius)].into_iter().chain(below).chain(above).chain([(0.0, apart + radius)]);
    all.collect()
}

/// A profile of radii and ascending heights turned about z, with lids; with four sides and a ratio it is a box.
fn turned(profile: &[(f64, f64)], sides: usize, ratio: Option<f64>) -> Vec<Triangle> {
    let corner = |(radius, height): (f64, f64), side: usize| match ratio {
        Some(ratio) => {
            let (x, y) = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)][side % 4];
            Vector3::new(radius * x, radius * ratio * y, height)
        }
        None => {
            let angle = std::f64::consts::TAU * (side % sides) as f64 / sides as f64;
            Vector3::new(radius * angle.cos(), radius * angle.sin(), height)
        }
    };
    let mut triangles = Vec::new();
    for pair in profile.windows(2) {
        for side in 0..sides {
            let [a, b] = [corner(pair[0], side), corner(pair[0], side + 1)];
            let [c, d] = [corner(pair[1], side + 1), corner(pair[1], side)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let ring = |level: (f64, f64)| (0..sides).map(|side| corner(level, side)).collect::<Vec<_>>();
    if let [first, .., last] = profile {
        let lower: Vec<_> = ring(*first).into_iter().rev().collect();
        triangles.extend(fan(&lower).chain(fan(&ring(*last))));
    }
    triangles.retain(|[a, b, c]| (b - a).cross(&(c - a)).norm() > 0.0);
    triangles
}

/// A surface as a binary STL file of a closed one, with its centroid: open ones get both sides, as a sheet
/// without thickness.
pub fn stl(triangles: &[Triangle]) -> Result<(Vec<u8>, Vector3<f64>), String> {
    let reason = match write(triangles) {
        Err(StlError::Open { .. }) => {
            let both = triangles.iter().flat_map(|[a, b, c]| [[*a, *b, *c], [*a, *c, *b]]);
            write(&both.collect::<Vec<_>>())
        }
        written => written,
    };
    reason.map_err(|reason| reason.to_string())
}

fn write(triangles: &[Triangle]) -> Result<(Vec<u8>, Vector3<f64>), StlError> {
    let mut bytes = vec![b' '; 80];
    bytes.extend_from_slice(&(triangles.len() as u32).to_le_bytes());
    for [a, b, c] in triangles {
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default();
        for value in [&normal, a, b, c].into_iter().flat_map(|vector| vector.iter()) {
            bytes.extend_from_slice(&(*value as f32).to_le_bytes());
        }
        bytes.extend_from_slice(&[0, 0]);
    }
    // As the model file will read it.
    let read = stl::read(&bytes)?;
    Ok((bytes, Geometry::Mesh(Arc::new(read)).properties().centroid))
}

/// A surface with each axis stretched; mirrored ones keep their outside.
pub fn scaled(mut triangles: Vec<Triangle>, scale: &Vector3<f64>) -> Vec<Triangle> {
    let mirrored = scale.product() < 0.0;
    for triangle in &mut triangles {
        triangle.iter_mut().for_each(|corner| corner.component_mul_assign(scale));
        if mirrored {
            triangle.swap(1, 2);
        }
    }
    triangles
}
