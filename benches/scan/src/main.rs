//! The generator compared with `syn::parse_file` alone and with a search for the attribute.
//!
//! `scan make FOLDER MEGABYTES PERCENT` creates a crate from files of the local cargo registry, of which PERCENT
//! have a tool; `scan parse|search|scan FOLDER` does one of the three over it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["make", folder, megabytes, percent] => make(Path::new(folder), megabytes.parse()?, percent.parse()?),
        [way, folder] => {
            println!("{}", run(way, Path::new(folder))?);
            Ok(())
        }
        _ => Err("see the head of this file".into()),
    }
}

fn run(way: &str, folder: &Path) -> Outcome<usize> {
    match way {
        "parse" => each(folder, |text| syn::parse_file(text).map_or(0, |file| file.items.len())),
        "search" => each(folder, |text| memchr::memmem::find(text.as_bytes(), b"#[tool").map_or(0, |_| 1)),
        "scan" => Ok(tool_gen::scan(folder.join("src/lib.rs")).run()?.manifest.len()),
        _ => Err("parse, search or scan".into()),
    }
}

fn each(folder: &Path, work: impl Fn(&str) -> usize) -> Outcome<usize> {
    let mut sum = 0;
    for path in files(&folder.join("src"))? {
        sum += work(&fs::read_to_string(path)?);
        proc_macro2::extra::invalidate_current_thread_spans();
    }
    Ok(sum)
}

/// Returns files that parse and declare no modules of their own, a hundred per directory.
fn make(folder: &Path, megabytes: usize, percent: usize) -> Outcome<()> {
    let source = folder.join("src");
    fs::create_dir_all(&source)?;
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"tree\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")?;
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo"))).ok_or("no CARGO_HOME")?;
    let mut bytes = 0;
    let mut count = 0;
    let mut folders = String::new();
    let mut modules = String::new();
    for path in shuffled(files(&home.join("registry/src"))?) {
        let Ok(mut text) = fs::read_to_string(&path) else { continue };
        let declares = text.lines().any(|line| line.trim_end().ends_with(';') && line.contains("mod "));
        if text.len() < 500 || declares || text.contains("tool") || syn::parse_file(&text).is_err() {
            continue;
        }
        proc_macro2::extra::invalidate_current_thread_spans();
        let group = format!("g{}", count / 100);
        if count % 100 == 0 {
            fs::create_dir_all(source.join(&group))?;
            folders.push_str(&format!("mod {group};\n"));
        }
        if count * percent % 100 < percent {
            let function =
                "pub fn tool_of(text: &str, #[arg(min = 1)] count: u32) -> String { text.repeat(count as usize) }";
            text.push_str(&format!("\n/// A tool.\n#[tool(name = \"t{count}\")]\n{function}\n"));
        }
        fs::write(source.join(&group).join(format!("f{count}.rs")), &text)?;
        modules.push_str(&format!("mod f{count};\n"));
        bytes += text.len();
        count += 1;
        let full = bytes > megabytes * 1_000_000;
        if count % 100 == 0 || full {
            fs::write(source.join(&group).join("mod.rs"), std::mem::take(&mut modules))?;
        }
        if full {
            break;
        }
    }
    if !modules.is_empty() {
        fs::write(source.join(format!("g{}", count / 100)).join("mod.rs"), modules)?;
    }
    fs::write(source.join("lib.rs"), folders)?;
    eprintln!("  {count} files, {:.1} MB, {percent} % with a tool", bytes as f64 / 1e6);
    Ok(())
}

/// Sorts in a fixed order that mixes all crates: by name, one crate of generated code would dominate the sample.
fn shuffled(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort_by_cached_key(|path| {
        let mut hasher = DefaultHasher::new();
        path.iter().rev().take(3).for_each(|part| part.hash(&mut hasher));
        hasher.finish()
    });
    paths
}

fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
