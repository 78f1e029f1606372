//! `trajectory.vtkhdf`: every node and every signal over time, in one HDF5 file.
//!
//! ParaView opens it as a time series of points and lines, h5py and MATLAB as tables. Below, N is the number of
//! output times and n the number of nodes; rows of one time stand together.
//!
//! | in the file | what |
//! |---|---|
//! | `/` | attributes `program`, `version`, `format-version` |
//! | `/signals/time` | N times in s |
//! | `/signals/<name>` | N values; attribute `unit` |
//! | `/nodes/name` | n names, in the order of the points |
//! | `/VTKHDF/Points` | N·n × 3 positions in m, world axes |
//! | `/VTKHDF/PointData/rotation` | N·n × 4 unit quaternions w, x, y, z, world from body |
//! | `/VTKHDF/PointData/velocity` | N·n × 3 in m/s, world axes |
//! | `/VTKHDF/PointData/angular-velocity` | N·n × 3 in rad/s, world axes |
//! | `/VTKHDF/PointData/id` | n numbers of the nodes |
//! | `/VTKHDF/Vertices`, `Lines` | nodes that stand alone, and poly lines through the others |
//! | `/VTKHDF/FieldData` | the signals once more, by hard links, for ParaView's plots |
//!
//! The rest of `/VTKHDF` is what the VTKHDF file format 2.0 asks of PolyData that change with time. The shape of
//! the scene does not change, so all steps share it, and the tables that say so take no room.
//!
//! Memory stays bounded: a part of a table goes to the file when a chunk is full. Every [`FLUSH_INTERVAL`] all that
//! was pushed becomes readable; a run that is killed loses what came after.

use super::channel::{self, Channel};
use super::error::WriteError;
use super::hdf5::image::{Address, Attribute, Element, Image, Place};
use super::hdf5::{Hdf5File, TableId, TableShape};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the file is made readable up to the last step: rare beside steps, often beside a user's patience.
pub const FLUSH_INTERVAL: Duration = Duration::from_secs(2);

/// Version of the layout described in this module; a change that breaks readers raises it.
pub const FORMAT_VERSION: i64 = 1;

/// Steps in a chunk, at most: long enough to be read fast, short enough not to bloat the file of a short run.
const MOST_CHUNK_STEPS: u64 = 1024;
/// Bytes that the filling chunks of all signals together may take.
const SIGNAL_BYTES: u64 = 1 << 20;
/// Steps in a chunk of a signal, at least; below, the index would outgrow the numbers.
const LEAST_SIGNAL_STEPS: u64 = 64;
/// Bytes of a chunk of node data that are aimed at.
const NODE_CHUNK_BYTES: u64 = 1 << 16;
/// Rows of a chunk never exceed this, so that its size in bytes fits the format's 32 bits.
const MOST_CHUNK_ROWS: u64 = 1 << 20;

/// A group of one tree node, as we write it, holds four times as many.
const MOST_SIGNALS: usize = 1_000_000;

/// What there is to be seen: nodes, and lines that join some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// Bodies and beam nodes.
    pub nodes: Vec<SceneNode>,
    /// Poly lines, as indices of the nodes they pass through; a beam is one.
    pub lines: Vec<Vec<usize>>,
}

impl Scene {
    fn check(&self) -> Result<(), WriteError> {
        let node_count = self.nodes.len();
        for (line, nodes) in self.lines.iter().enumerate() {
            if let Some(&node) = nodes.iter().find(|&&node| node >= node_count) {
                return Err(WriteError::UnknownNode { line, node, node_count });
            }
        }
        match self.nodes.iter().find(|node| node.name.contains('\0')) {
            Some(node) => {
                Err(WriteError::BadName { name: node.name.clone(), reason: "it has a zero character" })
            }
            None => Ok(()),
        }
    }

    /// The nodes that no line shows, each as a cell of its own.
    fn vertices(&self) -> Vec<Vec<usize>> {
        let mut is_on_line = vec![false; self.nodes.len()];
        self.lines.iter().flatten().for_each(|&node| is_on_line[node] = true);
        (0..self.nodes.len()).filter(|&node| !is_on_line[node]).map(|node| vec![node]).collect()
    }
}

/// One node of the scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneNode {
    /// Name of the body, or of the beam with the node's place.
    pub name: String,
}

/// Where a node is and how it moves, at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeState {
    /// Position in m, world axes.
    pub position: [f64; 3],
    /// Rotation from body to world axes as unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// Velocity in m/s, world axes.
    pub velocity: [f64; 3],
    /// Angular velocity in rad/s, world axes.
    pub angular_velocity: [f64; 3],
}

/// Writes a trajectory step by step.
#[derive(Debug)]
pub struct VtkHdfWriter {
    file: Hdf5File,
    path: PathBuf,
    layout: Layout,
    node_count: usize,
    step_count: i64,
    last_flush: Instant,
}

impl VtkHdfWriter {
    /// Starts a trajectory in an empty file; `path` is only named in errors.
    pub fn new(file: File, path: &Path, scene: &Scene, signals: &[Channel]) -> Result<Self, WriteError> {
        scene.check()?;
        channel::check(signals)?;
        if signals.len() > MOST_SIGNALS {
            return Err(WriteError::TooManySignals { count: signals.len(), most: MOST_SIGNALS });
        }
        let (image, layout) = Layout::build(scene, signals);
        let file = Hdf5File::create(file, image).map_err(|source| WriteError::io(path, source))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            layout,
            node_count: scene.nodes.len(),
            step_count: 0,
            last_flush: Instant::now(),
        })
    }

    /// Adds an output time: the state of each node and the value of each signal.
    pub fn push(&mut self, time: f64, nodes: &[NodeState], values: &[f64]) -> Result<(), WriteError> {
        check_length("nodes", self.node_count, nodes.len())?;
        check_length("values", self.layout.signals.len(), values.len())?;
        self.append(time, nodes, values).map_err(|source| WriteError::io(&self.path, source))?;
        if self.last_flush.elapsed() >= FLUSH_INTERVAL { self.flush() } else { Ok(()) }
    }

    /// Makes every step so far readable, also by others and after a kill.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.last_flush = Instant::now();
        let numbers = [(self.layout.step_count, self.step_count)];
        self.file.flush(&numbers).map_err(|source| WriteError::io(&self.path, source))
    }

    /// Makes every step readable and brings the file to the disk.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.flush()?;
        self.file.sync().map_err(|source| WriteError::io(&self.path, source))
    }

    fn append(&mut self, time: f64, nodes: &[NodeState], values: &[f64]) -> std::io::Result<()> {
        let (file, layout) = (&mut self.file, &self.layout);
        for node in nodes {
            file.append_floats(layout.points, &node.position)?;
            file.append_floats(layout.rotation, &node.rotation)?;
            file.append_floats(layout.velocity, &node.velocity)?;
            file.append_floats(layout.angular_velocity, &node.angular_velocity)?;
        }
        for (&signal, value) in layout.signals.iter().zip(values) {
            file.append_floats(signal, std::slice::from_ref(value))?;
        }
        file.append_floats(layout.time, &[time])?;
        file.append_integer(layout.step_numbers, self.step_count)?;
        file.append_integer(layout.point_offsets, self.step_count * nodes.len() as i64)?;
        layout.constants.iter().for_each(|&table| file.append_fill(table, 1));
        self.step_count += 1;
        Ok(())
    }
}

fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), WriteError> {
    if expected == got { Ok(()) } else { Err(WriteError::RowLength { what, expected, got }) }
}

/// The tables of a trajectory.
#[derive(Debug)]
struct Layout {
    points: TableId,
    rotation: TableId,
    velocity: TableId,
    angular_velocity: TableId,
    time: TableId,
    signals: Vec<TableId>,
    /// 0, 1, 2, …: where each step's signals are.
    step_numbers: TableId,
    /// 0, n, 2n, …: where each step's points are.
    point_offsets: TableId,
    /// Tables with the same row for each step.
    constants: Vec<TableId>,
    step_count: Place,
}

impl Layout {
    fn build(scene: &Scene, signals: &[Channel]) -> (Image, Self) {
        let mut builder = Builder::new(scene, signals);
        let nodes = NodeTables::build(&mut builder.image, scene.nodes.len() as u64);
        let time = builder.signal(&Channel::time());
        let signal_tables: Vec<_> = signals.iter().map(|signal| builder.signal(signal)).collect();
        let step_numbers = builder.per_step();
        let point_offsets = builder.per_step();

        let named: Vec<_> = signals.iter().map(|signal| signal.name.as_str()).collect();
        let addresses: Vec<_> = signal_tables.iter().map(|table| table.0).collect();
        let fields: Vec<_> = named.iter().copied().zip(addresses).collect();
        let times = [(Channel::time().name, time.0)];
        let signal_group: Vec<_> =
            times.iter().map(|(name, time)| (name.as_str(), *time)).chain(fields.iter().copied()).collect();

        let steps = builder.steps(time.0, point_offsets.0, step_numbers.0, &named);
        let vtk = builder.vtk(scene, &nodes, steps.group, &fields);
        builder.root(scene, vtk, &signal_group);
        let layout = Self {
            points: nodes.points.1,
            rotation: nodes.rotation.1,
            velocity: nodes.velocity.1,
            angular_velocity: nodes.angular_velocity.1,
            time: time.1,
            signals: signal_tables.iter().map(|table| table.1).collect(),
            step_numbers: step_numbers.1,
            point_offsets: point_offsets.1,
            constants: builder.constants,
            step_count: steps.count,
        };
        (builder.image, layout)
    }
}

type TableParts = (Address, TableId);

struct NodeTables {
    points: TableParts,
    rotation: TableParts,
    velocity: TableParts,
    angular_velocity: TableParts,
}

impl NodeTables {
    fn build(image: &mut Image, node_count: u64) -> Self {
        let mut table = |columns: u64, unit: &str| {
            let step_bytes = (node_count * columns * 8).max(1);
            let steps = (NODE_CHUNK_BYTES / step_bytes).clamp(1, MOST_CHUNK_STEPS);
            let chunk_rows = (steps * node_count).clamp(1, MOST_CHUNK_ROWS);
            let shape = TableShape { columns: Some(columns), chunk_rows };
            image.growing(shape, Element::Float, &[("unit", Attribute::Text(unit))])
        };
        Self {
            points: table(3, "m"),
            rotation: table(4, "1"),
            velocity: table(3, "m/s"),
            angular_velocity: table(3, "rad/s"),
        }
    }
}

struct Steps {
    group: Address,
    count: Place,
}

struct Builder {
    image: Image,
    /// Steps in a chunk of a signal.
    signal_steps: u64,
    constants: Vec<TableId>,
}

impl Builder {
    fn new(scene: &Scene, signals: &[Channel]) -> Self {
        let units = signals.iter().map(|signal| signal.unit.as_str());
        let names = scene.nodes.iter().map(|node| node.name.as_str());
        let ours = ["m", "1", "m/s", "rad/s", "s", "kreisel", env!("CARGO_PKG_VERSION")];
        let image = Image::new(signals.len() + 1, ours.into_iter().chain(units).chain(names));
        let signal_steps = SIGNAL_BYTES / (8 * (signals.len() as u64 + 1));
        let signal_steps = signal_steps.clamp(LEAST_SIGNAL_STEPS, MOST_CHUNK_STEPS);
        Self { image, signal_steps, constants: Vec::new() }
    }

    fn signal(&mut self, channel: &Channel) -> TableParts {
        let shape = TableShape { columns: None, chunk_rows: self.signal_steps };
        self.image.growing(shape, Element::Float, &[("unit", Attribute::Text(&channel.unit))])
    }

    fn per_step(&mut self) -> TableParts {
        let shape = TableShape { columns: None, chunk_rows: self.signal_steps };
        self.image.growing(shape, Element::Integer { fill: 0 }, &[])
    }

    /// A table that repeats one number.
    fn constant(&mut self, fill: i64, columns: Option<u64>) -> Address {
        let shape = TableShape { columns, chunk_rows: self.signal_steps };
        let (address, table) = self.image.growing(shape, Element::Integer { fill }, &[]);
        self.constants.push(table);
        address
    }

    /// The group that tells VTK where the data of each step are.
    fn steps(&mut self, time: Address, points: Address, numbers: Address, signals: &[&str]) -> Steps {
        let zeros = self.constant(0, None);
        let ones = self.constant(1, None);
        let cell_zeros = self.constant(0, Some(4)); // vertices, lines, polygons, strips
        let one_value = self.constant(1, Some(2)); // components, tuples
        let point_data =
            [("rotation", points), ("velocity", points), ("angular-velocity", points), ("id", zeros)];
        let point_data = self.image.group(&[], &point_data).0;
        let mut members = vec![
            ("Values", time),
            ("PartOffsets", zeros),
            ("NumberOfParts", ones),
            ("PointOffsets", points),
            ("CellOffsets", cell_zeros),
            ("ConnectivityIdOffsets", cell_zeros),
            ("PointDataOffsets", point_data),
        ];
        if !signals.is_empty() {
            let same = |address| signals.iter().map(|&name| (name, address)).collect::<Vec<_>>();
            members.push(("FieldDataOffsets", self.image.group(&[], &same(numbers)).0));
            members.push(("FieldDataSizes", self.image.group(&[], &same(one_value)).0));
        }
        let (group, places) = self.image.group(&[("NSteps", Attribute::Integer(0))], &members);
        Steps { group, count: places[0] }
    }

    fn vtk(
        &mut self,
        scene: &Scene,
        nodes: &NodeTables,
        steps: Address,
        fields: &[(&str, Address)],
    ) -> Address {
        let ids: Vec<i64> = (0..scene.nodes.len() as i64).collect();
        let id = self.image.integers(&ids);
        let point_data = [
            ("rotation", nodes.rotation.0),
            ("velocity", nodes.velocity.0),
            ("angular-velocity", nodes.angular_velocity.0),
            ("id", id),
        ];
        let mut members = vec![
            ("NumberOfPoints", self.image.integers(&[scene.nodes.len() as i64])),
            ("Points", nodes.points.0),
            ("PointData", self.image.group(&[], &point_data).0),
            ("Vertices", self.cells(&scene.vertices())),
            ("Lines", self.cells(&scene.lines)),
            ("Polygons", self.cells(&[])),
            ("Strips", self.cells(&[])),
            ("Steps", steps),
        ];
        if !fields.is_empty() {
            members.push(("FieldData", self.image.group(&[], fields).0));
        }
        let attributes = [("Version", Attribute::Integers(&[2, 0])), ("Type", Attribute::Ascii("PolyData"))];
        self.image.group(&attributes, &members).0
    }

    fn cells(&mut self, cells: &[Vec<usize>]) -> Address {
        let nodes: Vec<i64> = cells.iter().flatten().map(|&node| node as i64).collect();
        let ends = cells.iter().scan(0, |end, cell| {
            *end += cell.len() as i64;
            Some(*end)
        });
        let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
        let members = [
            ("NumberOfCells", self.image.integers(&[cells.len() as i64])),
            ("NumberOfConnectivityIds", self.image.integers(&[nodes.len() as i64])),
            ("Offsets", self.image.integers(&offsets)),
            ("Connectivity", self.image.integers(&nodes)),
        ];
        self.image.group(&[], &members).0
    }

    fn root(&mut self, scene: &Scene, vtk: Address, signals: &[(&str, Address)]) {
        let names: Vec<&str> = scene.nodes.iter().map(|node| node.name.as_str()).collect();
        let names = self.image.texts(&names);
        let nodes = self.image.group(&[], &[("name", names)]).0;
        let signals = self.image.group(&[], signals).0;
        let attributes = [
            ("program", Attribute::Text("kreisel")),
            ("version", Attribute::Text(env!("CARGO_PKG_VERSION"))),
            ("format-version", Attribute::Integer(FORMAT_VERSION)),
        ];
        let root =
            self.image.group(&attributes, &[("VTKHDF", vtk), ("nodes", nodes), ("signals", signals)]).0;
        self.image.set_root(root);
    }
}
