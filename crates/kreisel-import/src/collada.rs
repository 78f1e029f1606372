//! Surfaces in Collada files: triangles and polygons of the visual scene, in meters.

use crate::mesh::{Triangle, fan};
use crate::xml::{self, Element};
use kreisel::model::SourceFile;
use nalgebra::{Matrix4, Point3, Rotation3, Unit, Vector3};
use std::collections::HashMap;

/// Most triangles that are read: instances multiply them.
const MAX_TRIANGLES: usize = 1_000_000;
/// Most nodes of a scene that are walked through: instances multiply them too.
const MAX_STEPS: usize = 100_000;

/// Reads a text. Which axis is up in the file is not looked at: tools of robots take the axes as they are, and so do
/// frames of links.
pub fn read(text: &str) -> Result<Vec<Triangle>, String> {
    let file = SourceFile::new("surface.dae", text);
    let document = xml::parse(&file).map_err(|errors| errors.to_string())?;
    let root = Element::root(&document, &file);
    let scale = root.first("asset").and_then(|asset| asset.first("unit"));
    let scale = scale.and_then(|unit| unit.word("meter")).and_then(|word| word.parse().ok()).unwrap_or(1.0);
    let mut scene =
        Scene { geometries: HashMap::new(), nodes: HashMap::new(), triangles: Vec::new(), steps: 0 };
    for geometry in root.all("library_geometries").flat_map(|library| library.all("geometry")) {
        let Some(id) = geometry.word("id") else { continue };
        scene.geometries.insert(id, surface(geometry)?);
    }
    for node in root.all("library_nodes").flat_map(|library| library.all("node")) {
        node.word("id").map(|id| scene.nodes.insert(id, node));
    }
    let scenes = root.all("library_visual_scenes").flat_map(|library| library.all("visual_scene"));
    for node in scenes.flat_map(|scene| scene.all("node")) {
        scene.walk(node, Matrix4::new_scaling(scale), 0)?;
    }
    Ok(scene.triangles)
}

struct Scene<'a> {
    geometries: HashMap<&'a str, Vec<Triangle>>,
    nodes: HashMap<&'a str, Element<'a>>,
    triangles: Vec<Triangle>,
    steps: usize,
}

impl<'a> Scene<'a> {
    /// Adds what a node shows.
    fn walk(&mut self, node: Element<'a>, above: Matrix4<f64>, depth: usize) -> Result<(), String> {
        self.steps += 1;
        if depth > xml::MAX_DEPTH || self.steps > MAX_STEPS {
            return Err("its scene has too many nodes".to_owned());
        }
        let mut frame = above;
        for element in node.elements() {
            let numbers = |count| numbers(element, count);
            match element.tag() {
                "matrix" => frame *= Matrix4::from_row_slice(&numbers(16)?),
                "translate" => frame *= Matrix4::new_translation(&Vector3::from_column_slice(&numbers(3)?)),
                "scale" => {
                    frame *= Matrix4::new_nonuniform_scaling(&Vector3::from_column_slice(&numbers(3)?))
                }
                "rotate" => {
                    let values = numbers(4)?;
                    let axis = Unit::try_new(Vector3::from_column_slice(&values[..3]), 0.0);
                    let turn = axis.map(|axis| Rotation3::from_axis_angle(&axis, values[3].to_radians()));
                    frame *= turn.unwrap_or_else(Rotation3::identity).to_homogeneous();
                }
                "instance_geometry" => self.add(element, &frame)?,
                "instance_node" => {
                    if let Some(inside) = target(element, "url").and_then(|id| self.nodes.get(id).copied()) {
                        self.walk(inside, frame, depth + 1)?;
                    }
                }
                "node" => self.walk(element, frame, depth + 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, instance: Element<'a>, frame: &Matrix4<f64>) -> Result<(), String> {
        let Some(surface) = target(instance, "url").and_then(|id| self.geometries.get(id)) else {
            return Ok(());
        };
        if self.triangles.len() + surface.len() > MAX_TRIANGLES {
            return Err(format!("it has more than {MAX_TRIANGLES} triangles"));
        }
        let moved = |corner: Vector3<f64>| frame.transform_point(&Point3::from(corner)).coords;
        let mirrored = frame.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        self.triangles.extend(surface.iter().map(|triangle| {
            let [a, b, c] = triangle.map(moved);
            if mirrored { [a, c, b] } else { [a, b, c] }
        }));
        Ok(())
    }
}

fn numbers(element: Element<'_>, count: usize) -> Result<Vec<f64>, String> {
    let numbers = element.read("the text", element.text()).map_err(|error| error.to_string())?;
    if numbers.len() == count {
        Ok(numbers)
    } else {
        Err(format!("line {}: `<{}>` needs {count} numbers", element.line(), element.tag()))
    }
}

/// What an attribute refers to inside of the file.
fn target<'a>(element: Element<'a>, attribute: &str) -> Option<&'a str> {
    element.word(attribute)?.strip_prefix('#')
}

/// Triangles of a geometry.
fn surface(geometry: Element<'_>) -> Result<Vec<Triangle>, String> {
    let Some(mesh) = geometry.first("mesh") else { return Ok(Vec::new()) };
    let mut sources: HashMap<&str, Vec<Vector3<f64>>> = HashMap::new();
    for source in mesh.all("source") {
        let (Some(id), Some(array)) = (source.word("id"), source.first("float_array")) else { continue };
        let values = array.read("the text", array.text()).map_err(|error| error.to_string())?;
        sources.insert(id, values.chunks_exact(3).map(Vector3::from_column_slice).collect());
    }
    // What faces call a vertex is a list of sources, of which positions matter here.
    let mut positions: HashMap<&str, &str> = HashMap::new();
    for vertices in mesh.all("vertices") {
        let input = vertices.all("input").find(|input| input.word("semantic") == Some("POSITION"));
        if let (Some(id), Some(source)) =
            (vertices.word("id"), input.and_then(|input| target(input, "source")))
        {
            positions.insert(id, source);
        }
    }
    let mut triangles = Vec::new();
    for faces in mesh.elements().filter(|part| matches!(part.tag(), "triangles" | "polylist" | "polygons")) {
        let offset = |input: Element<'_>| input.word("offset").and_then(|word| word.parse::<usize>().ok());
        let Some(vertex) = faces.all("input").find(|input| input.word("semantic") == Some("VERTEX")) else {
            continue;
        };
        let corners =
            target(vertex, "source").and_then(|id| positions.get(id)).and_then(|id| sources.get(id));
        let Some(corners) = corners else { continue };
        let stride = faces.all("input").filter_map(offset).max().unwrap_or(0).saturating_add(1);
        let first = offset(vertex).unwrap_or(0);
        let wrong = |what: &str| format!("line {}: {what}", faces.line());
        let whole = |text: &str| -> Result<Vec<usize>, String> {
            let read =
                text.split_whitespace().map(|word| word.parse().map_err(|_| wrong("an index is no number")));
            read.collect()
        };
        let mut lists = Vec::new();
        for list in faces.all("p") {
            let used = whole(list.text())?.chunks_exact(stride).map(|chunk| chunk[first]).collect::<Vec<_>>();
            let found: Option<Vec<_>> = used.into_iter().map(|index| corners.get(index).copied()).collect();
            lists.push(found.ok_or_else(|| wrong("an index is beyond the corners"))?);
        }
        match faces.tag() {
            "triangles" => triangles.extend(
                lists
                    .iter()
                    .flat_map(|list| list.chunks_exact(3))
                    .map(|corner| [corner[0], corner[1], corner[2]]),
            ),
            "polylist" => {
                let counts =
                    faces.first("vcount").map(|counts| whole(counts.text())).transpose()?.unwrap_or_default();
                let all: Vec<_> = lists.concat();
                let mut rest = all.as_slice();
                for count in counts {
                    if count > rest.len() {
                        return Err(wrong("polygons have more corners than there are"));
                    }
                    let (polygon, others) = rest.split_at(count);
                    triangles.extend(fan(polygon));
                    rest = others;
                }
            }
            _ => triangles.extend(lists.iter().flat_map(|list| fan(list))),
        }
        if triangles.len() > MAX_TRIANGLES {
            return Err(format!("it has more than {MAX_TRIANGLES} triangles"));
        }
    }
    Ok(triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A triangle and a square, in centimetres; the square is a polygon whose corners have normals too.
    const GEOMETRY: &str = "
        <asset><unit meter='0.01'/><up_axis>Y_UP</up_axis></asset>
        <library_geometries>
        <geometry id='triangle'><mesh>
        <source id='t-places'><float_array count='9'>0 0 0 1 0 0 0 1 0</float_array></source>
        <vertices id='t-corners'><input semantic='POSITION' source='#t-places'/></vertices>
        <triangles count='1'><input semantic='VERTEX' source='#t-corners' offset='0'/><p>0 1 2</p></triangles>
        </mesh></geometry>
        <geometry id='square'><mesh>
        <source id='s-places'><float_array count='12'>0 0 0 2 0 0 2 2 0 0 2 0</float_array></source>
        <vertices id='s-corners'><input semantic='POSITION' source='#s-places'/></vertices>
        <polylist count='1'><input semantic='NORMAL' source='#none' offset='0'/>
        <input semantic='VERTEX' source='#s-corners' offset='1'/><vcount>4</vcount><p>9 0 9 1 9 2 9 3</p></polylist>
        </mesh></geometry>
        </library_geometries>";

    fn read_scene(nodes: &str, scene: &str) -> Vec<Triangle> {
        read(&format!(
            "<COLLADA>{GEOMETRY}<library_nodes>{nodes}</library_nodes><library_visual_scenes><visual_scene>{scene}\
             </visual_scene></library_visual_scenes></COLLADA>"
        ))
        .unwrap()
    }

    fn assert_triangle(found: &Triangle, centimetres: [[f64; 3]; 3]) {
        for (found, expected) in found.iter().zip(centimetres) {
            assert!((100.0 * found - Vector3::from(expected)).norm() < 1e-12, "{found} {expected:?}");
        }
    }

    #[test]
    fn units_count_and_axes_stay_as_they_are() {
        let found = read_scene("", "<node><instance_geometry url='#triangle'/></node>");
        assert_eq!(found.len(), 1);
        assert_triangle(&found[0], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    }

    #[test]
    fn transforms_act_in_their_order_and_through_instances() {
        // x' = T S R x: turned by 90° about z, stretched along x, moved.
        let found = read_scene(
            "<node id='turned'><rotate>0 0 1 90</rotate><instance_geometry url='#triangle'/></node>",
            "<node><translate>10 0 0</translate><scale>2 1 1</scale><instance_node url='#turned'/></node>
             <node><node><translate>0 0 5</translate><instance_node url='#turned'/></node></node>",
        );
        assert_eq!(found.len(), 2);
        assert_triangle(&found[0], [[10.0, 0.0, 0.0], [10.0, 1.0, 0.0], [8.0, 0.0, 0.0]]);
        assert_triangle(&found[1], [[0.0, 0.0, 5.0], [0.0, 1.0, 5.0], [-1.0, 0.0, 5.0]]);
    }

    #[test]
    fn what_is_mirrored_by_a_matrix_keeps_its_outside() {
        let matrix = "-1 0 0 3  0 1 0 0  0 0 1 0  0 0 0 1";
        let found = read_scene(
            "",
            &format!("<node><matrix>{matrix}</matrix><instance_geometry url='#triangle'/></node>"),
        );
        assert_triangle(&found[0], [[3.0, 0.0, 0.0], [3.0, 1.0, 0.0], [2.0, 0.0, 0.0]]);
    }

    #[test]
    fn polygons_become_fans_of_triangles() {
        let found = read_scene("", "<node><instance_geometry url='#square'/></node>");
        assert_eq!(found.len(), 2);
        assert_triangle(&found[0], [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0]]);
        assert_triangle(&found[1], [[0.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0]]);
    }
}
