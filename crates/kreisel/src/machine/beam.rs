//! A beam of a model: its nodes, elements and stations by name.
//!
//! `beam.start`, `beam.end`, `beam.node-3` and `beam.at-0.5` name sections of a beam as `body.marker` names a
//! marker; a station between nodes can be measured but carries nothing.

use crate::element::Element;
use crate::element::beam::{
    Beam, BeamStrain, GAUSS, QuadraticBeam, Section, Segment, SegmentLoad, Span, Weights,
};
use crate::kinematics::{Motion, NodeId};
use crate::lie::{Pose, Vector6};

/// A section at a node: the node or body that carries it, and where on it.
#[derive(Clone, Copy, Debug)]
pub struct BeamNode {
    /// Node, or `None` for the ground.
    pub node: Option<NodeId>,
    /// Initial pose of the node in the world; the identity for the ground.
    pub body: Pose,
    /// Frame of the section in axes of the node, or in the world on the ground.
    pub offset: Pose,
}

impl BeamNode {
    /// Initial pose of the section in the world.
    pub fn pose(&self) -> Pose {
        self.body.compose(&self.offset)
    }
}

/// The stretch of a beam between two neighbouring nodes.
#[derive(Clone, Debug)]
pub struct BeamPiece {
    /// Its initial shape.
    pub span: Span,
    /// Sections at its ends; at a corner they differ from those of its neighbours.
    pub ends: [BeamNode; 2],
}

/// An elastic element: one piece with two nodes, or two pieces with three.
#[derive(Clone, Debug)]
pub enum BeamElement {
    /// Of first order.
    Screw(Box<Beam>),
    /// Of second order.
    Quadratic(Box<QuadraticBeam>),
}

/// What a section carries for one element: its inertia and weight, and its load, as parts of their own about
/// the section.
#[derive(Clone, Debug)]
pub struct SectionShare {
    /// Inertia, weight and damping in proportion to them.
    pub inertia: Segment,
    /// Load along the length.
    pub load: Option<SegmentLoad>,
}

impl BeamElement {
    /// Nodes in the order of the element's local rows.
    pub fn nodes(&self) -> &[NodeId] {
        match self {
            Self::Screw(element) => element.facts().nodes,
            Self::Quadratic(element) => element.facts().nodes,
        }
    }

    /// Strain and section forces at one of its points.
    pub fn strain(&self, point: usize, at: &Motion) -> BeamStrain {
        match self {
            Self::Screw(element) => element.strain(at),
            Self::Quadratic(element) => element.strains(at)[point.min(1)],
        }
    }

    /// Wrenches on its sections, in their axes, with the sign of the equilibrium; an element with two has
    /// none on the third.
    pub fn section_wrenches(&self, at: &Motion) -> [Vector6; 3] {
        match self {
            Self::Screw(element) => {
                let [first, second] = element.section_wrenches(at);
                [first, second, Vector6::zeros()]
            }
            Self::Quadratic(element) => element.section_wrenches(at),
        }
    }

    /// Its pulls in N, and at which part of its length they are.
    pub(crate) fn pulls(&self, at: &Motion) -> impl Iterator<Item = (f64, f64)> {
        let forces = match self {
            Self::Screw(element) => [element.strain(at).force[3]; 2],
            Self::Quadratic(element) => element.strains(at).map(|strain| strain.force[3]),
        };
        self.points().iter().copied().zip(forces)
    }

    /// Where strains are told, from the element's start in parts of its length.
    pub(crate) fn points(&self) -> &'static [f64] {
        match self {
            Self::Screw(_) => &[0.5],
            Self::Quadratic(_) => &[0.5 - 0.5 * GAUSS, 0.5 + 0.5 * GAUSS],
        }
    }
}

/// A beam with its pieces and elements in order.
#[derive(Clone, Debug)]
pub struct BeamEntry {
    /// Name.
    pub name: String,
    /// Its pieces.
    pub pieces: Vec<BeamPiece>,
    /// Its elements, each of `order` pieces.
    pub elements: Vec<BeamElement>,
    /// What its sections carry for each element, section by section.
    pub shares: Vec<Vec<SectionShare>>,
    /// One of the elements of the system that are its load, in whose memory the inputs of the load are.
    pub load_element: Option<usize>,
    /// Pieces in an element.
    pub order: usize,
    /// What its sections resist and weigh.
    pub section: Section,
    /// Whether its nodes lie at equal lengths of the curve, which its pieces have only nearly.
    pub is_even: bool,
}

/// Where a name such as `at-0.5` points to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BeamPlace {
    /// A node, counted from 0.
    Node(usize),
    /// A part of the length of a piece.
    Within(usize, f64),
}

/// What a name such as `at-0.5` means on a beam.
#[derive(Clone, Copy, Debug)]
pub enum Station {
    /// A section at a node.
    Node(BeamNode),
    /// A section between two nodes.
    Within {
        /// The piece between them.
        piece: usize,
        /// Part of its length from its first end.
        part: f64,
    },
}

/// Shares of a beam's length that are the same place: a third typed with ten digits is a third.
const SAME_PLACE: f64 = 1e-9;

impl BeamEntry {
    /// Length in m.
    pub fn length(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.span.length()).sum()
    }

    /// The smaller shear stiffness of its sections in N: a beam that is pulled by more turns its sections
    /// over.
    pub fn shear_limit(&self) -> f64 {
        let flexibility = self.section.flexibility();
        let [a, b, c] = [(4, 4), (5, 5), (4, 5)].map(|entry| flexibility[entry]);
        let largest = 0.5 * (a + b) + (0.25 * (a - b).powi(2) + c * c).sqrt();
        1.0 / largest
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.pieces.len() + 1
    }

    /// The section at a node, counted from 0.
    pub fn node(&self, index: usize) -> Option<BeamNode> {
        match self.pieces.get(index) {
            Some(piece) => Some(piece.ends[0]),
            None if index == self.pieces.len() => self.pieces.last().map(|piece| piece.ends[1]),
            None => None,
        }
    }

    /// The section that a word means: `start`, `end`, `node-3`, `at-0.5`.
    pub fn station(&self, word: &str) -> Option<Station> {
        match self.place(word)? {
            BeamPlace::Node(index) => self.node(index).map(Station::Node),
            BeamPlace::Within(piece, part) => Some(Station::Within { piece, part }),
        }
    }

    /// Where the section is that a word means.
    pub fn place(&self, word: &str) -> Option<BeamPlace> {
        match word {
            "start" => Some(BeamPlace::Node(0)),
            "end" => Some(BeamPlace::Node(self.pieces.len())),
            _ => match (word.strip_prefix("node-"), word.strip_prefix("at-")) {
                (Some(index), _) => {
                    Some(BeamPlace::Node(index.parse().ok().filter(|index| *index <= self.pieces.len())?))
                }
                (_, Some(part)) => self.at(part.parse().ok()?),
                _ => None,
            },
        }
    }

    /// The place at a part of the length.
    fn at(&self, part: f64) -> Option<BeamPlace> {
        if !(0.0..=1.0).contains(&part) {
            return None;
        }
        let (piece, part) = self.piece_at(part);
        let same = SAME_PLACE * self.pieces.len() as f64;
        Some(match part {
            part if part < same => BeamPlace::Node(piece),
            part if part > 1.0 - same => BeamPlace::Node(piece + 1),
            part => BeamPlace::Within(piece, part),
        })
    }

    /// Piece at a part of the length, and the part of its own length.
    fn piece_at(&self, part: f64) -> (usize, f64) {
        if self.is_even {
            let (place, last) = (part * self.pieces.len() as f64, self.pieces.len() - 1);
            let piece = (place as usize).min(last);
            return (piece, (place - piece as f64).min(1.0));
        }
        let mut rest = part * self.length();
        for (index, piece) in self.pieces.iter().enumerate() {
            let length = piece.span.length();
            if rest <= length || index + 1 == self.pieces.len() {
                return (index, (rest / length).min(1.0));
            }
            rest -= length;
        }
        (0, 0.0)
    }

    /// The section from whose motion, and the others with whose screws from it times their weights, that of a
    /// section between two nodes follows: the interpolation of the element.
    pub fn interpolation(&self, piece: usize, part: f64) -> (BeamNode, Vec<(BeamNode, f64)>) {
        if self.order == 1 {
            let [first, second] = self.pieces[piece].ends;
            return (first, vec![(second, part)]);
        }
        let first = piece - piece % 2;
        let weights = Weights::at((piece % 2) as f64 + part - 1.0).values;
        let [start, middle] = self.pieces[first].ends;
        let end = self.pieces[first + 1].ends[1];
        (middle, vec![(start, weights[0]), (end, weights[1])])
    }

    /// Nodes in order, for the line that shows the beam; the ground has none.
    pub fn line(&self) -> Vec<NodeId> {
        (0..self.node_count()).filter_map(|index| self.node(index)?.node).collect()
    }

    /// Words that name its nodes, to suggest in place of an unknown one.
    pub fn station_names(&self) -> Vec<String> {
        let nodes = (0..self.node_count()).map(|index| format!("{}.node-{index}", self.name));
        [format!("{}.start", self.name), format!("{}.end", self.name)].into_iter().chain(nodes).collect()
    }
}
