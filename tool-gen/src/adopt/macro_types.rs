//! Types that `macro_rules!` macros declare, read from the text of the macro.
//!
//! Newtypes for ids are often declared as `id_type!(RunId, JobId)`. The derives and `impl`s of such a type stand in the
//! macro, next to `struct $name`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::traits::DecisiveTrait;
use crate::source::SourceTree;
use crate::text::group_behind;

/// The most characters between a derive and the struct that it belongs to.
const LONGEST_ATTRIBUTES: usize = 1_000;

/// The types that macros of the loaded crates declare.
#[derive(Default)]
pub(super) struct MacroTypes {
    /// The number of files when the index was built. Resolving types loads more crates.
    files: RefCell<usize>,
    types: RefCell<HashMap<String, Rc<MacroType>>>,
}

/// A macro that declares types.
#[derive(Debug, Default)]
pub(super) struct MacroType {
    derives: Vec<String>,
    /// The headers of `impl`s, such as `From<u64> for $name`.
    impls: Vec<String>,
}

impl MacroType {
    /// Reads the body of a macro. Returns `None` if it declares no type.
    fn read(body: &str) -> Option<Self> {
        let declared = ["struct $", "enum $"].iter().find_map(|start| body.find(start))?;
        let mut first = declared.saturating_sub(LONGEST_ATTRIBUTES);
        while !body.is_char_boundary(first) {
            first += 1;
        }
        let before = &body[first..declared];
        let lists = before.match_indices("derive(").filter_map(|(at, _)| group_behind(&before[at + "derive".len()..]));
        let names = lists.flat_map(|list| list.split(',')).filter_map(|path| path.trim().rsplit("::").next());
        let impls = body
            .split("impl")
            .skip(1)
            .filter_map(|rest| rest.split('{').next())
            .filter(|header| header.contains(" for $"));
        Some(Self {
            derives: names.map(|name| name.trim().to_owned()).collect(),
            impls: impls.map(|header| header.split_whitespace().collect::<Vec<_>>().join(" ")).collect(),
        })
    }

    pub(super) fn implements(&self, wanted: DecisiveTrait) -> bool {
        wanted.derives().iter().any(|name| self.derives.iter().any(|derived| derived == name))
            || self.impls.iter().any(|header| {
                let of_trait = header.split(" for $").next().unwrap_or_default();
                of_trait.rsplit([':', ' ']).any(|word| word.split('<').next() == Some(wanted.name()))
            })
    }

    /// Returns the types of its `From` impls, as written.
    pub(super) fn origins(&self) -> impl Iterator<Item = &str> {
        self.impls.iter().filter_map(|header| header.split("From<").nth(1)?.split('>').next())
    }
}

impl MacroTypes {
    /// Returns the macro that declares a type, by the type's last name.
    pub(super) fn find(&self, sources: &SourceTree, path: &str) -> Option<Rc<MacroType>> {
        let name = path.rsplit("::").next().unwrap_or(path).trim();
        let files = sources.files();
        if *self.files.borrow() != files.len() {
            *self.files.borrow_mut() = files.len();
            *self.types.borrow_mut() = index(&files.iter().map(|file| file.text()).collect::<Vec<_>>());
        }
        self.types.borrow().get(name).cloned()
    }
}

fn index(texts: &[Rc<String>]) -> HashMap<String, Rc<MacroType>> {
    let mut bodies = Vec::new();
    for text in texts {
        for at in memchr::memmem::find_iter(text.as_bytes(), b"macro_rules!") {
            let rest = text[at..].trim_start_matches("macro_rules!").trim_start();
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or_default();
            bodies.extend(group_behind(&rest[length..]).map(|body| (format!("{}!", &rest[..length]), body)));
        }
    }
    let mut macros: Vec<(&str, Rc<MacroType>)> =
        bodies.iter().filter_map(|(call, body)| Some((call.as_str(), Rc::new(MacroType::read(body)?)))).collect();
    // A macro may leave the declaration to another.
    for (call, body) in &bodies {
        let passes_on = |(other, _): &&(&str, Rc<MacroType>)| body.contains(&format!("{other}($"));
        if let Some((_, declared)) = macros.iter().find(passes_on).filter(|(other, _)| other != call) {
            let declared = declared.clone();
            macros.push((call, declared));
        }
    }
    let mut types = HashMap::new();
    for (call, declared) in &macros {
        for text in texts {
            for (at, _) in text.match_indices(call) {
                let Some(names) = group_behind(&text[at + call.len()..]) else { continue };
                let words = names.split(|c: char| !c.is_alphanumeric() && c != '_');
                let is_type = |word: &&str| word.starts_with(|first: char| first.is_ascii_uppercase());
                for name in words.filter(is_type) {
                    types.entry(name.to_owned()).or_insert_with(|| declared.clone());
                }
            }
        }
    }
    types
}
