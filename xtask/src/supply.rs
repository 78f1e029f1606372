//! What comes in with dependencies: licences, versions, build scripts and sources as `deny.toml` allows them,
//! and a list of all of it (SBOM).
//!
//! All is read from `cargo metadata`, so that it needs no network and no program that takes minutes to build.
//! Where cargo-deny is installed it checks the same file once more, and advisories if their database has been
//! fetched: nothing here reaches for the network. With `--advisories`, as on the servers that decide about a change,
//! it is an error if they cannot be checked.

use crate::{cargo, root, say};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Checks everything that `deny.toml` says, and advisories where they can be had.
pub fn check() -> Result<(), String> {
    check_with(false)
}

/// The same; advisories that are wanted and cannot be checked are an error.
pub fn check_with(advisories: bool) -> Result<(), String> {
    let rules = Rules::read()?;
    let metadata = cargo::metadata()?;
    let packages = packages(&metadata);
    let mut faults = Vec::new();
    for package in &packages {
        faults.extend(rules.faults(package));
    }
    faults.extend(rules.double_versions(&packages));
    faults.extend(unsafe_allowed());
    say(&format!("{} packages\n", packages.len()));
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let unchecked = |why: &str| {
        let words = format!("advisories are not checked: {why}\n");
        if advisories {
            return Err(words);
        }
        say(&words);
        Ok(())
    };
    if !cargo::has("deny") {
        return unchecked("cargo-deny is not installed");
    }
    cargo::run(&["deny", "--offline", "check", "licenses", "bans", "sources"])?;
    if !has_advisories() {
        return unchecked("fetch their database by `cargo deny fetch`");
    }
    cargo::run(&["deny", "--offline", "check", "advisories"])
}

/// Whether a database of advisories lies where cargo-deny keeps it.
fn has_advisories() -> bool {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let databases = home.and_then(|home| std::fs::read_dir(home.join("advisory-dbs")).ok());
    databases.is_some_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| entry.path().is_dir())))
}

/// The file with the list of all packages.
pub const BILL: &str = "kreisel.cdx.json";

/// Writes the list of all packages in the form of CycloneDX 1.5.
pub fn bill_of_materials() -> Result<(), String> {
    write_bill(&cargo::target().join(BILL))
}

/// The same to a place.
pub fn write_bill(path: &Path) -> Result<(), String> {
    let metadata = cargo::metadata()?;
    let bill = bill(&metadata, &checksums(&root().join("Cargo.lock"))?);
    let text = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))?;
    say(&format!("{} components in {}\n", bill["components"].as_array().map_or(0, Vec::len), path.display()));
    Ok(())
}

struct Package<'a> {
    name: &'a str,
    version: &'a str,
    license: &'a str,
    source: Option<&'a str>,
    has_build_script: bool,
}

fn packages(metadata: &Value) -> Vec<Package<'_>> {
    let list = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(package).collect()
}

fn package(value: &Value) -> Option<Package<'_>> {
    let is_script = |target: &Value| {
        target["kind"].as_array().is_some_and(|kinds| kinds.contains(&json!("custom-build")))
    };
    Some(Package {
        name: value["name"].as_str()?,
        version: value["version"].as_str()?,
        license: value["license"].as_str().unwrap_or_default(),
        source: value["source"].as_str(),
        has_build_script: value["targets"].as_array()?.iter().any(is_script),
    })
}

/// What `deny.toml` allows.
struct Rules {
    licenses: BTreeSet<String>,
    doubles: BTreeSet<String>,
    scripts: BTreeSet<String>,
    registries: Vec<String>,
}

impl Rules {
    fn read() -> Result<Self, String> {
        let path = root().join("deny.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let table: toml::Table = text.parse().map_err(|error| format!("deny.toml: {error}"))?;
        let list = |keys: &[&str]| -> Vec<toml::Value> {
            let mut value = toml::Value::Table(table.clone());
            for key in keys {
                value = value.get(key).cloned().unwrap_or(toml::Value::Boolean(false));
            }
            value.as_array().cloned().unwrap_or_default()
        };
        let texts =
            |keys: &[&str]| list(keys).iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
        let named = |value: &toml::Value| Some(value.get("name")?.as_str()?.to_owned());
        let registries: BTreeSet<String> = texts(&["sources", "allow-registry"]);
        Ok(Self {
            licenses: texts(&["licenses", "allow"]),
            doubles: list(&["bans", "skip"]).iter().filter_map(named).collect(),
            scripts: texts(&["bans", "build", "allow-build-scripts"]),
            registries: registries.into_iter().collect(),
        })
    }

    fn faults(&self, package: &Package) -> Vec<String> {
        let Package { name, version, license, source, has_build_script } = package;
        let mut faults = Vec::new();
        if !is_allowed(license, &|one| self.licenses.contains(one)) {
            faults.push(format!("{name} {version} has the licence `{license}`"));
        }
        if *has_build_script && !self.scripts.contains(*name) {
            faults.push(format!("{name} {version} has a build script that deny.toml does not name"));
        }
        if let Some(source) = source {
            let known = self.registries.iter().any(|registry| *source == format!("registry+{registry}"));
            if !known {
                faults.push(format!("{name} {version} comes from {source}"));
            }
        }
        faults
    }

    fn double_versions(&self, packages: &[Package]) -> Vec<String> {
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        packages.iter().for_each(|package| versions.entry(package.name).or_default().push(package.version));
        let is_double =
            |(name, versions): &(&str, Vec<&str>)| versions.len() > 1 && !self.doubles.contains(*name);
        let words =
            |(name, versions): (&str, Vec<&str>)| format!("{name} comes in versions {}", versions.join(", "));
        versions.into_iter().filter(is_double).map(words).collect()
    }
}

/// Whether a licence expression can be met: `A OR B`, `A AND B`, `(A OR B) AND C`, and the old `A/B`.
fn is_allowed(expression: &str, known: &dyn Fn(&str) -> bool) -> bool {
    let expression = expression.trim();
    let choices = split_outside(expression, " OR ");
    if choices.len() > 1 {
        return choices.into_iter().any(|part| is_allowed(part, known));
    }
    let needs = split_outside(expression, " AND ");
    if needs.len() > 1 {
        return needs.into_iter().all(|part| is_allowed(part, known));
    }
    if let Some(inner) = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return is_allowed(inner, known);
    }
    known(expression)
        || (expression.contains('/') && expression.split('/').any(|part| is_allowed(part, known)))
}

/// Parts of a text between a word, where that stands outside of parentheses.
fn split_outside<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && at >= start && text[at..].starts_with(word) => {
                parts.push(&text[start..at]);
                start = at + word.len();
            }
            _ => (),
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Our own crates that do not forbid unsafe code.
fn unsafe_allowed() -> Vec<String> {
    let lints = std::fs::read_to_string(root().join("Cargo.toml")).unwrap_or_default();
    let forbidden = lints.contains("unsafe_code = \"forbid\"");
    if forbidden { Vec::new() } else { vec!["the workspace no longer forbids unsafe code".to_owned()] }
}

/// SHA-256 of each package, as `Cargo.lock` has it.
fn checksums(path: &Path) -> Result<HashMap<(String, String), String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lock: toml::Table = text.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let entry = |package: &toml::Value| {
        let text = |key: &str| Some(package.get(key)?.as_str()?.to_owned());
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    Ok(packages.iter().filter_map(entry).collect())
}

fn bill(metadata: &Value, checksums: &HashMap<(String, String), String>) -> Value {
    let reference = |name: &str, version: &str| format!("pkg:cargo/{name}@{version}");
    let component = |package: &Package| {
        let key = (package.name.to_owned(), package.version.to_owned());
        let hashes: Vec<Value> = checksums
            .get(&key)
            .map(|hash| json!({ "alg": "SHA-256", "content": hash }))
            .into_iter()
            .collect();
        let reference = reference(package.name, package.version);
        json!({
            "type": "library",
            "bom-ref": reference,
            "name": package.name,
            "version": package.version,
            "purl": reference,
            "licenses": [{ "expression": package.license.replace('/', " OR ") }],
            "hashes": hashes,
        })
    };
    let packages = packages(metadata);
    let (own, others): (Vec<_>, Vec<_>) = packages.iter().partition(|package| package.source.is_none());
    let by_id: HashMap<&str, String> = metadata["packages"].as_array().map_or_else(HashMap::new, |list| {
        list.iter()
            .filter_map(|package| {
                let text = |key: &str| package[key].as_str();
                Some((text("id")?, reference(text("name")?, text("version")?)))
            })
            .collect()
    });
    let nodes = metadata["resolve"]["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let dependencies: Vec<Value> = nodes
        .iter()
        .filter_map(|node| {
            let needs: BTreeSet<&String> =
                node["dependencies"].as_array()?.iter().filter_map(|id| by_id.get(id.as_str()?)).collect();
            Some(json!({ "ref": by_id.get(node["id"].as_str()?)?, "dependsOn": needs }))
        })
        .collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": "kreisel",
            "name": "kreisel",
            "version": own.first().map_or("", |package| package.version),
        } },
        "components": others.into_iter().chain(own).map(component).collect::<Vec<_>>(),
        "dependencies": dependencies,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_allowed_if_one_choice_is_and_all_that_is_needed_with_it() {
        let known = |one: &str| matches!(one, "MIT" | "Zlib" | "Unicode-3.0");
        for good in ["MIT", "GPL-3.0 OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0", "Unlicense/MIT"] {
            assert!(is_allowed(good, &known), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR LGPL-2.1) AND MIT", "GPL-3.0/LGPL-2.1"] {
            assert!(!is_allowed(bad, &known), "{bad}");
        }
    }

    #[test]
    fn the_bill_has_each_package_of_the_command_with_its_hash() {
        let place = std::env::temp_dir().join(format!("kreisel-bill-{}.json", std::process::id()));
        write_bill(&place).unwrap();
        let bill: Value = serde_json::from_slice(&std::fs::read(&place).unwrap()).unwrap();
        std::fs::remove_file(&place).unwrap();
        assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&json!("CycloneDX"), &json!("1.5")));
        let components = bill["components"].as_array().unwrap();
        let named = |name: &str| components.iter().find(|component| component["name"] == name).unwrap();
        // What it is built from comes from the registry and has a hash of 256 bits; what is ours has none.
        assert_eq!(named("faer")["hashes"][0]["content"].as_str().unwrap().len(), 64);
        assert_eq!(named("kreisel-cli")["hashes"], json!([]));
        let edges = bill["dependencies"].as_array().unwrap();
        assert!(edges.len() >= components.len());
    }

    #[test]
    fn the_dependencies_are_as_they_may_be() {
        check().unwrap();
    }
}
