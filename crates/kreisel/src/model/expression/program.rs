//! A graph as a list of steps that is run without allocation.
//!
//! Results of steps live in slots that are used again as soon as nobody needs them. The slots lie on the
//! stack of the caller, so that a program can be run by many threads at once through a shared reference.

use std::sync::Arc;

use super::MAX_SLOTS;
use super::graph::{Binary, ExpressionId, Graph, GraphNode, Unary};
use crate::model::error::ExpressionMistake;
use crate::model::table::TableFunction;

/// Where a step finds and leaves its numbers.
type Slot = u16;

#[derive(Clone, Copy, Debug)]
enum Instruction {
    Constant { value: f64, result: Slot },
    Variable { index: u32, result: Slot },
    Unary { function: Unary, x: Slot, result: Slot },
    Binary { function: Binary, x: Slot, y: Slot, result: Slot },
    Select { condition: Slot, then: Slot, otherwise: Slot, result: Slot },
    Table { table: u32, orders: [u8; 2], x: Slot, y: Slot, result: Slot },
    Output { x: Slot, index: u32 },
}

/// Steps that compute some nodes of a graph from its variables.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    steps: Vec<Instruction>,
    tables: Vec<Arc<TableFunction>>,
    slot_count: usize,
    output_count: usize,
}

impl Program {
    /// Program whose outputs are the given nodes, in their order.
    pub(crate) fn new(graph: &Graph, outputs: &[ExpressionId]) -> Result<Self, ExpressionMistake> {
        let needed = graph.needed(outputs);
        let mut last_use = vec![0; graph.len()];
        for index in (0..graph.len()).filter(|&index| needed[index]) {
            last_use[index] = index;
            for operand in operands(graph.nodes_at(index)).into_iter().flatten() {
                last_use[operand.index()] = index;
            }
        }
        let mut compiler = Compiler {
            slots: vec![0; graph.len()],
            last_use,
            free: Vec::new(),
            slot_count: 0,
            steps: Vec::new(),
        };
        for index in (0..graph.len()).filter(|&index| needed[index]) {
            compiler.compile(index, graph.nodes_at(index), outputs)?;
        }
        Ok(Self {
            steps: compiler.steps,
            tables: graph.tables().to_vec(),
            slot_count: compiler.slot_count,
            output_count: outputs.len(),
        })
    }

    /// Runs the program; a variable that is missing counts as not a number.
    pub(crate) fn run(&self, variables: &[f64], outputs: &mut [f64]) {
        assert_eq!(outputs.len(), self.output_count, "one place per output");
        // Clearing the slots costs time, so small programs get few.
        match self.slot_count {
            0..=16 => self.run_in(&mut [0.0; 16], variables, outputs),
            17..=128 => self.run_in(&mut [0.0; 128], variables, outputs),
            _ => self.run_in(&mut [0.0; MAX_SLOTS], variables, outputs),
        }
    }

    fn run_in(&self, slots: &mut [f64], variables: &[f64], outputs: &mut [f64]) {
        for step in &self.steps {
            match *step {
                Instruction::Constant { value, result } => slots[usize::from(result)] = value,
                Instruction::Variable { index, result } => {
                    slots[usize::from(result)] = variables.get(index as usize).copied().unwrap_or(f64::NAN);
                }
                Instruction::Unary { function, x, result } => {
                    slots[usize::from(result)] = function.evaluate(slots[usize::from(x)]);
                }
                Instruction::Binary { function, x, y, result } => {
                    slots[usize::from(result)] =
                        function.evaluate(slots[usize::from(x)], slots[usize::from(y)]);
                }
                Instruction::Select { condition, then, otherwise, result } => {
                    let chosen = if slots[usize::from(condition)] != 0.0 { then } else { otherwise };
                    slots[usize::from(result)] = slots[usize::from(chosen)];
                }
                Instruction::Table { table, orders, x, y, result } => {
                    let arguments = [slots[usize::from(x)], slots[usize::from(y)]];
                    slots[usize::from(result)] = self.tables[table as usize].derivative(arguments, orders);
                }
                Instruction::Output { x, index } => outputs[index as usize] = slots[usize::from(x)],
            }
        }
    }
}

fn operands(node: GraphNode) -> [Option<ExpressionId>; 3] {
    match node {
        GraphNode::Constant(_) | GraphNode::Variable(_) => [None; 3],
        GraphNode::Unary(_, x) => [Some(x), None, None],
        GraphNode::Binary(_, x, y) | GraphNode::Table(_, _, [x, y]) => [Some(x), Some(y), None],
        GraphNode::Select(x, y, z) => [Some(x), Some(y), Some(z)],
    }
}

/// Gives each node a slot while it is needed.
struct Compiler {
    slots: Vec<Slot>,
    last_use: Vec<usize>,
    free: Vec<Slot>,
    slot_count: usize,
    steps: Vec<Instruction>,
}

impl Compiler {
    fn compile(
        &mut self,
        index: usize,
        node: GraphNode,
        outputs: &[ExpressionId],
    ) -> Result<(), ExpressionMistake> {
        self.release_operands(index, node);
        let result = self.allocate()?;
        let slot = |id: ExpressionId| self.slots[id.index()];
        let step = match node {
            GraphNode::Constant(bits) => Instruction::Constant { value: f64::from_bits(bits), result },
            GraphNode::Variable(index) => Instruction::Variable { index, result },
            GraphNode::Unary(function, x) => Instruction::Unary { function, x: slot(x), result },
            GraphNode::Binary(function, x, y) => {
                Instruction::Binary { function, x: slot(x), y: slot(y), result }
            }
            GraphNode::Select(condition, then, otherwise) => Instruction::Select {
                condition: slot(condition),
                then: slot(then),
                otherwise: slot(otherwise),
                result,
            },
            GraphNode::Table(table, orders, [x, y]) => {
                Instruction::Table { table, orders, x: slot(x), y: slot(y), result }
            }
        };
        self.steps.push(step);
        self.slots[index] = result;
        for (position, output) in outputs.iter().enumerate() {
            if output.index() == index {
                self.steps.push(Instruction::Output { x: result, index: position as u32 });
            }
        }
        if self.last_use[index] == index {
            self.free.push(result);
        }
        Ok(())
    }

    /// Frees the slots of operands used here for the last time. The step reads before it writes, so its
    /// own result may take one of them.
    fn release_operands(&mut self, index: usize, node: GraphNode) {
        let mut released = [None; 3];
        for (position, operand) in operands(node).into_iter().enumerate() {
            if let Some(operand) = operand
                && self.last_use[operand.index()] == index
                && !released.contains(&Some(operand))
            {
                released[position] = Some(operand);
                self.free.push(self.slots[operand.index()]);
            }
        }
    }

    fn allocate(&mut self) -> Result<Slot, ExpressionMistake> {
        if let Some(slot) = self.free.pop() {
            return Ok(slot);
        }
        if self.slot_count == MAX_SLOTS {
            return Err(ExpressionMistake::TooComplex);
        }
        self.slot_count += 1;
        Ok((self.slot_count - 1) as Slot)
    }
}
