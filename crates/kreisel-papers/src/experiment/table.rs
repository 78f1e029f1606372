//! Tables of text, as a paper would print them.

use std::fmt;

/// A table with a heading for each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings and no rows.
    pub fn new<T: Into<String>>(columns: impl IntoIterator<Item = T>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row, with one cell per column.
    ///
    /// # Panics
    /// If the number of cells is not the number of columns.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has one cell per column");
        self.rows.push(cells);
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.columns.len()));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.columns) + &rule + &rows
    }

    /// Whether there is nothing to print.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}

impl fmt::Display for Table {
    /// Columns as wide as needed; words to the left, numbers to the right.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<&Vec<String>> = std::iter::once(&self.columns).chain(&self.rows).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| lines.iter().map(|line| width(&line[column])).max().unwrap_or(0))
            .collect();
        let is_number: Vec<bool> = (0..self.columns.len())
            .map(|column| self.rows.iter().all(|row| is_numeric(&row[column])))
            .collect();
        for line in lines {
            let mut text = String::new();
            for (column, cell) in line.iter().enumerate() {
                let padding = " ".repeat(widths[column] - width(cell));
                let separator = if column == 0 { "" } else { "  " };
                text += separator;
                text += &if is_number[column] { padding + cell } else { cell.to_owned() + &padding };
            }
            writeln!(formatter, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

/// A number, or a dash or nothing where a number is missing.
fn is_numeric(cell: &str) -> bool {
    matches!(cell, "" | "–") || cell.parse::<f64>().is_ok()
}

/// Columns that a text takes on a terminal; a mark above a letter (as in v̇) takes none.
fn width(text: &str) -> usize {
    text.chars().filter(|letter| !('\u{300}'..='\u{36f}').contains(letter)).count()
}

/// A number with at most five significant digits, the way a paper prints it.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e5).contains(&size) {
        let text = format!("{value:.4e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return if value.is_finite() { format!("{}e{exponent}", trim_zeros(mantissa)) } else { text };
    }
    let decimals = 4 - size.log10().floor() as i32;
    trim_zeros(&format!("{value:.*}", decimals.max(0) as usize)).to_owned()
}

fn trim_zeros(decimal: &str) -> &str {
    if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.') } else { decimal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (15.0, "15"),
            (31.930_4, "31.93"),
            (334.3, "334.3"),
            (0.05, "0.05"),
            (0.001_234_567, "0.0012346"),
            (1.28e-4, "1.28e-4"),
            (-2.0e9, "-2e9"),
            (12_345.6, "12346"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn columns_line_up_with_numbers_to_the_right() {
        let mut table = Table::new(["group", "v̇", "h"]);
        table.row(["SE(3)", "1", "0.001"]);
        table.row(["SO(3)×R³", "10", "1e-4"]);
        table.row(["R³", "–", "1"]);
        let lines =
            ["group      v̇      h", "SE(3)      1  0.001", "SO(3)×R³  10   1e-4", "R³         –      1", ""];
        assert_eq!(table.to_string(), lines.join("\n"));
    }
}
