//! Random serde and schemars attributes that are valid where they are placed.

use super::Generator;
use super::types::names_parameter;
use crate::model::{Attribute, AttributeEntry, Companion, Type};
use crate::words;

/// The items that attributes name, and where they belong.
pub(super) struct Companions<'a> {
    pub(super) items: &'a mut Vec<Companion>,
    /// The name of the definition, which is their prefix.
    pub(super) owner: &'a str,
    /// The type they can belong to, if it is not generic.
    pub(super) associated: Option<&'a str>,
}

impl Companions<'_> {
    fn name(&self, what: &str) -> String {
        format!("{}_{what}_{}", self.owner.to_lowercase(), self.items.len())
    }
}

/// Creates an attribute from its source text.
pub(super) fn plain(name: &'static str, word: impl Into<String>) -> Attribute {
    Attribute { name, word: AttributeEntry::Plain(word.into()), cfg: None }
}

/// Returns `true` if an attribute of a type makes its JSON something else than an object of its fields.
pub(super) fn changes_form(attribute: &Attribute) -> bool {
    match &attribute.word {
        AttributeEntry::Plain(word) => word == "transparent",
        AttributeEntry::Typed(..) => true,
    }
}

impl Generator {
    /// Returns attributes that any kind of type can have.
    pub(super) fn container(&mut self) -> Vec<Attribute> {
        let mut all = Vec::new();
        let case = self.random.pick(words::CASES);
        match self.random.below(100) {
            0..25 => all.push(plain("serde", format!("rename_all = {case:?}"))),
            25..28 => {
                let other = self.random.pick(words::CASES);
                all.push(plain("serde", format!("rename_all(serialize = {other:?}, deserialize = {case:?})")));
            }
            28..30 => all.push(plain("schemars", format!("rename_all = {case:?}"))),
            _ => {}
        }
        match self.random.below(100) {
            0..4 => all.push(plain("serde", "rename = \"Renamed\"")),
            4 => all.push(plain("serde", "rename(serialize = \"Out\", deserialize = \"In\")")),
            5..8 => all.push(plain("schemars", "rename = \"Schema.Name\"")),
            _ => {}
        }
        match self.random.below(100) {
            0..4 => all.push(plain("schemars", "description = \"Said by schemars.\"")),
            4..6 => all.push(plain("schemars", "title = \"A title\"")),
            6..8 => all.push(plain("schemars", "inline")),
            8..10 => all.push(plain("schemars", "extend(\"x-more\" = [1, \"two\", {\"three\": null}])")),
            12 => all.push(plain("deprecated", "since = \"1.0\"")),
            10..12 => all.push(plain("serde", "expecting = \"something\"")),
            _ => {}
        }
        self.sometimes_conditional(&mut all);
        all
    }

    /// Puts some attributes into a `cfg_attr`.
    pub(super) fn sometimes_conditional(&mut self, attributes: &mut [Attribute]) {
        for attribute in attributes {
            // A false predicate would remove what other attributes rely on, except for names.
            let is_name = matches!(&attribute.word, AttributeEntry::Plain(word) if word.starts_with("rename") || word.contains("description"));
            if self.chance(6) {
                let predicates = if is_name && self.chance(50) { words::FALSE } else { words::TRUE };
                attribute.cfg = Some(self.random.pick(predicates));
            }
        }
    }

    /// Returns attributes of a named field. `position` keeps new names distinct.
    pub(super) fn field(
        &mut self,
        ty: &Type,
        position: usize,
        may_flatten: bool,
        companions: &mut Companions<'_>,
    ) -> Vec<Attribute> {
        if may_flatten && self.is_object(ty) && self.chance(25) {
            return vec![plain("serde", "flatten")];
        }
        let mut all = self.field_name(position);
        self.presence(ty, &mut all, companions);
        self.demands(ty, &mut all, companions);
        self.sometimes_conditional(&mut all);
        all
    }

    fn field_name(&mut self, position: usize) -> Vec<Attribute> {
        let mut all = Vec::new();
        let name = words::RENAMES[position % words::RENAMES.len()];
        match self.random.below(100) {
            0..8 => all.push(plain("serde", format!("rename = \"{name}\""))),
            8..11 => {
                all.push(plain("serde", format!("rename(serialize = \"out{position}\", deserialize = \"{name}\")")))
            }
            11..13 => all.push(plain("serde", format!("rename(serialize = \"out{position}\")"))),
            13..15 => all.push(plain("schemars", format!("rename = \"schema{position}\""))),
            _ => {}
        }
        if self.chance(5) {
            all.push(plain("serde", format!("alias = \"alias{position}\"")));
        }
        all
    }

    /// Chooses whether the field is optional, and its default.
    fn presence(&mut self, ty: &Type, all: &mut Vec<Attribute>, companions: &mut Companions<'_>) {
        let has_default = self.has_default(ty);
        let skips = match self.expand(ty).path() {
            Some("std::option::Option") => Some("Option::is_none"),
            Some("std::vec::Vec") => Some("Vec::is_empty"),
            Some("std::string::String") => Some("String::is_empty"),
            _ => None,
        };
        match self.random.below(100) {
            0..14 if has_default => all.push(plain("serde", "default")),
            14..22 => self.default_function(ty, all, companions),
            22..24 if has_default => all.push(plain("serde", "skip")),
            24..26 if has_default => all.push(plain("serde", "skip_deserializing")),
            26..28 => all.push(plain("serde", "skip_serializing")),
            28 if has_default => all.push(plain("schemars", "skip")),
            29..32 if !names_parameter(ty) => self.reader(ty, all, companions),
            _ => {}
        }
        if let Some(skips) = skips
            && self.chance(15)
        {
            all.push(plain("serde", format!("skip_serializing_if = {skips:?}")));
        }
    }

    fn default_function(&mut self, ty: &Type, all: &mut Vec<Attribute>, companions: &mut Companions<'_>) {
        if names_parameter(ty) {
            return;
        }
        let Some(value) = self.value(ty) else { return };
        let name = companions.name("default");
        let owner = companions.associated.filter(|_| self.chance(20));
        let path = owner.map_or_else(|| name.clone(), |owner| format!("{owner}::{name}"));
        all.push(plain("serde", format!("default = {path:?}")));
        companions.items.push(Companion::Function { name, ty: ty.clone(), value, is_associated: owner.is_some() });
    }

    /// Chooses a function that deserializes the field, sometimes as another type.
    fn reader(&mut self, ty: &Type, all: &mut Vec<Attribute>, companions: &mut Companions<'_>) {
        let name = companions.name("read");
        all.push(plain("serde", format!("deserialize_with = {name:?}")));
        companions.items.push(Companion::Reader { name, ty: ty.clone() });
    }

    /// Chooses schemars attributes that add to the type.
    fn demands(&mut self, ty: &Type, all: &mut Vec<Attribute>, companions: &mut Companions<'_>) {
        match self.random.below(100) {
            0..4 => all.push(plain("schemars", "description = \"Said by schemars,\\nin two lines.\"")),
            4 => all.push(plain("schemars", "title = \"Field\"")),
            5 => all.push(plain("schemars", "extend(\"x-field\" = true)")),
            8 => all.push(plain("deprecated", "note = \"gone\"")),
            9 => all.push(plain("schemars", "example = \"like this\", example = 5")),
            6..8 => {
                let with = self.ty(1);
                all.push(Attribute { name: "schemars", word: AttributeEntry::Typed("with", with), cfg: None });
                return;
            }
            _ => {}
        }
        let target = match self.expand(ty) {
            Type::Library("std::option::Option", inner) => self.expand(&inner[0]),
            other => other,
        };
        let Some(path) = target.path() else { return };
        let is_number = matches!(path.as_bytes().first(), Some(b'i' | b'u' | b'f')) && !path.contains("::");
        if is_number && self.chance(20) {
            all.push(self.range(path, companions));
        } else if path == "std::string::String" {
            match self.random.below(100) {
                0..9 => all.push(self.length()),
                9..16 => {
                    let pattern = self.random.pick(words::PATTERNS);
                    all.push(plain("schemars", format!("regex(pattern = {pattern})")));
                }
                16 => all.push(plain("schemars", "email")),
                17 => all.push(plain("schemars", "url")),
                18 => all.push(plain("schemars", "contains(pattern = \"x\")")),
                _ => {}
            }
        } else if path == "std::vec::Vec" && self.chance(15) {
            all.push(self.length());
        } else if path == "std::vec::Vec" && self.chance(5) {
            all.push(plain("schemars", "inner(length(min = 1))"));
        }
    }

    fn range(&mut self, path: &'static str, companions: &mut Companions<'_>) -> Attribute {
        let float = path.starts_with('f');
        if !float && !path.ends_with("128") && self.chance(20) {
            let name = companions.name("least").to_uppercase();
            companions.items.push(Companion::Constant { name: name.clone(), ty: path, value: "2".to_owned() });
            return plain("schemars", format!("range(min = {name}, max = 90)"));
        }
        let (least, most) = if float { ("0.5", "1e2") } else { ("1", "99") };
        plain(
            "schemars",
            match self.random.below(3) {
                0 => format!("range(min = {least}, max = {most})"),
                1 => format!("range(min = {least})"),
                _ => format!("range(max = {most})"),
            },
        )
    }

    fn length(&mut self) -> Attribute {
        plain(
            "schemars",
            self.random.pick(&["length(min = 1, max = 9)", "length(min = 2)", "length(max = 5)", "length(equal = 4)"]),
        )
    }
}
