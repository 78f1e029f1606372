//! An animated scene as binary glTF 2.0 (`.glb`), which any 3-D program plays.
//!
//! Each body is a node with its shapes as meshes, each section of a beam one with half of the elements beside
//! it; its pose at the frames of the recording is an animation with straight paths and steady rotations
//! between. glTF has y upwards, so that all hangs below a node that turns the machine's own upward direction
//! there. Names of parts are names of nodes.

use super::Recording;
use super::palette::Palette;
use super::shape::beam_halves;
use super::symbol::{symbol, symbol_size};
use crate::lie::Vector3;
use crate::results::mesh::Mesh;
use crate::results::scene::{SceneJoint, SceneShape};
use nalgebra::UnitQuaternion;
use serde_json::{Value, json};

/// Corners of a circle.
const SLICES: usize = 32;

const FLOAT: u32 = 5126;
const UNSIGNED: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// The scene and its motion as one binary file.
pub fn glb(recording: &Recording) -> Vec<u8> {
    let mut writer = GltfWriter::default();
    let times = writer.times(&recording.motion.times);
    let mut children = Vec::new();
    let palette = Palette::new(&recording.scene);
    for (place, body) in recording.scene.bodies.iter().enumerate() {
        let material = writer.material(palette.body(place));
        let mut meshes = Vec::with_capacity(body.shapes.len());
        for shape in &body.shapes {
            let own = shape.linear_colour().map(|colour| writer.material(colour));
            meshes.push((Mesh::from_shape(shape, SLICES), own.unwrap_or(material)));
        }
        let node = writer.node(&body.name, &meshes);
        writer.animate(recording, body.node, node, times);
        for joint in recording.scene.joints.iter().filter(|joint| joint.nodes[1] == Some(body.node)) {
            let child = writer.joint(joint, 1, symbol_size(&recording.scene, joint, size(recording)));
            writer.add_child(node, child);
        }
        children.push(node);
    }
    for (place, beam) in recording.scene.beams.iter().enumerate() {
        let material = writer.material(palette.beam(place));
        let halves = beam_halves(beam, SLICES / 2);
        for group in halves.chunk_by(|(first, _), (second, _)| first == second) {
            let Some(carrier) = group[0].0 else { continue };
            let meshes: Vec<_> = group.iter().map(|(_, mesh)| (mesh.clone(), material)).collect();
            let node = writer.node(&recording.scene.nodes[carrier].name, &meshes);
            writer.animate(recording, carrier, node, times);
            children.push(node);
        }
    }
    let up = Vector3::from(recording.scene.up);
    let upright = UnitQuaternion::rotation_between(&up, &Vector3::y())
        .filter(|_| up.norm() > 0.0)
        .unwrap_or_else(UnitQuaternion::identity);
    let [x, y, z, w] = upright.coords.into();
    writer
        .nodes
        .push(json!({ "name": recording.scene.title, "rotation": [x, y, z, w], "children": children }));
    writer.finish()
}

/// Largest distance of a frame from the first one's centre; one for a machine that is a point.
fn size(recording: &Recording) -> f64 {
    let poses = &recording.motion.poses;
    let Some(first) = poses.first() else { return 1.0 };
    let far = poses.iter().map(|pose| (pose.position - first.position).norm()).fold(0.0, f64::max);
    if far > 0.0 { far } else { 1.0 }
}

#[derive(Default)]
struct GltfWriter {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    nodes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl GltfWriter {
    fn view(&mut self, bytes: impl Iterator<Item = u8>, target: Option<u32>) -> usize {
        let offset = self.bytes.len();
        self.bytes.extend(bytes);
        let mut view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": self.bytes.len() - offset });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    /// Rows of single-precision numbers; positions and times need their bounds.
    fn floats<const N: usize>(&mut self, rows: &[[f32; N]], kind: &str, target: Option<u32>) -> usize {
        let view = self.view(rows.iter().flatten().flat_map(|number| number.to_le_bytes()), target);
        let bound = |choose: fn(f32, f32) -> f32, start: f32| -> Vec<f32> {
            (0..N).map(|axis| rows.iter().map(|row| row[axis]).fold(start, choose)).collect()
        };
        let (low, high) = (bound(f32::min, f32::INFINITY), bound(f32::max, f32::NEG_INFINITY));
        self.accessors.push(json!({
            "bufferView": view, "componentType": FLOAT, "count": rows.len(), "type": kind, "min": low, "max": high,
        }));
        self.accessors.len() - 1
    }

    fn times(&mut self, times: &[f64]) -> Option<usize> {
        // An animation starts at zero, and a picture of one time stands still.
        let start = *times.first()?;
        let rows: Vec<[f32; 1]> = times.iter().map(|time| [(time - start) as f32]).collect();
        (rows.len() > 1).then(|| self.floats(&rows, "SCALAR", None))
    }

    fn material(&mut self, [red, green, blue]: [f64; 3]) -> usize {
        self.materials.push(json!({
            "pbrMetallicRoughness": {
                "baseColorFactor": [red, green, blue, 1.0], "metallicFactor": 0.1, "roughnessFactor": 0.6,
            },
        }));
        self.materials.len() - 1
    }

    /// Surfaces with their materials.
    fn mesh(&mut self, meshes: &[(Mesh, usize)], name: &str) -> Option<usize> {
        let primitives: Vec<Value> = (meshes.iter().filter(|(mesh, _)| !mesh.triangles.is_empty()))
            .map(|(mesh, material)| {
                let points: Vec<[f32; 3]> = mesh.points.iter().map(|point| point.map(|x| x as f32)).collect();
                let position = self.floats(&points, "VEC3", Some(VERTICES));
                let corners = mesh.triangles.iter().flatten().map(|corner| *corner as u32);
                let view = self.view(corners.flat_map(u32::to_le_bytes), Some(INDICES));
                self.accessors.push(json!({
                    "bufferView": view, "componentType": UNSIGNED, "count": 3 * mesh.triangles.len(), "type": "SCALAR",
                }));
                let indices = self.accessors.len() - 1;
                json!({ "attributes": { "POSITION": position }, "indices": indices, "material": material })
            })
            .collect();
        if primitives.is_empty() {
            return None;
        }
        self.meshes.push(json!({ "name": name, "primitives": primitives }));
        Some(self.meshes.len() - 1)
    }

    fn node(&mut self, name: &str, meshes: &[(Mesh, usize)]) -> usize {
        let mut node = json!({ "name": name });
        if let Some(mesh) = self.mesh(meshes, name) {
            node["mesh"] = json!(mesh);
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn joint(&mut self, joint: &SceneJoint, side: usize, size: f64) -> usize {
        let material = self.material([0.03, 0.03, 0.04]);
        let meshes = symbol(&joint.kind, size).into_iter().map(|geometry| {
            let frame = joint.frames[side];
            let shape = SceneShape { geometry, frame, default_shape: true, colour: None };
            (Mesh::from_shape(&shape, SLICES / 2), material)
        });
        self.node(&joint.name, &meshes.collect::<Vec<_>>())
    }

    fn add_child(&mut self, node: usize, child: usize) {
        match self.nodes[node].get_mut("children").and_then(Value::as_array_mut) {
            Some(children) => children.push(json!(child)),
            None => self.nodes[node]["children"] = json!([child]),
        }
    }

    fn animate(&mut self, recording: &Recording, from: usize, node: usize, times: Option<usize>) {
        let poses = || recording.motion.node_poses(from);
        let translations: Vec<[f32; 3]> = poses()
            .map(|pose| [pose.position.x, pose.position.y, pose.position.z].map(|x| x as f32))
            .collect();
        let rotations: Vec<[f32; 4]> = poses()
            .map(|pose| {
                let q = pose.rotation;
                [q.i, q.j, q.k, q.w].map(|x| x as f32)
            })
            .collect();
        let (Some(translation), Some(rotation)) = (translations.first(), rotations.first()) else { return };
        self.nodes[node]["translation"] = json!(translation);
        self.nodes[node]["rotation"] = json!(rotation);
        let Some(times) = times else { return };
        let outputs = [
            ("translation", self.floats(&translations, "VEC3", None)),
            ("rotation", self.floats(&rotations, "VEC4", None)),
        ];
        for (path, output) in outputs {
            self.samplers.push(json!({ "input": times, "output": output, "interpolation": "LINEAR" }));
            let target = json!({ "node": node, "path": path });
            self.channels.push(json!({ "sampler": self.samplers.len() - 1, "target": target }));
        }
    }

    /// Header, JSON padded with blanks, numbers padded with zeros (glTF 2.0, Section 4).
    fn finish(self) -> Vec<u8> {
        let mut scene = json!({
            "asset": { "version": "2.0", "generator": format!("kreisel {}", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{ "nodes": [self.nodes.len() - 1] }],
            "nodes": self.nodes,
        });
        let lists = [
            ("meshes", self.meshes),
            ("materials", self.materials),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
        ];
        // An empty list is not allowed.
        for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            scene[key] = Value::Array(list);
        }
        if !self.channels.is_empty() {
            scene["animations"] =
                json!([{ "name": "run", "samplers": self.samplers, "channels": self.channels }]);
        }
        if !self.bytes.is_empty() {
            scene["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        }
        let mut text = scene.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut numbers = self.bytes;
        numbers.resize(numbers.len().next_multiple_of(4), 0);
        let mut chunks = chunk(b"JSON", &text);
        if !numbers.is_empty() {
            chunks.extend(chunk(b"BIN\0", &numbers));
        }
        let mut file = b"glTF".to_vec();
        file.extend(2_u32.to_le_bytes());
        file.extend((12 + chunks.len() as u32).to_le_bytes());
        file.extend(chunks);
        file
    }
}

fn chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    [&(content.len() as u32).to_le_bytes()[..], kind, content].concat()
}
