//! Renders types with their attributes and associated items.

use super::names::Names;
use crate::model::{
    Attribute, AttributeEntry, Companion, Content, DefaultImpl, Definition, DefinitionKind, Field, Project, TypeRole,
    Variant,
};

/// Renders a definition and its associated items.
pub(super) fn write(names: &mut Names<'_>, project: &Project, definition: &Definition) -> String {
    let mut text = definition.docs.write("");
    if let DefinitionKind::Alias(target) = &definition.shape {
        let target = names.ty(project, target);
        let generics = generics(names, project, definition, true);
        return format!("{text}pub type {}{generics} = {target};\n", definition.name);
    }
    text += &derives(names, definition);
    text += &attributes(names, project, &definition.attributes, "");
    let generics = generics(names, project, definition, true);
    let name = &definition.name;
    text += &match &definition.shape {
        DefinitionKind::Struct(content @ Content::Struct(_)) => {
            format!("pub struct {name}{generics} {}\n", self::content(names, project, content, "pub ", ""))
        }
        DefinitionKind::Struct(content) => {
            format!("pub struct {name}{generics}{};\n", self::content(names, project, content, "pub ", ""))
        }
        DefinitionKind::Enum(variants) => {
            let marked = definition.default == DefaultImpl::Derived;
            let variants: String = variants
                .iter()
                .enumerate()
                .map(|(index, variant)| self::variant(names, project, variant, marked && index == 0))
                .collect();
            format!("pub enum {name}{generics} {{\n{variants}}}\n")
        }
        DefinitionKind::Alias(_) => String::new(),
    };
    text += &default_by_hand(definition);
    if definition.role == TypeRole::Parsed {
        text += &parsed(names, name);
    }
    for item in &definition.items {
        text += &companion(names, project, definition, item);
    }
    text
}

fn derives(names: &mut Names<'_>, definition: &Definition) -> String {
    let paths: &[&str] = match definition.role {
        TypeRole::Full => &["serde::Serialize", "serde::Deserialize", "schemars::JsonSchema"],
        TypeRole::Opaque => &["serde::Deserialize"],
        TypeRole::Written => &["serde::Serialize", "schemars::JsonSchema"],
        TypeRole::Unseen => &["serde::Serialize"],
        TypeRole::Parsed | TypeRole::Injected => return String::new(),
    };
    let mut derives: Vec<String> = paths.iter().map(|path| names.annotation(path)).collect();
    if definition.is_key {
        derives.extend(["Clone", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash"].map(str::to_owned));
    } else if definition.items.iter().any(|item| matches!(item, Companion::Into(_))) {
        derives.push("Clone".to_owned());
    }
    if definition.default == DefaultImpl::Derived {
        derives.push("Default".to_owned());
    }
    if names.random.chance(15) && derives.len() > 1 {
        let (first, rest) = derives.split_at(1);
        return format!("#[derive({})]\n#[derive({})]\n", first.join(", "), rest.join(", "));
    }
    if names.random.chance(5) {
        return format!("#[cfg_attr(feature = \"on\", derive({}))]\n", derives.join(", "));
    }
    format!("#[derive({})]\n", derives.join(", "))
}

/// Renders attributes, sometimes merging those of one name into one list.
fn attributes(names: &mut Names<'_>, project: &Project, attributes: &[Attribute], indent: &str) -> String {
    let together = names.random.chance(50);
    let mut lists: Vec<(&str, Option<&str>, Vec<String>)> = Vec::new();
    for attribute in attributes {
        let word = match &attribute.word {
            AttributeEntry::Plain(word) => word.clone(),
            AttributeEntry::Typed(key, ty) => format!("{key} = {:?}", names.ty(project, ty)),
        };
        match lists.iter_mut().find(|(name, cfg, _)| together && *name == attribute.name && *cfg == attribute.cfg) {
            Some((_, _, words)) => words.push(word),
            None => lists.push((attribute.name, attribute.cfg, vec![word])),
        }
    }
    let write = |(name, cfg, words): (&str, Option<&str>, Vec<String>)| match cfg {
        Some(cfg) => format!("{indent}#[cfg_attr({cfg}, {name}({}))]\n", words.join(", ")),
        None => format!("{indent}#[{name}({})]\n", words.join(", ")),
    };
    lists.into_iter().map(write).collect()
}

fn generics(names: &mut Names<'_>, project: &Project, definition: &Definition, defaults: bool) -> String {
    if definition.lifetime {
        return "<'a>".to_owned();
    }
    if definition.generics.is_empty() {
        return String::new();
    }
    let each = definition.generics.iter().map(|(name, default)| match default {
        Some(default) if defaults => format!("{name} = {}", names.ty(project, default)),
        _ => (*name).to_owned(),
    });
    format!("<{}>", each.collect::<Vec<_>>().join(", "))
}

fn content(names: &mut Names<'_>, project: &Project, content: &Content, visibility: &str, indent: &str) -> String {
    let inner = format!("{indent}    ");
    match content {
        Content::Unit => String::new(),
        Content::Tuple(fields) => {
            let fields: String =
                fields.iter().map(|field| self::field(names, project, field, visibility, &inner)).collect();
            if fields.is_empty() { "()".to_owned() } else { format!("(\n{fields}{indent})") }
        }
        Content::Struct(fields) => {
            let fields: String =
                fields.iter().map(|field| self::field(names, project, field, visibility, &inner)).collect();
            format!("{{\n{fields}{indent}}}")
        }
    }
}

fn field(names: &mut Names<'_>, project: &Project, field: &Field, visibility: &str, indent: &str) -> String {
    let docs = field.docs.write(indent);
    let cfg = cfg(field.cfg, indent);
    let attributes = attributes(names, project, &field.attributes, indent);
    let ty = names.ty(project, &field.ty);
    let name = if field.name.is_empty() { String::new() } else { format!("{}: ", field.name) };
    format!("{docs}{cfg}{attributes}{indent}{visibility}{name}{ty},\n")
}

fn variant(names: &mut Names<'_>, project: &Project, variant: &Variant, is_default: bool) -> String {
    let docs = variant.docs.write("    ");
    let cfg = cfg(variant.cfg, "    ");
    let marker = if is_default { "    #[default]\n" } else { "" };
    let attributes = attributes(names, project, &variant.attributes, "    ");
    let content = match &variant.content {
        content @ Content::Struct(_) => format!(" {}", self::content(names, project, content, "", "    ")),
        content => self::content(names, project, content, "", "    "),
    };
    format!("{docs}{cfg}{marker}{attributes}    {}{content},\n", variant.name)
}

pub(super) fn cfg(predicate: Option<&str>, indent: &str) -> String {
    predicate.map(|predicate| format!("{indent}#[cfg({predicate})]\n")).unwrap_or_default()
}

fn default_by_hand(definition: &Definition) -> String {
    let (DefaultImpl::ByHand(values), DefinitionKind::Struct(Content::Struct(fields))) =
        (&definition.default, &definition.shape)
    else {
        return String::new();
    };
    let fields: Vec<String> =
        fields.iter().zip(values).map(|(field, value)| format!("{}: {value}", field.name)).collect();
    let name = &definition.name;
    format!(
        "impl Default for {name} {{\n    fn default() -> Self {{\n        Self {{ {} }}\n    }}\n}}\n",
        fields.join(", ")
    )
}

fn parsed(names: &mut Names<'_>, name: &str) -> String {
    let from_str = names.library("std::str::FromStr");
    format!(
        "impl {from_str} for {name} {{\n    type Err = std::string::String;\n    \
         fn from_str(_: &str) -> std::result::Result<Self, Self::Err> {{\n        unimplemented!()\n    }}\n}}\n"
    )
}

fn companion(names: &mut Names<'_>, project: &Project, definition: &Definition, item: &Companion) -> String {
    let this = &definition.name;
    match item {
        Companion::Function { name, ty, value, is_associated } => {
            let function = format!("fn {name}() -> {} {{\n    {value}\n}}\n", names.ty(project, ty));
            if *is_associated { format!("impl {this} {{\n{function}}}\n") } else { function }
        }
        Companion::Reader { name, ty } => format!(
            "fn {name}<'de, D: serde::Deserializer<'de>>(_: D) -> std::result::Result<{}, D::Error> {{\n    unimplemented!()\n}}\n",
            names.ty(project, ty)
        ),
        Companion::Constant { name, ty, value } => format!("const {name}: {ty} = {value};\n"),
        Companion::From(ty) => {
            let ty = names.ty(project, ty);
            format!(
                "impl From<{ty}> for {this} {{\n    fn from(_: {ty}) -> Self {{\n        Self(Default::default())\n    }}\n}}\n"
            )
        }
        Companion::TryFrom(ty) => {
            let ty = names.ty(project, ty);
            format!(
                "impl TryFrom<{ty}> for {this} {{\n    type Error = std::string::String;\n    \
                 fn try_from(_: {ty}) -> std::result::Result<Self, Self::Error> {{\n        Ok(Self(Default::default()))\n    }}\n}}\n"
            )
        }
        Companion::Into(ty) => {
            let ty = names.ty(project, ty);
            format!(
                "impl From<{this}> for {ty} {{\n    fn from(_: {this}) -> Self {{\n        unimplemented!()\n    }}\n}}\n"
            )
        }
    }
}
