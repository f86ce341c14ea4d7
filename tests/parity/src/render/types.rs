//! Renders types.

use super::names::Names;
use crate::model::{Definition, Project, Type};

/// The key of a type of the crate.
fn key(definition: &Definition) -> String {
    format!("crate::{}::{}", definition.module.join("::"), definition.name)
}

impl Names<'_> {
    pub(super) fn ty(&mut self, project: &Project, ty: &Type) -> String {
        let list = |names: &mut Self, types: &[Type]| {
            let types: Vec<String> = types.iter().map(|ty| names.ty(project, ty)).collect();
            types.join(", ")
        };
        match ty {
            Type::Library(path, arguments) => {
                let name = self.library(path);
                if arguments.is_empty() { name } else { format!("{name}<{}>", list(self, arguments)) }
            }
            Type::Defined(id, arguments) => {
                let name = self.definition(&project.definitions[*id]);
                match (project.definitions[*id].lifetime, arguments.is_empty()) {
                    (true, _) => format!("{name}<'static>"),
                    (false, true) => name,
                    (false, false) => format!("{name}<{}>", list(self, arguments)),
                }
            }
            Type::LentText => format!("{}<'a, str>", self.library("std::borrow::Cow")),
            Type::CowText => format!("{}<'static, str>", self.library("std::borrow::Cow")),
            Type::BoxedSlice(inner) => {
                let inner = self.ty(project, inner);
                format!("{}<[{inner}]>", self.library("std::boxed::Box"))
            }
            Type::Tuple(items) if items.len() == 1 => format!("({},)", list(self, items)),
            Type::Tuple(items) => format!("({})", list(self, items)),
            Type::Array(inner, length) => {
                let inner = self.ty(project, inner);
                format!("[{inner}; {}]", self.length(*length))
            }
            Type::Parameter(name) => (*name).to_owned(),
        }
    }

    /// Renders a type of the crate, without arguments.
    fn definition(&mut self, definition: &Definition) -> String {
        let mut canonical = definition.module.clone();
        canonical.push(definition.name.clone());
        let mut paths = vec![canonical];
        paths.extend(definition.exports.iter().cloned());
        self.local(&key(definition), &paths)
    }

    /// Renders the length of an array: a number, a sum, or a constant of the module.
    fn length(&mut self, length: usize) -> String {
        match self.random.below(10) {
            0 => format!("{length}usize"),
            1 => format!("{length:#x}"),
            2 if length > 0 => format!("{} + 1", length - 1),
            3 | 4 => self.constant(length),
            _ => length.to_string(),
        }
    }

    /// Expands a text that contains library paths in braces.
    pub(super) fn template(&mut self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (path, after) = after.split_once('}').unwrap_or((after, ""));
            written.push_str(before);
            written.push_str(&self.library(path));
            rest = after;
        }
        written + rest
    }
}
