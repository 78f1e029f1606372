//! A beam of a model: its nodes, elements and stations by name.
//!
//! `beam.start`, `beam.end`, `beam.node-3` and `beam.at-0.5` name sections of a beam as `body.marker` names a marker;
//! a station between nodes can be measured but carries nothing.

use crate::element::NodeId;
use crate::element::beam::Beam;
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

/// One element of a beam with the sections at its ends.
#[derive(Clone, Debug)]
pub struct BeamPiece {
    /// The element.
    pub element: Beam,
    /// Sections at its ends; at a corner they differ from those of its neighbours.
    pub ends: [BeamNode; 2],
    /// Length in m.
    pub length: f64,
}

/// A beam with its elements in order.
#[derive(Clone, Debug)]
pub struct BeamEntry {
    /// Name.
    pub name: String,
    /// Its elements.
    pub pieces: Vec<BeamPiece>,
}

/// What a name such as `at-0.5` means on a beam.
#[derive(Clone, Copy, Debug)]
pub enum Station {
    /// A section at a node.
    Node(BeamNode),
    /// A section within an element.
    Within {
        /// The element.
        element: usize,
        /// Part of its length from its first end.
        part: f64,
    },
}

/// Shares of a beam's length that are the same place.
const SAME_PLACE: f64 = 1e-9;

impl BeamEntry {
    /// Length in m.
    pub fn length(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.length).sum()
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
        let (element, part) = self.element_at(part);
        if part < SAME_PLACE * self.pieces.len() as f64 {
            return self.node(element).map(Station::Node);
        }
        if part > 1.0 - SAME_PLACE * self.pieces.len() as f64 {
            return self.node(element + 1).map(Station::Node);
        }
        Some(Station::Within { element, part })
    }

    /// Element at a part of the length, and the part of its own length.
    fn element_at(&self, part: f64) -> (usize, f64) {
        let mut rest = part * self.length();
        for (element, piece) in self.pieces.iter().enumerate() {
            if rest <= piece.length || element + 1 == self.pieces.len() {
                return (element, (rest / piece.length).min(1.0));
            }
            rest -= piece.length;
        }
        (0, 0.0)
    }

    /// Elements whose strains give that at a station, with their weights.
    ///
    /// An element's strain belongs to its middle; between middles it is interpolated, beyond the outer ones it is
    /// continued, to second order.
    pub fn strain_weights(&self, word: &str) -> Option<Vec<(Beam, f64)>> {
        let place = match self.station(word)? {
            Station::Within { element, part } => self.distance(element) + part * self.pieces[element].length,
            Station::Node(_) => self.node_distance(word)?,
        };
        let middle = |element: usize| self.distance(element) + 0.5 * self.pieces[element].length;
        let part = |element: usize, weight: f64| (self.pieces[element].element.clone(), weight);
        if self.pieces.len() == 1 {
            return Some(vec![part(0, 1.0)]);
        }
        let after = (0..self.pieces.len()).find(|&element| middle(element) >= place);
        let second = after.unwrap_or(self.pieces.len() - 1).max(1);
        let first = second - 1;
        let weight = (place - middle(first)) / (middle(second) - middle(first));
        Some(vec![part(first, 1.0 - weight), part(second, weight)])
    }

    /// Length before an element.
    fn distance(&self, element: usize) -> f64 {
        self.pieces[..element].iter().map(|piece| piece.length).sum()
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
    pub fn words(&self) -> Vec<String> {
        let nodes = (0..self.node_count()).map(|index| format!("{}.node-{index}", self.name));
        [format!("{}.start", self.name), format!("{}.end", self.name)].into_iter().chain(nodes).collect()
    }
}
