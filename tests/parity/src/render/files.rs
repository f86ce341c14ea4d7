//! Distributes modules over files, in every layout that rustc supports.

use std::collections::HashSet;

use super::names::Names;
use super::{Item, Sources, definitions, functions};
use crate::Random;
use crate::model::{Module, Placement, Project};

/// The places of a module's child files.
#[derive(Clone)]
struct ChildPaths {
    /// The file that contains the module's text.
    file: String,
    /// The directory of `mod child;`.
    folder: String,
    /// The directory of `#[path = ".."] mod child;`.
    beside: String,
}

struct FileWriter<'a> {
    project: &'a Project,
    sources: Sources,
    random: Random,
    crate_name: &'a str,
}

pub(super) fn write(project: &Project, seed: u64, crate_name: &str) -> Sources {
    // Independent of the numbers that made the model.
    let random = Random::new(seed ^ 0x5bd1_e995);
    let mut writer = FileWriter { project, sources: Sources::default(), random, crate_name };
    let root = ChildPaths { file: "lib.rs".to_owned(), folder: String::new(), beside: String::new() };
    let mut text = "//! Made at random.\n#![allow(warnings)]\n\n".to_owned();
    // Neither of these is searched.
    text +=
        "#[cfg(feature = \"off\")]\npub mod missing;\n#[cfg(any())]\n#[path = \"nowhere.rs\"]\nmod also_missing;\n\n";
    for service in &project.services {
        text += &writer.module(service, &root, None);
    }
    writer.sources.files.insert(root.file, text);
    writer.sources
}

impl FileWriter<'_> {
    /// Renders the `mod` item of a module. Its text goes into a file of its own unless it is inline.
    fn module(&mut self, module: &Module, parent: &ChildPaths, names: Option<&Names<'_>>) -> String {
        let name = module.name();
        let file_name = name.trim_start_matches("r#");
        let cfg = definitions::cfg(module.cfg, "");
        let (place, attribute) = match module.placement {
            Placement::Inline => {
                let folder = join(&parent.folder, file_name);
                (ChildPaths { file: parent.file.clone(), beside: folder.clone(), folder }, String::new())
            }
            Placement::File => {
                let file = join(&parent.folder, &format!("{file_name}.rs"));
                let beside = parent.folder.clone();
                (ChildPaths { file, folder: join(&parent.folder, file_name), beside }, String::new())
            }
            Placement::Folder => {
                let folder = join(&parent.folder, file_name);
                (ChildPaths { file: join(&folder, "mod.rs"), beside: folder.clone(), folder }, String::new())
            }
            Placement::Path => {
                // A directory of its own: files beside it are its children.
                let given = format!("of_{}/odd.rs", module.path.join("_").replace("r#", ""));
                let file = join(&parent.beside, &given);
                let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
                let attribute = if self.random.chance(20) {
                    format!("#[cfg_attr(feature = \"on\", path = {given:?})]\n")
                } else {
                    format!("#[path = {given:?}]\n")
                };
                (ChildPaths { file, beside: folder.clone(), folder }, attribute)
            }
        };
        let text = self.content(module, &place, names.filter(|_| module.inherits));
        if module.placement == Placement::Inline {
            return format!("{cfg}pub mod {name} {{\n{text}}}\n");
        }
        let previous = self.sources.files.insert(place.file.clone(), text);
        assert!(previous.is_none(), "two modules in {}", place.file);
        format!("{cfg}{attribute}pub mod {name};\n")
    }

    fn content(&mut self, module: &Module, place: &ChildPaths, parent: Option<&Names<'_>>) -> String {
        let mut names = Names::new(self.random.fork(), module, self.own_names(module), parent);
        let mut text = String::new();
        for function in &module.functions {
            let written = functions::function(&mut names, self.project, function);
            self.note(module, &function.name, place, &written);
            text += &format!("{written}\n");
        }
        for class in &module.classes {
            let (written, methods) = functions::class(&mut names, self.project, class);
            for (method, text) in class.methods.iter().zip(methods) {
                self.note(module, &format!("{}::{}", class.name, method.name), place, &text);
            }
            text += &format!("{written}\n");
        }
        for &id in &module.definitions {
            text += &format!("{}\n", definitions::write(&mut names, self.project, &self.project.definitions[id]));
        }
        let mut children = String::new();
        for child in &module.children {
            children += &self.module(child, place, Some(&names));
        }
        let exports: String = module.exports.iter().map(|export| format!("{export}\n")).collect();
        let text = text + &names.constants();
        let parts = if self.random.chance(50) { [children, exports, text] } else { [text, children, exports] };
        format!("{}\n{}", names.imports(), parts.join("\n"))
    }

    /// Returns the names that the module defines or exports.
    fn own_names(&self, module: &Module) -> HashSet<String> {
        let definitions = module.definitions.iter().map(|&id| self.project.definitions[id].name.clone());
        let exported = self.project.definitions.iter().flat_map(|definition| &definition.exports);
        let exported = exported.filter(|path| path.starts_with(&module.path) && path.len() == module.path.len() + 1);
        let children = module.children.iter().map(|child| child.name().to_owned());
        let functions = module.functions.iter().map(|function| function.name.clone());
        let classes = module.classes.iter().map(|class| class.name.clone());
        let exported = exported.filter_map(|path| path.last().cloned());
        definitions.chain(exported).chain(children).chain(functions).chain(classes).collect()
    }

    /// Records the source of the tools of an item.
    fn note(&mut self, module: &Module, name: &str, place: &ChildPaths, text: &str) {
        // Raw identifiers keep their prefix in a module's path, but not in a handler's.
        let name = name.replace("r#", "");
        let handler = format!("{}::{}::{name}", self.crate_name, module.path.join("::"));
        let item = Item { file: place.file.clone(), text: text.to_owned() };
        self.sources.items.insert(handler, item);
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
