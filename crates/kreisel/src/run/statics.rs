//! The equilibrium of a machine, recorded over the load factor.

use super::Run;
use super::recorder::{Record, Sink, node_state};
use crate::dae::{Control, Initial, Note, NoteKind, Notes, Point};
use crate::integrate::StartError;
use crate::kinematics::{NodeId, Power};
use crate::lie::Vector6;
use crate::machine::beam::BeamEntry;
use crate::machine::sensor::Reading;
use crate::machine::{EnergyBalance, Machine, MeshHistory, Mobility, StartFrom, SteadyStart};
use crate::results::{Channel, NodeState, WriteError};
use crate::statics::{
    self, Equilibrium, Instability, Solution, StaticSettings, StaticStatistics, StaticsError,
};

/// Reads the sensors at every equilibrium; the load factor takes the place of time.
pub struct StaticRecorder<'m, S> {
    machine: &'m Machine,
    sink: S,
    /// Angle of each sensor at the last equilibrium; turns are counted from there.
    angles: Vec<f64>,
    values: Vec<f64>,
    nodes: Vec<NodeState>,
    count: u64,
    failure: Option<WriteError>,
}

/// How a search for an equilibrium ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StaticOutcome {
    /// What was found, or why it was not.
    pub solution: Result<Solution, StaticsError>,
    /// The last equilibrium, if there was one.
    pub last: Option<Equilibrium>,
    /// Work, also of a search that failed.
    pub statistics: StaticStatistics,
}

impl<'m, S: Sink> StaticRecorder<'m, S> {
    /// A recorder of every equilibrium.
    pub fn new(machine: &'m Machine, sink: S) -> Self {
        Self {
            machine,
            sink,
            angles: vec![0.0; machine.signals().angle_count()],
            values: Vec::new(),
            nodes: Vec::new(),
            count: 0,
            failure: None,
        }
    }

    /// The column over which results stand.
    pub fn axis() -> Channel {
        Channel::new("load-factor", "1")
    }

    /// Number of records so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Gives the sink back, or tells what went wrong with it.
    pub fn finish(self) -> Result<S, WriteError> {
        self.failure.map_or(Ok(self.sink), Err)
    }

    /// Records an equilibrium.
    pub fn record(&mut self, at: &Equilibrium) -> Control {
        let system = &self.machine.system;
        let point = at.point();
        // An equilibrium has no past: nothing was booked, and nothing is missing.
        let mut energies = system.energies(&point);
        energies.potential *= at.load_factor;
        let balance = EnergyBalance::new(energies.total(), Power::default());
        let reading = Reading { load_factor: at.load_factor, ..Reading::new(system, point, &balance) };
        self.values.clear();
        let signals = self.machine.signals();
        for (index, sensor) in signals.recorded().iter().enumerate() {
            let angles = &mut self.angles[signals.angles_of(index)];
            let found = sensor.angles(&reading, |angle| angles[angle]);
            angles.copy_from_slice(&found);
            sensor.read(&reading, angles, &mut self.values);
        }
        self.nodes.clear();
        self.nodes.extend((0..system.node_count()).map(|node| node_state(system, NodeId(node), &point)));
        self.count += 1;
        let record = Record { time: at.load_factor, values: &self.values, nodes: &self.nodes };
        match self.sink.push(&record) {
            Ok(()) => Control::Continue,
            Err(failure) => {
                self.failure = Some(failure);
                Control::Stop
            }
        }
    }
}

/// Number of directions in words.
fn directions(found: &Instability) -> String {
    match found.directions {
        1 => "one direction".to_owned(),
        count => format!("{count} directions"),
    }
}

impl Machine {
    /// Finds the equilibrium under the loads at the start time; `watch` sees every equilibrium on the way.
    pub fn find_equilibrium(
        &self,
        settings: &StaticSettings,
        mut watch: impl FnMut(&Equilibrium) -> Control,
    ) -> StaticOutcome {
        let mut last = None;
        let initial = Initial { velocity: vec![0.0; self.initial.velocity.len()], ..self.initial.clone() };
        let (solution, statistics) = statics::search(&self.system, &initial, settings, |at| {
            last = Some(at.clone());
            watch(at)
        });
        StaticOutcome { solution, last, statistics }
    }

    /// The equilibrium under the loads at the start time.
    pub fn equilibrium(&self) -> Result<Solution, StaticsError> {
        self.find_equilibrium(&StaticSettings::default(), |_| Control::Continue).solution
    }

    /// What the model and the search for its equilibrium give to know.
    pub fn static_notes(&self, outcome: &StaticOutcome) -> Notes {
        let mut notes = self.notes().clone();
        if let Ok(solution) = &outcome.solution {
            notes.extend(self.consistency_notes(&solution.start_report));
            let mobility = Mobility::from_redundancy(&self.system, &solution.redundancy);
            // A structure that cannot move is what statics is for.
            let moves = self.mobility_notes(&mobility).into_iter();
            notes.extend(moves.filter(|note| note.kind != NoteKind::Immobile));
            if let Some(instability) = &solution.instability {
                let since = match instability.from_start {
                    true => "from the first equilibrium on".to_owned(),
                    false => format!("from the load factor {:.4} on", instability.load_factor),
                };
                let what = format!("the equilibrium is unstable in {}, {since}", directions(instability));
                notes.add(self.instability_note(instability, &what, &solution.equilibrium.point()));
            }
            notes.extend(self.equilibrium_notes(solution));
        }
        notes
    }

    /// What the user should know of an unstable equilibrium.
    fn instability_note(&self, found: &Instability, what: &str, at: &Point) -> Note {
        let mut text = format!("{what}: a small push lets the machine move away, most in {}", found.equation);
        // Equations are in words, with the node's name between backticks.
        let node = found.equation.split('`').nth(1).unwrap_or_default();
        let is_of = |beam: &&BeamEntry| {
            node.strip_prefix(beam.name.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        let beam = self.frames().beams().iter().find(is_of);
        let is_section = beam.is_some();
        // The axis of a beam is the x axis of its sections.
        let is_twist = found.equation.starts_with("the torque") && found.equation.ends_with("along x");
        let mesh = beam.filter(|_| is_twist).and_then(|beam| {
            let twisting = self.twisting_elements(beam, at)?;
            (twisting.count >= found.directions).then_some((beam, twisting))
        });
        if let Some((beam, twisting)) = mesh {
            let advice = format!("`elements = {}` would do", twisting.enough);
            let text = format!(
                "the mesh of the beam `{}` is too coarse for its torsional stiffness: {what}, most in {}, by elements that twist \
                 under their pull because they are long and bent far; {advice}",
                beam.name, found.equation
            );
            let note = Note::new(NoteKind::CoarseMesh, text).about(&beam.name);
            return note.number(found.directions as f64).advice(advice);
        }
        let advice = "where that is a section of a limp beam it may be its mesh: compare with `order = 2` and more `elements`";
        if is_section {
            text = format!("{text}; {advice}");
        }
        let note = Note::new(NoteKind::UnstableEquilibrium, text).number(found.directions as f64);
        if is_section { note.advice(advice) } else { note }
    }

    /// Tells of a run that starts at an equilibrium which is unstable.
    pub(super) fn unstable_start(&self, run: &Run) -> Option<Note> {
        if self.settings.start != StartFrom::Static {
            return None;
        }
        let integration = run.integration();
        let found = statics::instability_at(&self.system, integration.values(), integration.redundancy())?;
        let what = format!("the run starts at an equilibrium that is unstable in {}", directions(&found));
        let at = integration.values().point();
        Some(self.instability_note(&found, &what, &at).at(self.initial.time))
    }

    /// What the beams of an equilibrium give to know.
    pub(super) fn equilibrium_notes(&self, solution: &Solution) -> Notes {
        let point = solution.equilibrium.point();
        let mut notes = Notes::default();
        notes.extend(self.pull_notes(&point));
        notes.extend(self.mesh_notes(&point, 0.0, &mut MeshHistory::default()));
        notes
    }

    /// Where a run starts: at the positions of the model, or at the equilibrium if the settings say so.
    pub fn starting_values(&self) -> Result<Initial, StartError> {
        let mut initial = self.initial.clone();
        if self.settings.start == StartFrom::Static {
            let found = self.equilibrium().map_err(|error| match error {
                StaticsError::Start(error) => StartError::Initial(error),
                error => StartError::NoEquilibrium { reason: error.to_string() },
            })?;
            initial.configuration = found.equilibrium.values.configuration;
            initial.internal_states = found.equilibrium.values.internal_states;
        } else if self.starts_steady()
            && let Some(SteadyStart::Found(states)) = self.steady_start()
        {
            initial.internal_states = states;
        }
        Ok(initial)
    }

    /// The body that lies farthest from its initial position, and how far, in m.
    pub fn largest_displacement(&self, at: &Equilibrium) -> Option<(String, f64)> {
        let point = at.point();
        let start = crate::dae::Point { configuration: &self.initial.configuration, ..point };
        let name = |node: usize| self.system.node_name(NodeId(node)).to_owned();
        let distance = |node: usize| {
            let [now, then] = [&point, &start].map(|at| self.system.motion(NodeId(node), at).pose.position);
            (now - then).norm()
        };
        (0..self.system.node_count())
            .map(|node| (node, distance(node)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(node, distance)| (name(node), distance))
    }

    /// Wrench of every joint on its second body at the joint's point, in world axes, by name.
    pub fn reactions(&self, at: &Equilibrium) -> Vec<(String, Vector6)> {
        let point = at.point();
        (0..self.system.joint_count())
            .map(|joint| (self.system.joint_name(joint).to_owned(), self.system.reaction(joint, &point)))
            .collect()
    }
}
