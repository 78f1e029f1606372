//! Inputs to begin with: the model files of the project, samples of every part, expressions of every kind,
//! and files of a short run.

use crate::mutate::{Random, mutated};
use crate::target::{self, TARGETS, Target};
use kreisel::integrate::Integrator;
use kreisel::machine::Machine;
use kreisel::part;
use kreisel::results::{ModelIdentity, RunSummary};
use kreisel::run::{CheckpointHeader, Recorder, ResultFiles, Stepper};
use kreisel::sweep::{Journal, Outcome, SweepRow, SweepSummary};
use std::path::Path;
use std::sync::Arc;

const EXPRESSIONS: &[&str] = &[
    "1",
    "-x^2",
    "2*length + 3 mm",
    "if(x > 0.5, sin(2*pi*t), 0)",
    "sqrt(abs(x)) / (1 + y^2)",
    "min(max(x, 0), 1) - mod(t, 0.2)",
    "atan2(y, x) * exp(-t)",
    "step(t - 1) * (t - 1)",
    "1e-3*floor(x) + ceil(y) - sign(t)",
    "((((x))))",
    "10 kN/m",
    "9.81 m/s^2",
    "tanh(x*y*t)",
    "ln(x) + log10(y)",
    "x - length-y",
    "-(-(-x))",
    "1/0",
    "x != y && t >= 0",
];

/// Name of [`MODEL`].
pub const SEED: &str = "seed.toml";

/// A run in a few words whose files are part of the corpus.
pub const MODEL: &str = "[simulation]\nend-time = 0.02\nstep = '1 ms'\n[[body]]\nname = 'bob'\nmass = 1\n\
    inertia = [1, 1, 1]\nposition = [1, 0, 0]\n[[revolute]]\nname = 'hinge'\nbodies = ['ground', 'bob']\npoint = [0, 0, 0]\n\
    axis = [0, 1, 0]\n[[event]]\nname = 'low'\nzero-of = 'bob.position.z + 0.0001'\n";

/// What the inputs of each target are made from, in the order of the targets.
pub struct Corpus(Vec<Vec<Vec<u8>>>);

impl Corpus {
    /// Reads the models of a folder and makes a short run.
    pub fn gather(models: &Path) -> std::io::Result<Self> {
        let mut texts = vec![MODEL.as_bytes().to_vec()];
        texts.extend(part::parts().map(|entry| entry.sample.as_bytes().to_vec()));
        let mut paths: Vec<_> =
            std::fs::read_dir(models)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        // The order of a folder differs from computer to computer, and so would the inputs.
        paths.sort();
        for path in paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml")) {
            texts.push(std::fs::read(path)?);
        }
        let (mut results, checkpoints, motions) = files().map_err(std::io::Error::other)?;
        let sweep = SweepSummary::new(&target::identity(), target::JOURNAL_RUNS, 1);
        results.push(sweep.with_file("sweep.csv", b"run\n").to_json().into_bytes());
        let journals = vec![journal().map_err(std::io::Error::other)?];
        let surfaces = vec![SURFACE.as_bytes().to_vec(), binary_surface()];
        let expressions = EXPRESSIONS.iter().map(|text| text.as_bytes().to_vec()).collect();
        let tables = TABLES.iter().map(|text| text.as_bytes().to_vec()).collect();
        let meshes = MESHES.iter().map(|text| text.as_bytes().to_vec()).collect();
        let states = states().map_err(std::io::Error::other)?;
        let robots = vec![
            include_bytes!("../../../models/arm.urdf").to_vec(),
            MJCF.as_bytes().to_vec(),
            SDF.as_bytes().to_vec(),
        ];
        let of = |target: &Target| match target.name {
            "expression" => &expressions,
            "results" => &results,
            "checkpoint" | "resume" => &checkpoints,
            "motion" => &motions,
            "journal" => &journals,
            "surface" => &surfaces,
            "robot" => &robots,
            "table" => &tables,
            "mesh" => &meshes,
            "state" => &states,
            _ => &texts,
        };
        Ok(Self(TARGETS.iter().map(of).cloned().collect()))
    }

    /// Target and input of an execution.
    pub fn input(&self, number: u64) -> (&'static Target, Vec<u8>) {
        let mut random = Random::new(number);
        let mut place = random.below(TARGETS.iter().map(|target| target.share).sum());
        let mut index = 0;
        while place >= TARGETS[index].share {
            place -= TARGETS[index].share;
            index += 1;
        }
        (&TARGETS[index], mutated(&self.0[index], &mut random))
    }
}

/// A robot of MuJoCo with something of everything.
const MJCF: &str = "<mujoco model='r'><compiler angle='radian' eulerseq='xyz' settotalmass='3'/><option gravity='0 0 -9'/>\n\
    <default><joint damping='0.1'/><default class='a'><geom density='5' rgba='1 0 0 1'/></default></default>\n\
    <worldbody><geom type='plane' size='1 1 1'/><body name='b' pos='0 0 1' euler='0.1 0 0' childclass='a'><freejoint/>\n\
    <inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><frame pos='1 0 0' zaxis='0 1 0'><site name='s' size='1'/>\n\
    <body name='c'><joint name='j' axis='0 1 0' range='-1 1' ref='0.1' stiffness='2' frictionloss='0.1'/>\n\
    <joint name='k' type='slide'/><geom type='capsule' fromto='0 0 0 0 0 1' size='0.1'/></body></frame></body>\n\
    <body name='d'><joint type='ball' limited='false'/><geom type='ellipsoid' size='0.1 0.2 0.3' mass='2'/></body></worldbody>\n\
    <equality><connect body1='c' body2='d' anchor='0 0 1'/><joint joint1='j' joint2='k' polycoef='0 1 0 0 0'/></equality>\n\
    <actuator><motor joint='j' gear='5'/></actuator></mujoco>\n";

/// A robot of Gazebo with something of everything.
const SDF: &str = "<sdf version='1.9'><world name='w'><gravity>0 0 -9</gravity><model name='m'><pose>0 0 1 0 0 0</pose>\n\
    <link name='a'><inertial><pose>0 0 1 0 0 0</pose><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>\n\
    </inertial><visual name='v'><geometry><box><size>1 1 1</size></box></geometry></visual></link>\n\
    <link name='b'><pose relative_to='f'>1 0 0 0 0 0</pose></link><frame name='f' attached_to='a'><pose>0 1 0 0 0 0</pose></frame>\n\
    <model name='n'><link name='c'/></model>\n\
    <joint name='j' type='revolute'><parent>world</parent><child>a</child><axis><xyz expressed_in='f'>0 1 0</xyz>\n\
    <limit><lower>-1</lower><upper>1</upper><effort>3</effort></limit><dynamics><damping>1</damping></dynamics></axis></joint>\n\
    <joint name='k' type='universal'><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>\n\
    <joint name='l' type='screw'><parent>b</parent><child>n::c</child><axis><xyz>1 0 0</xyz></axis>\n\
    <screw_thread_pitch>0.1</screw_thread_pitch></joint></model></world></sdf>\n";

/// A tetrahedron in text form.
const SURFACE: &str = "solid a\n\
    facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n\
    facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n\
    facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n\
    facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\nendsolid a\n";

/// Tables of numbers: of two columns, of several with units, and a grid.
const TABLES: &[&str] = &[
    "0,1\n1,2\n2,4\n",
    "# measured\nangle [deg];pressure [kPa];speed\n0;101.3;1\n90;250;2\n180;1e3;3\n",
    "\t0\t1\t2\n0\t1\t2\t3\n1\t4\t5\t6\n",
];

/// A triangle as Wavefront file, a quad with normals and textures, and a triangle as Collada file.
const MESHES: &[&str] = &[
    "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nf 1/1/1 2/1/1 3//1 -1\n",
    "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'><asset><unit meter='0.01'/><up_axis>Z_UP</up_axis></asset>\
     <library_geometries><geometry id='g'><mesh><source id='p'><float_array id='a' count='9'>0 0 0 1 0 0 0 1 0</float_array>\
     <technique_common><accessor source='#a' count='3' stride='3'/></technique_common></source>\
     <vertices id='v'><input semantic='POSITION' source='#p'/></vertices>\
     <triangles count='1'><input semantic='VERTEX' source='#v' offset='0'/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>\
     <library_visual_scenes><visual_scene id='s'><node><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url='#g'/></node></visual_scene></library_visual_scenes>\
     <scene><instance_visual_scene url='#s'/></scene></COLLADA>",
];

/// The same in binary form.
fn binary_surface() -> Vec<u8> {
    let [o, x, y, z] = [[0.0_f32; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut bytes = vec![0; 80];
    bytes.extend(4_u32.to_le_bytes());
    for triangle in [[o, y, x], [o, x, z], [o, z, y], [x, y, z]] {
        bytes.extend([0; 12]);
        triangle.as_flattened().iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// The journal of a sweep with runs that ended well and badly.
fn journal() -> Result<Vec<u8>, AnyError> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("journal.jsonl");
    let (mut journal, _) = Journal::open(&path, &target::identity(), target::JOURNAL_RUNS)?;
    journal.push(&SweepRow { run: 1, measures: vec![0.5], outcome: Outcome::Done })?;
    journal.push(&SweepRow {
        run: 0,
        measures: vec![f64::NAN],
        outcome: Outcome::Failed("no step".to_owned()),
    })?;
    drop(journal);
    Ok(std::fs::read(&path)?)
}

/// A stepper of the model at its start.
pub fn stepper() -> Result<Stepper, AnyError> {
    let machine = Machine::from_text(SEED, MODEL).map_err(|errors| errors.to_string())?;
    Ok(Stepper::start(Arc::new(machine))?)
}

/// States of the stepper at the start and after some steps.
pub fn states() -> Result<Vec<Vec<u8>>, AnyError> {
    let mut stepper = stepper()?;
    let first = stepper.state().to_bytes();
    let _ = stepper.advance_to(5e-3, |_| true);
    Ok(vec![first, stepper.state().to_bytes()])
}

/// Results, checkpoints, motions.
type Files = (Vec<Vec<u8>>, Vec<Vec<u8>>, Vec<Vec<u8>>);
/// Whatever went wrong with making an input.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Result files and checkpoints of a run.
fn files() -> Result<Files, AnyError> {
    let folder = tempfile::tempdir()?;
    let checkpoints = short_run(folder.path(), true)?;
    let read = |name: &str| std::fs::read(folder.path().join(name));
    let results = vec![read("trajectory.csv")?, read("scene.json")?, read("run.json")?];
    Ok((results, checkpoints, vec![read("trajectory.vtkhdf")?]))
}

/// Checkpoints of a run at its start and at its end.
pub fn checkpoints() -> Result<Vec<Vec<u8>>, AnyError> {
    let folder = tempfile::tempdir()?;
    let mut checkpoints = short_run(folder.path(), false)?;
    // The last is a state alone.
    checkpoints.truncate(2);
    Ok(checkpoints)
}

/// Files with their names.
pub type NamedFiles = Vec<(std::ffi::OsString, Vec<u8>)>;

/// The files of a run that was killed after its last checkpoint.
pub fn unfinished() -> Result<NamedFiles, AnyError> {
    let folder = tempfile::tempdir()?;
    short_run(folder.path(), false)?;
    let entries = std::fs::read_dir(folder.path())?;
    entries
        .map(|entry| entry.and_then(|entry| Ok((entry.file_name(), std::fs::read(entry.path())?))))
        .collect::<std::io::Result<_>>()
        .map_err(AnyError::from)
}

/// Runs the model with two checkpoints, and ends the run or leaves its files as they are; gives the
/// checkpoints and a state.
fn short_run(folder: &Path, to_its_end: bool) -> Result<Vec<Vec<u8>>, AnyError> {
    let machine = Machine::from_text(SEED, MODEL).map_err(|errors| errors.to_string())?;
    let plan = machine.plan().map_err(|errors| errors.to_string())?;
    let identity = ModelIdentity::new(SEED, MODEL.as_bytes());
    let mut run = machine.start(&plan)?;
    let files = ResultFiles::begin(folder, identity.clone(), false, &machine)?;
    let mut recorder = Recorder::new(&machine, plan.output_step, files);
    let mut header = CheckpointHeader::new(identity.clone(), &machine, "none".into());
    run.begin(&mut recorder)?;
    recorder.write_checkpoint(&mut run, &mut header)?;
    let first = std::fs::read(folder.join("checkpoint.bin"))?;
    let _ = run.advance(&mut recorder);
    recorder.write_checkpoint(&mut run, &mut header)?;
    let second = std::fs::read(folder.join("checkpoint.bin"))?;
    let method = Integrator::with(*run.integration().settings());
    let state = method.start(machine.system(), machine.initial().clone())?.save().to_bytes();
    if to_its_end {
        recorder.finish(run.integration().values())?.finish(&mut RunSummary::new(identity), false)?;
    }
    Ok(vec![first, second, state])
}
