//! Expressions as a graph of operations: equal parts are stored once, derivatives are made in place.
//!
//! A node refers only to nodes before it, so every pass over the graph is a loop over indices: nothing
//! recurses, whatever the user wrote. The constructors simplify (constants are folded, 0 and 1 vanish),
//! and since equal nodes are shared, a derivative adds only a few nodes per operation instead of growing
//! with every rule of differentiation.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::table::TableFunction;

/// Index of a node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ExpressionId(u32);

impl ExpressionId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Functions of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Negate,
    Not,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Log10,
    Sqrt,
    Abs,
    Floor,
    Ceil,
    Sign,
    Step,
}

/// Functions of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Atan2,
    Min,
    Max,
    Mod,
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// One operation. Constants are kept as bits, so that nodes can be compared and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GraphNode {
    Constant(u64),
    Variable(u32),
    Unary(Unary, ExpressionId),
    Binary(Binary, ExpressionId, ExpressionId),
    /// The second if the first is not zero, else the third.
    Select(ExpressionId, ExpressionId, ExpressionId),
    /// A derivative of some orders of a table, by its place in the graph; a table of one argument has it
    /// twice.
    Table(u32, [u8; 2], [ExpressionId; 2]),
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

impl Unary {
    #[inline]
    pub(crate) fn evaluate(self, x: f64) -> f64 {
        match self {
            Self::Negate => -x,
            Self::Not => truth(x == 0.0),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Tan => x.tan(),
            Self::Asin => x.asin(),
            Self::Acos => x.acos(),
            Self::Atan => x.atan(),
            Self::Sinh => x.sinh(),
            Self::Cosh => x.cosh(),
            Self::Tanh => x.tanh(),
            Self::Exp => x.exp(),
            Self::Ln => x.ln(),
            Self::Log10 => x.log10(),
            Self::Sqrt => x.sqrt(),
            Self::Abs => x.abs(),
            Self::Floor => x.floor(),
            Self::Ceil => x.ceil(),
            // Unlike f64::signum, the sign of zero is zero.
            Self::Sign => truth(x > 0.0) - truth(x < 0.0),
            Self::Step => truth(x >= 0.0),
        }
    }
}

impl Binary {
    #[inline]
    pub(crate) fn evaluate(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Add => x + y,
            Self::Subtract => x - y,
            Self::Multiply => x * y,
            Self::Divide => x / y,
            Self::Power => x.powf(y),
            Self::Atan2 => x.atan2(y),
            Self::Min => x.min(y),
            Self::Max => x.max(y),
            Self::Mod => x - y * (x / y).floor(),
            Self::Less => truth(x < y),
            Self::LessOrEqual => truth(x <= y),
            Self::Equal => truth(x == y),
            Self::NotEqual => truth(x != y),
            Self::And => truth(x != 0.0 && y != 0.0),
            Self::Or => truth(x != 0.0 || y != 0.0),
        }
    }
}

/// Nodes that are looked through faster than a map is asked: most expressions have no more.
const FEW: usize = 16;

/// Most corners of a table on which steps land.
const MAX_KINKS: usize = 1000;

/// Operations in an order in which they can be evaluated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<GraphNode>,
    /// Nodes behind the first few.
    known: HashMap<GraphNode, ExpressionId>,
    tables: Vec<Arc<TableFunction>>,
}

impl Graph {
    pub(crate) fn node(&self, id: ExpressionId) -> GraphNode {
        self.nodes[id.index()]
    }

    /// The node with a given position.
    pub(crate) fn nodes_at(&self, index: usize) -> GraphNode {
        self.nodes[index]
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn insert(&mut self, node: GraphNode) -> ExpressionId {
        let few = &self.nodes[..self.nodes.len().min(FEW)];
        if let Some(place) = few.iter().position(|known| *known == node) {
            return ExpressionId(place as u32);
        }
        let new = ExpressionId(u32::try_from(self.nodes.len()).expect("the number of tokens is limited"));
        let id = if self.nodes.len() < FEW { new } else { *self.known.entry(node).or_insert(new) };
        if id == new {
            self.nodes.push(node);
        }
        id
    }

    pub(crate) fn constant(&mut self, value: f64) -> ExpressionId {
        self.insert(GraphNode::Constant(value.to_bits()))
    }

    pub(crate) fn variable(&mut self, index: u32) -> ExpressionId {
        self.insert(GraphNode::Variable(index))
    }

    /// The number that a node always has, if it is a constant.
    pub(crate) fn constant_value(&self, id: ExpressionId) -> Option<f64> {
        match self.node(id) {
            GraphNode::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn is(&self, id: ExpressionId, value: f64) -> bool {
        self.constant_value(id) == Some(value)
    }

    pub(crate) fn unary(&mut self, function: Unary, x: ExpressionId) -> ExpressionId {
        if let Some(value) = self.constant_value(x) {
            return self.constant(function.evaluate(value));
        }
        match (function, self.node(x)) {
            (Unary::Negate, GraphNode::Unary(Unary::Negate, inner)) => inner,
            _ => self.insert(GraphNode::Unary(function, x)),
        }
    }

    pub(crate) fn binary(&mut self, function: Binary, x: ExpressionId, y: ExpressionId) -> ExpressionId {
        if let (Some(x), Some(y)) = (self.constant_value(x), self.constant_value(y)) {
            return self.constant(function.evaluate(x, y));
        }
        let (x_zero, y_zero) = (self.is(x, 0.0), self.is(y, 0.0));
        let (x_one, y_one) = (self.is(x, 1.0), self.is(y, 1.0));
        match function {
            Binary::Add if x_zero => y,
            Binary::Add | Binary::Subtract if y_zero => x,
            Binary::Subtract if x_zero => self.unary(Unary::Negate, y),
            Binary::Multiply if x_zero || y_zero => self.constant(0.0),
            Binary::Multiply if x_one => y,
            Binary::Multiply | Binary::Divide | Binary::Power if y_one => x,
            Binary::Multiply if self.is(x, -1.0) => self.unary(Unary::Negate, y),
            Binary::Multiply if self.is(y, -1.0) => self.unary(Unary::Negate, x),
            Binary::Divide if x_zero => self.constant(0.0),
            Binary::Power if y_zero => self.constant(1.0),
            Binary::Power if self.is(y, 2.0) => self.binary(Binary::Multiply, x, x),
            Binary::Power if self.is(y, 0.5) => self.unary(Unary::Sqrt, x),
            _ => self.insert(GraphNode::Binary(function, x, y)),
        }
    }

    pub(crate) fn select(
        &mut self,
        condition: ExpressionId,
        then: ExpressionId,
        otherwise: ExpressionId,
    ) -> ExpressionId {
        if then == otherwise {
            return then;
        }
        match self.constant_value(condition) {
            Some(0.0) => otherwise,
            Some(_) => then,
            None => self.insert(GraphNode::Select(condition, then, otherwise)),
        }
    }

    /// A table at some arguments.
    pub(crate) fn table(&mut self, table: &Arc<TableFunction>, arguments: [ExpressionId; 2]) -> ExpressionId {
        let known = self.tables.iter().position(|known| Arc::ptr_eq(known, table));
        let place = known.unwrap_or_else(|| {
            self.tables.push(Arc::clone(table));
            self.tables.len() - 1
        });
        self.table_derivative(place as u32, [0; 2], arguments)
    }

    fn table_derivative(
        &mut self,
        table: u32,
        orders: [u8; 2],
        arguments: [ExpressionId; 2],
    ) -> ExpressionId {
        match arguments.map(|argument| self.constant_value(argument)) {
            [Some(x), Some(y)] => {
                let value = self.tables[table as usize].derivative([x, y], orders);
                self.constant(value)
            }
            _ => self.insert(GraphNode::Table(table, orders, arguments)),
        }
    }

    /// The tables that nodes refer to.
    pub(crate) fn tables(&self) -> &[Arc<TableFunction>] {
        &self.tables
    }

    fn multiply(&mut self, x: ExpressionId, y: ExpressionId) -> ExpressionId {
        self.binary(Binary::Multiply, x, y)
    }

    fn divide(&mut self, x: ExpressionId, y: ExpressionId) -> ExpressionId {
        self.binary(Binary::Divide, x, y)
    }

    fn add(&mut self, x: ExpressionId, y: ExpressionId) -> ExpressionId {
        self.binary(Binary::Add, x, y)
    }

    pub(crate) fn subtract(&mut self, x: ExpressionId, y: ExpressionId) -> ExpressionId {
        self.binary(Binary::Subtract, x, y)
    }

    /// Nodes that a node needs, itself included, as one flag per node.
    pub(crate) fn needed(&self, roots: &[ExpressionId]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for root in roots {
            needed[root.index()] = true;
        }
        for index in (0..self.nodes.len()).rev() {
            if !needed[index] {
                continue;
            }
            match self.nodes[index] {
                GraphNode::Constant(_) | GraphNode::Variable(_) => {}
                GraphNode::Unary(_, x) => needed[x.index()] = true,
                GraphNode::Binary(_, x, y) => {
                    needed[x.index()] = true;
                    needed[y.index()] = true;
                }
                GraphNode::Select(x, y, z) => {
                    needed[x.index()] = true;
                    needed[y.index()] = true;
                    needed[z.index()] = true;
                }
                GraphNode::Table(_, _, [x, y]) => {
                    needed[x.index()] = true;
                    needed[y.index()] = true;
                }
            }
        }
        needed
    }

    /// The derivative of a node with respect to a variable. Jumps (step, sign, floor) have slope zero:
    /// away from the jump that is exact.
    pub(crate) fn derivative(&mut self, root: ExpressionId, variable: u32) -> ExpressionId {
        let needed = self.needed(&[root]);
        let zero = self.constant(0.0);
        let mut slopes = vec![zero; root.index() + 1];
        for index in 0..=root.index() {
            if needed[index] {
                slopes[index] = self.slope(ExpressionId(index as u32), variable, &slopes, zero);
            }
        }
        slopes[root.index()]
    }

    fn slope(
        &mut self,
        id: ExpressionId,
        variable: u32,
        slopes: &[ExpressionId],
        zero: ExpressionId,
    ) -> ExpressionId {
        match self.node(id) {
            GraphNode::Constant(_) => zero,
            GraphNode::Variable(index) => self.constant(truth(index == variable)),
            GraphNode::Unary(function, x) => {
                let dx = slopes[x.index()];
                if dx == zero { zero } else { self.unary_slope(function, id, x, dx) }
            }
            GraphNode::Binary(function, x, y) => {
                let (dx, dy) = (slopes[x.index()], slopes[y.index()]);
                if dx == zero && dy == zero {
                    zero
                } else {
                    self.binary_slope(function, id, [x, y], [dx, dy])
                }
            }
            GraphNode::Select(condition, x, y) => {
                self.select(condition, slopes[x.index()], slopes[y.index()])
            }
            GraphNode::Table(table, orders, arguments) => {
                let mut sum = zero;
                for argument in 0..self.tables[table as usize].arity() {
                    let change = slopes[arguments[argument].index()];
                    if change != zero {
                        let mut higher = orders;
                        higher[argument] += 1;
                        let slope = self.table_derivative(table, higher, arguments);
                        let part = self.multiply(slope, change);
                        sum = self.add(sum, part);
                    }
                }
                sum
            }
        }
    }

    /// The chain rule: f'(x) dx, where `value` is the node f(x).
    fn unary_slope(
        &mut self,
        function: Unary,
        value: ExpressionId,
        x: ExpressionId,
        dx: ExpressionId,
    ) -> ExpressionId {
        let one = self.constant(1.0);
        let square = self.multiply(x, x);
        match function {
            Unary::Negate => self.unary(Unary::Negate, dx),
            Unary::Not | Unary::Floor | Unary::Ceil | Unary::Sign | Unary::Step => self.constant(0.0),
            Unary::Sin => {
                let slope = self.unary(Unary::Cos, x);
                self.multiply(slope, dx)
            }
            Unary::Cos => {
                let sine = self.unary(Unary::Sin, x);
                let product = self.multiply(sine, dx);
                self.unary(Unary::Negate, product)
            }
            Unary::Tan => {
                let squared = self.multiply(value, value);
                let slope = self.add(one, squared);
                self.multiply(slope, dx)
            }
            Unary::Asin | Unary::Acos => {
                let difference = self.subtract(one, square);
                let root = self.unary(Unary::Sqrt, difference);
                let slope = self.divide(dx, root);
                if function == Unary::Asin { slope } else { self.unary(Unary::Negate, slope) }
            }
            Unary::Atan => {
                let sum = self.add(one, square);
                self.divide(dx, sum)
            }
            Unary::Sinh => {
                let slope = self.unary(Unary::Cosh, x);
                self.multiply(slope, dx)
            }
            Unary::Cosh => {
                let slope = self.unary(Unary::Sinh, x);
                self.multiply(slope, dx)
            }
            Unary::Tanh => {
                let squared = self.multiply(value, value);
                let slope = self.subtract(one, squared);
                self.multiply(slope, dx)
            }
            Unary::Exp => self.multiply(value, dx),
            Unary::Ln => self.divide(dx, x),
            Unary::Log10 => {
                let ten = self.constant(std::f64::consts::LN_10);
                let scaled = self.multiply(ten, x);
                self.divide(dx, scaled)
            }
            Unary::Sqrt => {
                let two = self.constant(2.0);
                let doubled = self.multiply(two, value);
                self.divide(dx, doubled)
            }
            Unary::Abs => {
                let sign = self.unary(Unary::Sign, x);
                self.multiply(sign, dx)
            }
        }
    }

    fn binary_slope(
        &mut self,
        function: Binary,
        value: ExpressionId,
        [x, y]: [ExpressionId; 2],
        [dx, dy]: [ExpressionId; 2],
    ) -> ExpressionId {
        match function {
            Binary::Add | Binary::Subtract => self.binary(function, dx, dy),
            Binary::Multiply => {
                let first = self.multiply(dx, y);
                let second = self.multiply(x, dy);
                self.add(first, second)
            }
            Binary::Divide => {
                // (dx − (x/y) dy)/y
                let change = self.multiply(value, dy);
                let numerator = self.subtract(dx, change);
                self.divide(numerator, y)
            }
            Binary::Power => self.power_slope(value, [x, y], [dx, dy]),
            Binary::Atan2 => {
                // (y dx − x dy)/(x² + y²), where the first argument is the opposite side.
                let first = self.multiply(y, dx);
                let second = self.multiply(x, dy);
                let numerator = self.subtract(first, second);
                let x_square = self.multiply(x, x);
                let y_square = self.multiply(y, y);
                let denominator = self.add(x_square, y_square);
                self.divide(numerator, denominator)
            }
            Binary::Min => {
                let condition = self.binary(Binary::LessOrEqual, x, y);
                self.select(condition, dx, dy)
            }
            Binary::Max => {
                let condition = self.binary(Binary::LessOrEqual, y, x);
                self.select(condition, dx, dy)
            }
            Binary::Mod => {
                let quotient = self.divide(x, y);
                let whole = self.unary(Unary::Floor, quotient);
                let change = self.multiply(whole, dy);
                self.subtract(dx, change)
            }
            Binary::Less
            | Binary::LessOrEqual
            | Binary::Equal
            | Binary::NotEqual
            | Binary::And
            | Binary::Or => self.constant(0.0),
        }
    }

    /// y x^(y−1) dx + x^y ln(x) dy; the second term is left out where the exponent does not change, so
    /// that a negative base may have a whole exponent.
    fn power_slope(
        &mut self,
        value: ExpressionId,
        [x, y]: [ExpressionId; 2],
        [dx, dy]: [ExpressionId; 2],
    ) -> ExpressionId {
        let one = self.constant(1.0);
        let lower = self.subtract(y, one);
        let power = self.binary(Binary::Power, x, lower);
        let factor = self.multiply(y, power);
        let from_base = self.multiply(factor, dx);
        if self.is(dy, 0.0) {
            return from_base;
        }
        let logarithm = self.unary(Unary::Ln, x);
        let factor = self.multiply(value, logarithm);
        let from_exponent = self.multiply(factor, dy);
        self.add(from_base, from_exponent)
    }

    /// Slope and offset of every node that is a straight line in a variable and depends on no other.
    pub(crate) fn straight_lines(&self, variable: u32) -> Vec<Option<(f64, f64)>> {
        let mut lines: Vec<Option<(f64, f64)>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let line = |id: ExpressionId| lines[id.index()];
            lines.push(match *node {
                GraphNode::Constant(bits) => Some((0.0, f64::from_bits(bits))),
                GraphNode::Variable(index) => (index == variable).then_some((1.0, 0.0)),
                GraphNode::Unary(Unary::Negate, x) => line(x).map(|(a, b)| (-a, -b)),
                GraphNode::Binary(Binary::Add, x, y) => {
                    line(x).zip(line(y)).map(|((a, b), (c, d))| (a + c, b + d))
                }
                GraphNode::Binary(Binary::Subtract, x, y) => {
                    line(x).zip(line(y)).map(|((a, b), (c, d))| (a - c, b - d))
                }
                GraphNode::Binary(Binary::Multiply, x, y) => match (line(x), line(y)) {
                    (Some((0.0, factor)), Some((a, b))) | (Some((a, b)), Some((0.0, factor))) => {
                        Some((factor * a, factor * b))
                    }
                    _ => None,
                },
                GraphNode::Binary(Binary::Divide, x, y) => match (line(x), line(y)) {
                    (Some((a, b)), Some((0.0, divisor))) => Some((a / divisor, b / divisor)),
                    _ => None,
                },
                _ => None,
            });
        }
        lines
    }

    /// What decides where the root is not smooth: nodes whose zeros, or whose whole numbers, are corners.
    pub(crate) fn switches(&mut self, root: ExpressionId) -> Vec<SwitchNode> {
        let needed = self.needed(&[root]);
        let mut switches = Vec::new();
        let count = root.index() + 1;
        for index in (0..count).filter(|&index| needed[index]) {
            let switch = match self.nodes[index] {
                GraphNode::Unary(Unary::Step | Unary::Sign | Unary::Abs | Unary::Not, x) => {
                    SwitchNode::Zero(x)
                }
                GraphNode::Unary(Unary::Floor | Unary::Ceil, x) => SwitchNode::Whole(x),
                GraphNode::Binary(
                    Binary::Min
                    | Binary::Max
                    | Binary::Less
                    | Binary::LessOrEqual
                    | Binary::Equal
                    | Binary::NotEqual,
                    x,
                    y,
                ) => SwitchNode::Zero(self.subtract(x, y)),
                GraphNode::Binary(Binary::Mod, x, y) => SwitchNode::Whole(self.divide(x, y)),
                GraphNode::Table(table, _, arguments) => {
                    self.table_switches(table, arguments, &mut switches);
                    continue;
                }
                _ => continue,
            };
            if !switches.contains(&switch) {
                switches.push(switch);
            }
        }
        switches
    }

    /// Corners of a table are those of its arguments minus its kinks. Of a table with many nothing is said:
    /// they are measured data, which steps need not land on.
    fn table_switches(&mut self, table: u32, arguments: [ExpressionId; 2], switches: &mut Vec<SwitchNode>) {
        let function = Arc::clone(&self.tables[table as usize]);
        for (place, &argument) in arguments.iter().enumerate().take(function.arity()) {
            let (kinks, period) = function.kinks(place);
            if kinks.len() > MAX_KINKS {
                continue;
            }
            for kink in kinks {
                let kink = self.constant(kink);
                let difference = self.subtract(argument, kink);
                switches.push(match period {
                    Some(period) => {
                        let period = self.constant(period);
                        SwitchNode::Whole(self.divide(difference, period))
                    }
                    None => SwitchNode::Zero(difference),
                });
            }
        }
    }
}

/// A node at whose zeros or whole numbers an expression has a corner or a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SwitchNode {
    Zero(ExpressionId),
    Whole(ExpressionId),
}

impl SwitchNode {
    /// The node, and whether whole numbers count instead of zeros.
    pub(crate) fn parts(self) -> (ExpressionId, bool) {
        match self {
            Self::Zero(node) => (node, false),
            Self::Whole(node) => (node, true),
        }
    }
}
