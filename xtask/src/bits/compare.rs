//! Finds the first difference between two folders of results.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where two folders differ first, in words; files of the name `except` are not compared.
pub fn folders(old: &Path, new: &Path, except: Option<&str>) -> Result<Option<String>, String> {
    let names: BTreeSet<String> = [old, new].iter().flat_map(|folder| names(folder)).collect();
    // Tables first: their difference says most.
    let mut names: Vec<String> = names.into_iter().filter(|name| Some(&**name) != except).collect();
    names.sort_by_key(|name| !name.ends_with(".csv"));
    for name in names {
        let (old, new) = (old.join(&name), new.join(&name));
        match (old.exists(), new.exists()) {
            (true, false) => return Ok(Some(format!("{name} is missing"))),
            (false, true) => return Ok(Some(format!("{name} is new"))),
            _ => {}
        }
        let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let (old, new) = (read(&old)?, read(&new)?);
        if old != new {
            let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
            let words = if name.ends_with(".csv") { tables(&old, &new) } else { lines(&old, &new) };
            return Ok(Some(format!("{name}{words}")));
        }
    }
    Ok(None)
}

/// Files with results; what others left (a folder, a note of the plan) is none.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| [".csv", ".json", ".txt"].iter().any(|end| name.ends_with(end))).collect()
}

/// The first line that differs.
fn lines(old: &str, new: &str) -> String {
    let (mut old, mut new) = (old.lines(), new.lines());
    for number in 1.. {
        match (old.next(), new.next()) {
            (None, None) => break,
            (old, new) if old != new => {
                let shown = |line: Option<&str>| {
                    line.map_or("nothing".to_owned(), |line| format!("`{}`", line.trim()))
                };
                return format!(":{number}: {} is now {}", shown(old), shown(new));
            }
            _ => {}
        }
    }
    " has other ends of lines".to_owned()
}

/// The first number that differs, and how much numbers differ at most against the largest of their column.
fn tables(old: &str, new: &str) -> String {
    let header = old.lines().next().unwrap_or_default();
    if old.lines().count() != new.lines().count() || new.lines().next() != Some(header) {
        return lines(old, new);
    }
    let columns: Vec<&str> = header.split(',').collect();
    let mut largest = vec![0.0_f64; columns.len()];
    let mut differences = vec![0.0_f64; columns.len()];
    let mut first = None;
    for (number, (old, new)) in old.lines().zip(new.lines()).enumerate().skip(1) {
        for (column, (old, new)) in old.split(',').zip(new.split(',')).enumerate().take(columns.len()) {
            let [a, b] = [old, new].map(|cell| cell.parse().unwrap_or(f64::NAN));
            largest[column] = largest[column].max(a.abs());
            if old != new {
                differences[column] = differences[column].max((a - b).abs());
                first.get_or_insert_with(|| {
                    format!(":{}: {}: {old} is now {new}", number + 1, columns[column])
                });
            }
        }
    }
    let Some(first) = first else { return lines(old, new) };
    let relative = differences.iter().zip(&largest).map(|(difference, largest)| difference / largest);
    let (worst, column) = relative
        .zip(&columns)
        .filter(|(ratio, _)| ratio.is_finite())
        .fold((0.0, ""), |worst, (ratio, column)| if ratio > worst.0 { (ratio, *column) } else { worst });
    let count = differences.iter().filter(|difference| **difference != 0.0).count();
    format!(
        "{first}; in {count} of {} columns, by at most {worst:.1e} of the largest number of a column ({column})",
        columns.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_that_differs_is_named_with_the_size_of_the_largest_difference() {
        let (old, new) = ("t,x,y\n0,1,2\n1,1,4\n", "t,x,y\n0,1,2.001\n1,1,4.002\n");
        assert_eq!(
            tables(old, new),
            ":2: y: 2 is now 2.001; in 1 of 3 columns, by at most 5.0e-4 of the largest number of a column (y)"
        );
    }

    #[test]
    fn tables_of_other_lengths_or_columns_are_compared_as_lines() {
        assert_eq!(tables("t\n0\n", "t\n0\n1\n"), ":3: nothing is now `1`");
        assert_eq!(tables("t\n0\n", "s\n0\n"), ":1: `t` is now `s`");
        assert_eq!(lines("a\n", "a"), " has other ends of lines");
    }

    #[test]
    fn folders_differ_by_a_file_or_by_its_content() {
        let folder = std::env::temp_dir().join(format!("kreisel-compare-{}", std::process::id()));
        let (old, new) = (folder.join("old"), folder.join("new"));
        for (folder, text) in [(&old, "a"), (&new, "b")] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("said.txt"), text).unwrap();
        }
        assert_eq!(folders(&old, &new, Some("said.txt")), Ok(None));
        assert_eq!(folders(&old, &new, None), Ok(Some("said.txt:1: `a` is now `b`".to_owned())));
        fs::write(new.join("x.csv"), "").unwrap();
        assert_eq!(folders(&old, &new, None), Ok(Some("x.csv is new".to_owned())));
        fs::remove_dir_all(folder).unwrap();
    }
}
