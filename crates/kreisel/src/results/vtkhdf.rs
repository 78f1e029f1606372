//! `trajectory.vtkhdf`: every node and every signal over time, in one HDF5 file.
//!
//! ParaView opens it as a time series of surfaces, points and lines, h5py and MATLAB as tables. Below, N is
//! the number of output times, F that of those which are drawn (all up to 1999, then 1000 to 1999 of them and
//! the last), n the number of nodes and m that of points on the shapes; rows of one time stand together.
//!
//! | in the file | what |
//! |---|---|
//! | `/` | attributes `program`, `version`, `format-version` |
//! | `/signals/time` | N times in s |
//! | `/signals/<name>` | N values; attribute `unit` |
//! | `/nodes/name` | n names |
//! | `/nodes/position` | N·n × 3 positions in m, world axes |
//! | `/nodes/rotation` | N·n × 4 unit quaternions w, x, y, z, world from body |
//! | `/nodes/velocity` | N·n × 3 in m/s, world axes |
//! | `/nodes/angular-velocity` | N·n × 3 in rad/s, world axes |
//! | `/VTKHDF/Steps` | where each of the F drawings is: `Values` its time, `FieldDataOffsets` its output time |
//! | `/VTKHDF/Points` | positions in m, world axes, n + m of a drawing: the nodes, then the points on the shapes |
//! | `/VTKHDF/PointData/velocity` | likewise in m/s, world axes |
//! | `/VTKHDF/PointData/id` | n + m numbers of the nodes that the points move with, −1 for the ground |
//! | `/VTKHDF/PointData/strain` | likewise six: κ in 1/m and γ of a beam's element at its ends, zero elsewhere |
//! | `/VTKHDF/PointData/section-force` | likewise torque in Nm and force in N, without damping |
//! | `/VTKHDF/Vertices`, `Lines`, `Polygons` | nodes, elements of beams, shapes; without beams no strains |
//! | `/VTKHDF/FieldData` | the signals once more, by hard links, for ParaView's plots |
//!
//! The rest of `/VTKHDF` is what the VTKHDF file format 2.0 asks of PolyData that change with time. The shape
//! of the scene does not change, so all steps share it, and the tables that say so take no room. A file is to
//! grow with the motion, not with its decoration: drawings have single precision and a limited number,
//! and drawings that were given up leave rows in these tables that no step names.
//! Shapes with many points are drawn as boxes, and beyond that as points. Stretches of a signal, or of
//! velocities, that are zero throughout take no room, and those of one other number are there once.
//!
//! Memory stays bounded: a part of a table goes to the file when a chunk is full. Every [`FLUSH_INTERVAL`]
//! all that was pushed becomes readable; a run that is killed loses what came after.

use super::channel::{self, Channel};
use super::checksum::ResultFile;
use super::error::{DAMAGED, WriteError};
use super::film::{Film, FilmFrame, point_motion};
use super::hdf5::image::{Address, Attribute, ElementType, Image, ImageOffset};
use super::hdf5::{Hdf5File, TableId, TableShape};
use super::scene::{Scene, SceneElement};
use super::skin::Skin;
use crate::bytes::{Damaged, Reader, Writer};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the file is made readable up to the last step: rare beside steps, often beside a user's
/// patience.
pub const FLUSH_INTERVAL: Duration = Duration::from_secs(2);

/// Version of the layout described in this module; a change that breaks readers raises it.
pub const FORMAT_VERSION: i64 = 3;

/// Steps in a chunk, at most: long enough to be read fast, short enough not to bloat the file of a short run.
const MAX_CHUNK_STEPS: u64 = 1024;
/// Bytes that the filling chunks of all signals together may take.
const SIGNAL_BYTES: u64 = 1 << 20;
/// Steps in a chunk of a signal, at least; below, the index would outgrow the numbers.
const MIN_SIGNAL_STEPS: u64 = 64;
/// Bytes of a chunk of node data that are aimed at.
const NODE_CHUNK_BYTES: u64 = 1 << 16;
/// Drawings whose times and places stand in one chunk.
const FRAMES_IN_CHUNK: u64 = 256;
/// Rows of a chunk never exceed this, so that its size in bytes fits the format's 32 bits.
const MAX_CHUNK_ROWS: u64 = 1 << 20;

/// A group of one tree node, as we write it, holds four times as many.
const MAX_SIGNALS: usize = 1_000_000;

/// Name of the motion of a run.
pub const FILE: &str = "trajectory.vtkhdf";

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
    layout: TrajectoryTables,
    node_count: usize,
    skin: Skin,
    elements: Vec<SceneElement>,
    step_count: i64,
    film: Film,
    /// Time and nodes of the last output time, if it was not drawn.
    undrawn: Option<f64>,
    undrawn_nodes: Vec<NodeState>,
    last_flush: Instant,
}

impl VtkHdfWriter {
    /// Starts a trajectory in an empty file; `path` is only named in errors.
    pub fn new(
        file: impl Into<ResultFile>,
        path: &Path,
        scene: &Scene,
        signals: &[Channel],
    ) -> Result<Self, WriteError> {
        Self::over(path, scene, signals, (0, Film::new(None)), |image| Hdf5File::create(file.into(), image))
    }

    /// Tells a new trajectory how many output times there will be, about: fewer are drawn in vain.
    #[must_use]
    pub fn expecting(self, count: Option<u64>) -> Self {
        let film = if self.step_count == 0 { Film::new(count) } else { self.film };
        Self { film, ..self }
    }

    /// Saves where a flushed trajectory stands.
    pub(crate) fn save(&mut self, out: &mut Writer) -> Result<(), WriteError> {
        out.whole(self.step_count.cast_unsigned());
        self.film.save(out);
        out.flag(self.undrawn.is_some());
        if let Some(time) = self.undrawn {
            out.number(time);
            self.undrawn_nodes.iter().for_each(|node| node.save(out));
        }
        self.file.save(out).map_err(|source| WriteError::io(&self.path, source))
    }

    /// Goes on with a trajectory from a saved position; what was written after it is dropped.
    pub(crate) fn resume(
        file: ResultFile,
        path: &Path,
        scene: &Scene,
        signals: &[Channel],
        reader: &mut Reader,
    ) -> Result<Self, WriteError> {
        let unknown = |Damaged| WriteError::unknown_place(path);
        let step_count = reader.whole().map_err(unknown)?.cast_signed();
        let film = Film::restore(reader).map_err(unknown)?;
        let mut nodes = Vec::new();
        let undrawn = if reader.flag().map_err(unknown)? {
            let time = reader.number().map_err(unknown)?;
            let saved = scene.nodes.iter().map(|_| NodeState::restore(reader));
            nodes = saved.collect::<Result<_, _>>().map_err(unknown)?;
            Some(time)
        } else {
            None
        };
        let before = (step_count, film);
        let mut writer =
            Self::over(path, scene, signals, before, |image| Hdf5File::resume(file, image, reader))?;
        (writer.undrawn, writer.undrawn_nodes) = (undrawn, nodes);
        writer.flush()?;
        writer.file.cut().map_err(|source| WriteError::io(path, source))?;
        Ok(writer)
    }

    fn over(
        path: &Path,
        scene: &Scene,
        signals: &[Channel],
        (step_count, film): (i64, Film),
        open: impl FnOnce(Image) -> io::Result<Hdf5File>,
    ) -> Result<Self, WriteError> {
        check_scene(scene)?;
        channel::check(signals)?;
        if signals.len() > MAX_SIGNALS {
            return Err(WriteError::TooManySignals { count: signals.len(), most: MAX_SIGNALS });
        }
        let skin = Skin::from_scene(scene);
        let (image, layout) = TrajectoryTables::build(scene, &skin, signals);
        let file = open(image).map_err(|source| match source.kind() {
            io::ErrorKind::InvalidData => WriteError::NotResumable { path: path.to_owned(), reason: DAMAGED },
            _ => WriteError::io(path, source),
        })?;
        Ok(Self {
            file,
            path: path.to_owned(),
            layout,
            node_count: scene.nodes.len(),
            skin,
            elements: scene.elements().cloned().collect(),
            step_count,
            film,
            undrawn: None,
            undrawn_nodes: Vec::new(),
            last_flush: Instant::now(),
        })
    }

    /// Brings what was flushed to the disk.
    pub fn sync(&self) -> Result<(), WriteError> {
        self.file.sync().map_err(|source| WriteError::io(&self.path, source))
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
        let numbers = [(self.layout.step_count, self.film.frames().len() as i64)];
        self.file.flush(&numbers).map_err(|source| WriteError::io(&self.path, source))
    }

    /// Makes every step readable and brings the file to the disk.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.complete()
    }

    /// Draws the last output time, makes every step readable and brings the file to the disk; nothing is
    /// added any more.
    pub(crate) fn complete(&mut self) -> Result<(), WriteError> {
        if let Some(time) = self.undrawn.take() {
            let nodes = std::mem::take(&mut self.undrawn_nodes);
            let drawn = self.draw(time, self.step_count - 1, &nodes);
            drawn.map_err(|source| WriteError::io(&self.path, source))?;
        }
        self.flush()?;
        self.sync()
    }

    fn append(&mut self, time: f64, nodes: &[NodeState], values: &[f64]) -> io::Result<()> {
        let (file, layout) = (&mut self.file, &self.layout);
        for node in nodes {
            file.append_floats(layout.position, &node.position)?;
            file.append_floats(layout.rotation, &node.rotation)?;
            file.append_floats(layout.velocity, &node.velocity)?;
            file.append_floats(layout.angular_velocity, &node.angular_velocity)?;
        }
        for (&signal, value) in layout.signals.iter().zip(values) {
            file.append_floats(signal, std::slice::from_ref(value))?;
        }
        file.append_floats(layout.time, &[time])?;
        let record = self.step_count;
        self.step_count += 1;
        if self.film.wants(record) && self.film.make_room() {
            layout.per_frame().for_each(|table| file.clear(table));
            let frames = self.film.frames().to_vec();
            self.enter_frames(&frames)?;
        }
        if self.film.wants(record) {
            self.undrawn = None;
            return self.draw(time, record, nodes);
        }
        self.undrawn = Some(time);
        self.undrawn_nodes.clear();
        self.undrawn_nodes.extend_from_slice(nodes);
        Ok(())
    }

    /// Draws an output time.
    fn draw(&mut self, time: f64, record: i64, nodes: &[NodeState]) -> io::Result<()> {
        let (file, layout) = (&mut self.file, &self.layout);
        for node in nodes {
            file.append_singles(layout.points, &node.position)?;
            file.append_singles(layout.point_velocity, &node.velocity)?;
        }
        for (node, point) in &self.skin.points {
            let (position, velocity) =
                node.map_or((*point, [0.0; 3]), |node| point_motion(&nodes[node], *point));
            file.append_singles(layout.points, &position)?;
            file.append_singles(layout.point_velocity, &velocity)?;
        }
        if let Some([strain_table, force_table]) = layout.strains {
            let mut append = |[strain, force]: [[f64; 6]; 2]| {
                file.append_singles(strain_table, &strain)?;
                file.append_singles(force_table, &force)
            };
            (0..nodes.len()).try_for_each(|_| append([[0.0; 6]; 2]))?;
            for element in &self.elements {
                let [strain, force] = element.strain(nodes);
                append([strain, force])?;
                append([strain, force])?;
            }
            (2 * self.elements.len()..self.skin.points.len()).try_for_each(|_| append([[0.0; 6]; 2]))?;
        }
        let frame = self.film.push(time, record);
        self.enter_frames(&[frame])
    }

    /// Writes when drawings are and where.
    fn enter_frames(&mut self, frames: &[FilmFrame]) -> io::Result<()> {
        let (file, layout) = (&mut self.file, &self.layout);
        let point_count = (self.node_count + self.skin.points.len()) as i64;
        for frame in frames {
            file.append_floats(layout.frame_times, &[frame.time])?;
            file.append_integer(layout.frame_records, frame.record)?;
            file.append_integer(layout.point_offsets, frame.place * point_count)?;
        }
        layout.constants.iter().for_each(|&table| file.append_fill(table, frames.len() as u64));
        Ok(())
    }
}

fn check_scene(scene: &Scene) -> Result<(), WriteError> {
    let node_count = scene.nodes.len();
    for (line, element) in scene.elements().enumerate() {
        if let Some(node) = element.nodes.into_iter().flatten().find(|&node| node >= node_count) {
            return Err(WriteError::UnknownNode { line, node, node_count });
        }
    }
    if let Some(body) = scene.bodies.iter().find(|body| body.node >= node_count) {
        return Err(WriteError::BadName { name: body.name.clone(), reason: "its node is not in the scene" });
    }
    match scene.nodes.iter().find(|node| node.name.contains('\0')) {
        Some(node) => Err(WriteError::BadName { name: node.name.clone(), reason: "it has a zero character" }),
        None => Ok(()),
    }
}

/// The nodes that no line shows, each as a cell of its own.
fn vertices(scene: &Scene) -> Vec<Vec<usize>> {
    let mut is_on_line = vec![false; scene.nodes.len()];
    scene.elements().flat_map(|element| element.nodes).flatten().for_each(|node| is_on_line[node] = true);
    (0..scene.nodes.len()).filter(|&node| !is_on_line[node]).map(|node| vec![node]).collect()
}

fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), WriteError> {
    if expected == got { Ok(()) } else { Err(WriteError::RowLength { what, expected, got }) }
}

/// The tables of a trajectory.
#[derive(Debug)]
struct TrajectoryTables {
    position: TableId,
    rotation: TableId,
    velocity: TableId,
    angular_velocity: TableId,
    points: TableId,
    point_velocity: TableId,
    /// Strains and section forces, if there are beams.
    strains: Option<[TableId; 2]>,
    time: TableId,
    signals: Vec<TableId>,
    /// The time of each drawing.
    frame_times: TableId,
    /// Where the signals of each drawing are.
    frame_records: TableId,
    /// Where the points of each drawing are.
    point_offsets: TableId,
    /// Tables with the same row for each drawing.
    constants: Vec<TableId>,
    step_count: ImageOffset,
}

impl TrajectoryTables {
    fn build(scene: &Scene, skin: &Skin, signals: &[Channel]) -> (Image, Self) {
        let mut builder = ImageBuilder::new(scene, signals);
        let nodes = NodeTables::build(&mut builder.image, scene.nodes.len(), skin);
        let time = builder.signal(&Channel::time(), false);
        let signal_tables: Vec<_> = signals.iter().map(|signal| builder.signal(signal, true)).collect();
        let frame_times = builder.per_frame(ElementType::Float);
        let frame_records = builder.per_frame(ElementType::Integer { fill: 0 });
        let point_offsets = builder.per_frame(ElementType::Integer { fill: 0 });

        let named: Vec<_> = signals.iter().map(|signal| signal.name.as_str()).collect();
        let addresses: Vec<_> = signal_tables.iter().map(|table| table.0).collect();
        let fields: Vec<_> = named.iter().copied().zip(addresses).collect();
        let times = [(Channel::time().name, time.0)];
        let signal_group: Vec<_> =
            times.iter().map(|(name, time)| (name.as_str(), *time)).chain(fields.iter().copied()).collect();

        let drawings = [frame_times.0, point_offsets.0, frame_records.0];
        let steps = builder.steps(drawings, &named, nodes.strains.is_some());
        let vtk = builder.vtk(scene, skin, &nodes, steps.group, &fields);
        builder.root(scene, vtk, &nodes, &signal_group);
        let layout = Self {
            position: nodes.position.1,
            rotation: nodes.rotation.1,
            velocity: nodes.velocity.1,
            angular_velocity: nodes.angular_velocity.1,
            points: nodes.points.1,
            point_velocity: nodes.point_velocity.1,
            strains: nodes.strains.map(|tables| tables.map(|table| table.1)),
            time: time.1,
            signals: signal_tables.iter().map(|table| table.1).collect(),
            frame_times: frame_times.1,
            frame_records: frame_records.1,
            point_offsets: point_offsets.1,
            constants: builder.constants,
            step_count: steps.count,
        };
        (builder.image, layout)
    }

    /// Tables with a row for each drawing.
    fn per_frame(&self) -> impl Iterator<Item = TableId> {
        let own = [self.frame_times, self.frame_records, self.point_offsets];
        own.into_iter().chain(self.constants.iter().copied())
    }
}

type TableParts = (Address, TableId);

struct NodeTables {
    position: TableParts,
    rotation: TableParts,
    velocity: TableParts,
    angular_velocity: TableParts,
    points: TableParts,
    point_velocity: TableParts,
    strains: Option<[TableParts; 2]>,
}

impl NodeTables {
    fn build(image: &mut Image, node_count: usize, skin: &Skin) -> Self {
        let (nodes, points) = (node_count as u64, (node_count + skin.points.len()) as u64);
        let mut table = |rows: u64, columns: u64, (element, is_sparse): (ElementType, bool), unit: &str| {
            let step_bytes = (rows * columns * element.size() as u64).max(1);
            let steps = (NODE_CHUNK_BYTES / step_bytes).clamp(1, MAX_CHUNK_STEPS);
            let chunk_rows = (steps * rows).clamp(1, MAX_CHUNK_ROWS);
            let shape = TableShape { columns: Some(columns), chunk_rows, is_sparse };
            image.growing(shape, element, &[("unit", Attribute::Text(unit))])
        };
        let pose = (ElementType::Float, false);
        let rate = (ElementType::Float, true);
        let drawn = (ElementType::Single, true);
        Self {
            position: table(nodes, 3, pose, "m"),
            rotation: table(nodes, 4, pose, "1"),
            velocity: table(nodes, 3, rate, "m/s"),
            angular_velocity: table(nodes, 3, rate, "rad/s"),
            points: table(points, 3, drawn, "m"),
            point_velocity: table(points, 3, drawn, "m/s"),
            strains: (!skin.lines.is_empty())
                .then(|| [table(points, 6, drawn, "1/m, 1"), table(points, 6, drawn, "Nm, N")]),
        }
    }
}

struct Steps {
    group: Address,
    count: ImageOffset,
}

struct ImageBuilder {
    image: Image,
    /// Steps in a chunk of a signal.
    signal_steps: u64,
    constants: Vec<TableId>,
}

impl ImageBuilder {
    fn new(scene: &Scene, signals: &[Channel]) -> Self {
        let units = signals.iter().map(|signal| signal.unit.as_str());
        let names = scene.nodes.iter().map(|node| node.name.as_str());
        let ours = ["m", "1", "m/s", "rad/s", "s", "1/m, 1", "Nm, N", "kreisel", env!("CARGO_PKG_VERSION")];
        let image = Image::new(signals.len() + 1, ours.into_iter().chain(units).chain(names));
        let signal_steps = SIGNAL_BYTES / (8 * (signals.len() as u64 + 1));
        let signal_steps = signal_steps.clamp(MIN_SIGNAL_STEPS, MAX_CHUNK_STEPS);
        Self { image, signal_steps, constants: Vec::new() }
    }

    fn signal(&mut self, channel: &Channel, is_sparse: bool) -> TableParts {
        let shape = TableShape { columns: None, chunk_rows: self.signal_steps, is_sparse };
        self.image.growing(shape, ElementType::Float, &[("unit", Attribute::Text(&channel.unit))])
    }

    fn per_frame(&mut self, element: ElementType) -> TableParts {
        let shape = TableShape { columns: None, chunk_rows: FRAMES_IN_CHUNK, is_sparse: false };
        self.image.growing(shape, element, &[])
    }

    /// A table that repeats one number.
    fn constant(&mut self, fill: i64, columns: Option<u64>) -> Address {
        let shape = TableShape { columns, chunk_rows: FRAMES_IN_CHUNK, is_sparse: false };
        let (address, table) = self.image.growing(shape, ElementType::Integer { fill }, &[]);
        self.constants.push(table);
        address
    }

    /// The group that tells VTK where the data of each step are.
    fn steps(&mut self, [time, points, numbers]: [Address; 3], signals: &[&str], has_strains: bool) -> Steps {
        let zeros = self.constant(0, None);
        let ones = self.constant(1, None);
        let cell_zeros = self.constant(0, Some(4)); // vertices, lines, polygons, strips
        let one_value = self.constant(1, Some(2)); // components, tuples
        let mut point_data = vec![("velocity", points), ("id", zeros)];
        if has_strains {
            point_data.extend([("strain", points), ("section-force", points)]);
        }
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
        skin: &Skin,
        nodes: &NodeTables,
        steps: Address,
        fields: &[(&str, Address)],
    ) -> Address {
        let on_shapes = skin.points.iter().map(|(node, _)| node.map_or(-1, |node| node as i64));
        let ids: Vec<i64> = (0..scene.nodes.len() as i64).chain(on_shapes).collect();
        let mut point_data = vec![("velocity", nodes.point_velocity.0), ("id", self.image.integers(&ids))];
        if let Some([strain, force]) = nodes.strains {
            point_data.extend([("strain", strain.0), ("section-force", force.0)]);
        }
        // The points on shapes and beams follow the nodes.
        let first = scene.nodes.len();
        let lines: Vec<Vec<usize>> =
            skin.lines.iter().map(|ends| ends.map(|end| end + first).to_vec()).collect();
        let surface = |corners: &[usize; 3]| corners.map(|corner| corner + first).to_vec();
        let polygons: Vec<Vec<usize>> = skin.triangles.iter().map(surface).collect();
        let mut members = vec![
            ("NumberOfPoints", self.image.integers(&[ids.len() as i64])),
            ("Points", nodes.points.0),
            ("PointData", self.image.group(&[], &point_data).0),
            ("Vertices", self.cells(&vertices(scene))),
            ("Lines", self.cells(&lines)),
            ("Polygons", self.cells(&polygons)),
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

    fn root(&mut self, scene: &Scene, vtk: Address, tables: &NodeTables, signals: &[(&str, Address)]) {
        let names: Vec<&str> = scene.nodes.iter().map(|node| node.name.as_str()).collect();
        let names = self.image.texts(&names);
        let members = [
            ("name", names),
            ("position", tables.position.0),
            ("rotation", tables.rotation.0),
            ("velocity", tables.velocity.0),
            ("angular-velocity", tables.angular_velocity.0),
        ];
        let nodes = self.image.group(&[], &members).0;
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
