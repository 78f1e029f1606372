//! Reads surfaces of triangles from STL files, in their text and their binary form.

use crate::lie::Vector3;

/// Largest file that is read, in bytes.
pub const MAX_SIZE: u64 = 64 << 20;

/// Bytes before the triangles of a binary file: a comment of 80 and their number.
const HEADER: usize = 84;
/// Bytes of a triangle in a binary file: normal, three corners, two spare bytes.
const RECORD: usize = 50;

/// Why bytes are no STL surface.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StlError {
    /// A binary file with a length that does not fit its number of triangles.
    #[error("a file of {found} bytes, but {count} triangles take {expected}")]
    WrongLength {
        /// Bytes found.
        found: usize,
        /// Triangles that the file announces.
        count: u32,
        /// Bytes that they take.
        expected: u64,
    },
    /// Neither text nor binary form.
    #[error("neither a text that begins with `solid` nor a binary file")]
    NotStl,
    /// A corner that cannot be read.
    #[error("line {line}: a vertex needs three numbers")]
    BadVertex {
        /// Line, from 1.
        line: usize,
    },
    /// Corners that are not a multiple of three.
    #[error("{count} corners, which is no multiple of three")]
    LooseCorners {
        /// Corners found.
        count: usize,
    },
    /// A corner that is infinite or not a number.
    #[error("triangle {triangle} has a corner that is not a finite number")]
    NotFinite {
        /// Triangle, from 1.
        triangle: usize,
    },
    /// No triangle at all.
    #[error("no triangles")]
    Empty,
    /// A surface with holes or with triangles turned around.
    #[error("a surface that is not closed: its faces leave {gap:.2e} of its area open")]
    Open {
        /// Length of the sum of the area vectors over the area.
        gap: f64,
    },
}

shown_by_message!(StlError);

/// Triangles of a closed surface.
pub fn read(bytes: &[u8]) -> Result<Vec<[Vector3; 3]>, StlError> {
    let triangles = read_any(bytes)?;
    check(&triangles)?;
    Ok(triangles)
}

/// Triangles of any surface, as they are.
pub fn read_any(bytes: &[u8]) -> Result<Vec<[Vector3; 3]>, StlError> {
    let count =
        bytes.get(80..HEADER).map(|count| u32::from_le_bytes([count[0], count[1], count[2], count[3]]));
    let expected = count.map(|count| HEADER as u64 + RECORD as u64 * u64::from(count));
    // A binary comment may begin with `solid` too; a length that fits decides.
    match (count, expected) {
        (Some(_), Some(expected)) if expected == bytes.len() as u64 => Ok(binary(bytes)),
        _ if bytes.trim_ascii_start().starts_with(b"solid") => text(bytes),
        (Some(count), Some(expected)) => Err(StlError::WrongLength { found: bytes.len(), count, expected }),
        _ => Err(StlError::NotStl),
    }
}

fn binary(bytes: &[u8]) -> Vec<[Vector3; 3]> {
    let number = |record: &[u8], at: usize| {
        let at = 12 + 4 * at;
        f64::from(f32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]))
    };
    let corner = |record: &[u8], k: usize| {
        Vector3::new(number(record, 3 * k), number(record, 3 * k + 1), number(record, 3 * k + 2))
    };
    let records = bytes[HEADER..].chunks_exact(RECORD);
    records.map(|record| [corner(record, 0), corner(record, 1), corner(record, 2)]).collect()
}

fn text(bytes: &[u8]) -> Result<Vec<[Vector3; 3]>, StlError> {
    let mut corners = Vec::new();
    for (line, words) in String::from_utf8_lossy(bytes).lines().enumerate() {
        let Some(numbers) = words.trim_start().strip_prefix("vertex") else { continue };
        let numbers: Vec<f64> = numbers.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match numbers.as_slice() {
            [x, y, z] => corners.push(Vector3::new(*x, *y, *z)),
            _ => return Err(StlError::BadVertex { line: line + 1 }),
        }
    }
    let (triangles, rest) = corners.as_chunks::<3>();
    if rest.is_empty() {
        Ok(triangles.to_vec())
    } else {
        Err(StlError::LooseCorners { count: corners.len() })
    }
}

/// The area vectors of a closed surface add up to zero.
fn check(triangles: &[[Vector3; 3]]) -> Result<(), StlError> {
    // Single precision leaves 1e-7 of each corner; holes and turned faces leave far more.
    const GAP: f64 = 1e-4;
    if triangles.is_empty() {
        return Err(StlError::Empty);
    }
    let (mut area, mut sum) = (0.0, Vector3::zeros());
    for (index, [a, b, c]) in triangles.iter().enumerate() {
        let vector = 0.5 * (b - a).cross(&(c - a));
        if !vector.iter().all(|value| value.is_finite()) {
            return Err(StlError::NotFinite { triangle: index + 1 });
        }
        area += vector.norm();
        sum += vector;
    }
    let gap = sum.norm() / area;
    // Written so that a surface without area is refused too.
    if gap <= GAP { Ok(()) } else { Err(StlError::Open { gap }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron with its right angle at the origin.
    const FACES: [[[f64; 3]; 3]; 4] = [
        [[0.0; 3], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
        [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.0; 3], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ];

    fn as_text(faces: &[[[f64; 3]; 3]]) -> String {
        let mut text = String::from("solid test\n");
        for face in faces {
            text.push_str("facet normal 0 0 0\n outer loop\n");
            for [x, y, z] in face {
                text.push_str(&format!("  vertex {x} {y:e} {z}\n"));
            }
            text.push_str(" endloop\nendfacet\n");
        }
        text + "endsolid test\n"
    }

    fn as_binary(faces: &[[[f64; 3]; 3]]) -> Vec<u8> {
        let mut bytes = b"solid but binary".to_vec();
        bytes.resize(80, b' ');
        bytes.extend((faces.len() as u32).to_le_bytes());
        for face in faces {
            bytes.extend([0; 12]);
            bytes.extend(face.iter().flatten().flat_map(|value| (*value as f32).to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn both_forms_hold_the_same_triangles() {
        let expected = FACES.map(|face| face.map(Vector3::from));
        assert_eq!(read(as_text(&FACES).as_bytes()).unwrap(), expected);
        assert_eq!(read(&as_binary(&FACES)).unwrap(), expected);
    }

    #[test]
    fn bad_files_are_refused_with_their_reason() {
        assert!(matches!(read(as_text(&FACES[..3]).as_bytes()), Err(StlError::Open { .. })));
        assert_eq!(read(b"solid x\nendsolid"), Err(StlError::Empty));
        assert_eq!(read(b"solid x\nvertex 1 2\n"), Err(StlError::BadVertex { line: 2 }));
        assert_eq!(read(b"solid x\nvertex 1 2 3\n"), Err(StlError::LooseCorners { count: 1 }));
        assert_eq!(read(b"nonsense"), Err(StlError::NotStl));
        let mut short = as_binary(&FACES);
        short.truncate(150);
        assert!(matches!(
            read(&short),
            Err(StlError::NotStl | StlError::WrongLength { .. } | StlError::Empty)
        ));
        let mut plain = vec![b'x'; 80];
        plain.extend(7u32.to_le_bytes());
        assert!(matches!(read(&plain), Err(StlError::WrongLength { count: 7, .. })));
        let not_a_number = as_text(&FACES).replace("vertex 1 0e0 0", "vertex NaN 0 0");
        assert!(matches!(read(not_a_number.as_bytes()), Err(StlError::NotFinite { .. })));
    }
}
