//! A beam of a model: its nodes, elements and stations by name.
//!
//! `beam.start`, `beam.end`, `beam.node-3` and `beam.at-0.5` name sections of a beam as `body.marker` names a marker;
//! a station between nodes can be measured but carries nothing.

use crate::element::Element;
use crate::element::beam::{Beam, BeamStrain, GAUSS, QuadraticBeam, Section, Span, Weights};
use crate::kinematics::{Motion, NodeId};
use crate::lie::Pose;

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

/// One of the points at which an element tells strains, and its weight in an interpolation.
#[derive(Clone, Debug)]
pub struct StrainPoint {
    /// The element.
    pub element: BeamElement,
    /// Which of its points.
    pub point: usize,
    /// The weight.
    pub weight: f64,
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
    /// Pieces in an element.
    pub order: usize,
    /// What its sections resist and weigh.
    pub section: Section,
    /// Whether its nodes lie at equal lengths of the curve, which its pieces have only nearly.
    pub is_even: bool,
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

/// Shares of a beam's length that are the same place.
const SAME_PLACE: f64 = 1e-9;

impl BeamEntry {
    /// Length in m.
    pub fn length(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.span.length()).sum()
    }

    /// The smaller shear stiffness of its sections in N: a beam that is pulled by more turns its sections over.
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
        match word {
            "start" => self.node(0).map(Station::Node),
            "end" => self.node(self.pieces.len()).map(Station::Node),
            _ => match (word.strip_prefix("node-"), word.strip_prefix("at-")) {
                (Some(index), _) => self.node(index.parse().ok()?).map(Station::Node),
                (_, Some(part)) => self.at(part.parse().ok()?),
                _ => None,
            },
        }
    }

    /// The section at a part of the length.
    fn at(&self, part: f64) -> Option<Station> {
        if !(0.0..=1.0).contains(&part) {
            return None;
        }
        let (piece, part) = self.piece_at(part);
        if part < SAME_PLACE * self.pieces.len() as f64 {
            return self.node(piece).map(Station::Node);
        }
        if part > 1.0 - SAME_PLACE * self.pieces.len() as f64 {
            return self.node(piece + 1).map(Station::Node);
        }
        Some(Station::Within { piece, part })
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

    /// Points of elements whose strains give that at a station.
    ///
    /// An element's strain belongs to its middle, or to the points of Gauss; between these it is
    /// interpolated, beyond the outer ones it is continued, to second order.
    pub fn strain_points(&self, word: &str) -> Option<Vec<StrainPoint>> {
        let place = match self.station(word)? {
            Station::Within { piece, part } => self.distance(piece) + part * self.pieces[piece].span.length(),
            Station::Node(_) => self.node_distance(word)?,
        };
        let points: Vec<(usize, usize, f64)> = (self.elements.iter().enumerate())
            .flat_map(|(index, element)| {
                let start = self.distance(index * self.order);
                let length = self.distance((index + 1) * self.order) - start;
                let points = element.points().iter().enumerate();
                points.map(move |(point, part)| (index, point, start + part * length))
            })
            .collect();
        let weighted = |(element, point, _): (usize, usize, f64), weight: f64| StrainPoint {
            element: self.elements[element].clone(),
            point,
            weight,
        };
        if let [only] = points[..] {
            return Some(vec![weighted(only, 1.0)]);
        }
        let after = points.iter().position(|(_, _, at)| *at >= place);
        let second = after.unwrap_or(points.len() - 1).max(1);
        let [first, second] = [points[second - 1], points[second]];
        let weight = (place - first.2) / (second.2 - first.2);
        Some(vec![weighted(first, 1.0 - weight), weighted(second, weight)])
    }

    /// Length before a piece.
    fn distance(&self, piece: usize) -> f64 {
        self.pieces[..piece].iter().map(|piece| piece.span.length()).sum()
    }

    /// Length before the node that a word means.
    fn node_distance(&self, word: &str) -> Option<f64> {
        match word {
            "start" => Some(0.0),
            "end" => Some(self.length()),
            _ => match word.strip_prefix("node-") {
                Some(index) => Some(self.distance(index.parse().ok()?)),
                None => Some(word.strip_prefix("at-")?.parse::<f64>().ok()? * self.length()),
            },
        }
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
