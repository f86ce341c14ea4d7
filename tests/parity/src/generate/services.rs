//! Random services: modules, their items and their re-exports.

use super::Generator;
use crate::model::{DefinitionId, Module, Placement, TypeRole};

const PLACEMENTS: &[Placement] =
    &[Placement::Inline, Placement::File, Placement::File, Placement::Folder, Placement::Path];

impl Generator {
    /// Adds a service to the project.
    pub(super) fn service(&mut self, number: usize) {
        self.own.clear();
        let path = vec![format!("s{number:04}")];
        let mut module = Module::new(path.clone(), self.random.pick(PLACEMENTS));
        self.children(&mut module, 2);
        self.partner = None;

        let homes = homes(&module);
        for _ in 0..self.random.between(1, 4) {
            let home = self.random.pick(&homes);
            let id = self.definition(&home);
            place(&mut module, &home, id);
        }
        // The partner of the last one.
        while self.partner.is_some() {
            let home = self.random.pick(&homes);
            let id = self.definition(&home);
            place(&mut module, &home, id);
        }
        for role in [TypeRole::Opaque, TypeRole::Parsed, TypeRole::Written, TypeRole::Unseen, TypeRole::Injected] {
            if self.chance(25) {
                let home = self.random.pick(&homes);
                let id = self.lesser(&home, role);
                place(&mut module, &home, id);
            }
        }
        self.exports(&mut module);
        self.fill(&mut module, number);
        self.project.services.push(module);
    }

    fn children(&mut self, module: &mut Module, depth: usize) {
        let names = self.names(&["types", "model", "inner", "api", "r#type"], 2);
        for name in names {
            if depth == 0 || !self.chance(45) {
                continue;
            }
            let mut path = module.path.clone();
            path.push(name.to_owned());
            self.taken.entry(module.path.clone()).or_default().insert(name.to_owned());
            let mut child = Module::new(path, self.random.pick(PLACEMENTS));
            child.inherits = self.chance(25);
            child.cfg = self.chance(10).then(|| self.random.pick(crate::words::TRUE));
            self.children(&mut child, depth - 1);
            module.children.push(child);
        }
    }

    /// Adds tools to the service's own module and sometimes to nested ones.
    fn fill(&mut self, module: &mut Module, number: usize) {
        let path = module.path.clone();
        if self.chance(35) {
            module.classes.push(self.class(&path, number));
        } else {
            for _ in 0..self.random.between(1, 3) {
                module.functions.push(self.tool_function(&path, number));
            }
        }
        if let Some(child) = module.children.first_mut()
            && self.chance(20)
        {
            let path = child.path.clone();
            // Another number keeps the names distinct.
            child.functions.push(self.tool_function(&path, number + 100_000));
        }
    }

    /// Adds `pub use` items for nested items.
    fn exports(&mut self, module: &mut Module) {
        for index in 0..module.children.len() {
            self.exports(&mut module.children[index]);
            let child = &module.children[index];
            let (name, ids) = (child.name().to_owned(), child.definitions.clone());
            let from = if self.chance(50) { format!("self::{name}") } else { name };
            // Two globs could import two types of the same name.
            let has_glob = module.inherits || module.exports.iter().any(|item| item.ends_with("*;"));
            if !has_glob && self.chance(15) {
                module.exports.push(format!("pub use {from}::*;"));
                for id in ids {
                    self.export(module, id, None);
                }
                continue;
            }
            for id in ids {
                if !self.chance(30) {
                    continue;
                }
                let own = self.project.definitions[id].name.clone();
                let exported = if self.chance(40) { format!("{own}Of{}", self.random.below(100)) } else { own.clone() };
                if self.export(module, id, Some(&exported)) {
                    let renamed = if exported == own { String::new() } else { format!(" as {exported}") };
                    module.exports.push(format!("pub use {from}::{own}{renamed};"));
                }
            }
        }
    }

    /// Records that a type is reachable through a module. Returns `false` if its name is taken there.
    fn export(&mut self, module: &Module, id: DefinitionId, exported: Option<&str>) -> bool {
        let definition = &mut self.project.definitions[id];
        let name = exported.unwrap_or(&definition.name).to_owned();
        if !self.taken.entry(module.path.clone()).or_default().insert(name.clone()) {
            return false;
        }
        let mut path = module.path.clone();
        path.push(name);
        definition.exports.push(path);
        true
    }
}

fn homes(module: &Module) -> Vec<Vec<String>> {
    let mut all = vec![module.path.clone()];
    module.children.iter().for_each(|child| all.extend(homes(child)));
    all
}

fn place(module: &mut Module, home: &[String], id: DefinitionId) {
    if module.path == home {
        module.definitions.push(id);
    }
    module.children.iter_mut().for_each(|child| place(child, home, id));
}
