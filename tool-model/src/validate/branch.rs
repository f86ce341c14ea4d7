//! Selection of the alternative that a value was probably meant to match.
//!
//! `{"kind": "circle"}` was meant as the circle, so the message names its missing radius instead of listing all
//! alternatives.

use serde_json::{Map, Value};

use super::check::Checker;
use super::equality::equal;
use super::schema::{JsonTypes, Schema};

pub(super) enum BranchIntent<'s> {
    /// One alternative was meant.
    Branch(&'s Schema),
    /// The discriminating property is missing or has none of the alternatives' values.
    Tag {
        property: &'s str,
        values: Vec<&'s Value>,
    },
    /// The string names a variant with data, which is an object with this key.
    Key(&'s str),
    /// The object names a variant without data, which is this string.
    Word(&'s Value),
    Unclear,
}

/// The required properties of one alternative.
struct ObjectOutline<'s> {
    schema: &'s Schema,
    required: Vec<&'s str>,
    /// Required properties with listed values.
    tags: Vec<(&'s str, &'s [Value])>,
}

impl<'s> Checker<'s> {
    pub(super) fn intent(&mut self, branches: &'s [Schema], value: &Value) -> BranchIntent<'s> {
        let candidates: Vec<_> = branches.iter().filter(|branch| self.accepts_kind_of(branch, value)).collect();
        if let Some(named) = self.named_variant(branches, &candidates, value) {
            return named;
        }
        match (candidates.as_slice(), value) {
            // A value that is not among the listed ones may have been meant as any of the alternatives.
            ([only], _) if self.is_one_list_of_several(only, branches) => BranchIntent::Unclear,
            ([only], _) => BranchIntent::Branch(only),
            (several, Value::Object(object)) => {
                let outlines: Vec<_> = several.iter().map(|schema| self.outline(schema)).collect();
                intended_object(&outlines, object)
            }
            _ => BranchIntent::Unclear,
        }
    }

    /// Returns the variant of an externally tagged enum that the value names in the form of another variant: `"Circle"`
    /// for `{"Circle": 1}`, `{"None": null}` for `"None"`. The candidates are the alternatives of the value's type.
    fn named_variant(
        &mut self,
        branches: &'s [Schema],
        candidates: &[&'s Schema],
        value: &Value,
    ) -> Option<BranchIntent<'s>> {
        match value {
            Value::String(name) if candidates.iter().all(|schema| self.listed_values(schema).is_some()) => {
                let outlines: Vec<_> = branches.iter().map(|schema| self.outline(schema)).collect();
                only(&outlines, |outline| outline.required == [name])
                    .map(|outline| BranchIntent::Key(outline.required[0]))
            }
            Value::Object(object) if object.len() == 1 => {
                let name = object.keys().next()?;
                let outlines: Vec<_> = candidates.iter().map(|schema| self.outline(schema)).collect();
                let is_another = |outline: &ObjectOutline<'s>| {
                    !outline.required.is_empty() && !outline.required.contains(&name.as_str())
                };
                let mut words = branches.iter().filter_map(|schema| self.listed_values(schema)).flatten();
                let word = words.find(|word| word.as_str() == Some(name));
                word.filter(|_| outlines.iter().all(is_another)).map(BranchIntent::Word)
            }
            _ => None,
        }
    }

    /// Returns `true` if the schema only lists values, and there is an alternative to it besides `null`.
    fn is_one_list_of_several(&self, schema: &'s Schema, branches: &'s [Schema]) -> bool {
        let describer = self.describer();
        let is_null = |branch: &Schema| matches!(describer.allowed(branch), Some([Value::Null]));
        describer.allowed(schema).is_some()
            && branches.iter().any(|other| !std::ptr::eq(other, schema) && !is_null(other))
    }

    /// Returns `true` if the schema accepts some value of this JSON type.
    fn accepts_kind_of(&mut self, schema: &'s Schema, value: &Value) -> bool {
        let Schema::Rules(rules) = schema else { return matches!(schema, Schema::Anything) };
        let kinds = JsonTypes::from_value(value);
        let mut accepts = rules.kinds.is_none_or(|own| own.has(kinds))
            && rules
                .allowed
                .as_ref()
                .is_none_or(|allowed| allowed.iter().any(|listed| JsonTypes::from_value(listed).has(kinds)));
        self.bounded(|checker| {
            let mut any = |branches: &'s [Schema]| {
                branches.is_empty() || branches.iter().any(|branch| checker.accepts_kind_of(branch, value))
            };
            accepts = accepts && any(&rules.any_of) && any(&rules.one_of);
            let referred = checker.referred(rules);
            accepts =
                accepts && rules.all_of.iter().chain(referred).all(|schema| checker.accepts_kind_of(schema, value));
        });
        accepts
    }

    fn outline(&mut self, schema: &'s Schema) -> ObjectOutline<'s> {
        let mut outline = ObjectOutline { schema, required: Vec::new(), tags: Vec::new() };
        self.draw(schema, &mut outline);
        outline
    }

    fn draw(&mut self, schema: &'s Schema, outline: &mut ObjectOutline<'s>) {
        let Schema::Rules(rules) = schema else { return };
        for name in &rules.object.required {
            outline.required.push(name);
            let values = rules.object.properties.get(name).and_then(|schema| self.listed_values(schema));
            outline.tags.extend(values.map(|values| (name.as_str(), values)));
        }
        self.bounded(|checker| {
            let referred = checker.referred(rules);
            rules.all_of.iter().chain(referred).for_each(|schema| checker.draw(schema, outline));
        });
    }

    fn listed_values(&self, schema: &'s Schema) -> Option<&'s [Value]> {
        let Schema::Rules(rules) = schema else { return None };
        rules.allowed.as_deref().or_else(|| match self.referred(rules)? {
            Schema::Rules(target) => target.allowed.as_deref(),
            _ => None,
        })
    }
}

fn intended_object<'s>(outlines: &[ObjectOutline<'s>], object: &Map<String, Value>) -> BranchIntent<'s> {
    if let Some(property) = discriminator(outlines) {
        let by_tag =
            |outline: &&ObjectOutline<'s>| object.get(property).is_some_and(|tag| outline.has_tag(property, tag));
        return match outlines.iter().find(by_tag) {
            Some(outline) => BranchIntent::Branch(outline.schema),
            None => {
                BranchIntent::Tag { property, values: outlines.iter().flat_map(|o| o.values_of(property)).collect() }
            }
        };
    }
    only(outlines, |outline| !outline.tags.is_empty() && outline.matches_tags(object))
        .or_else(|| only(outlines, |outline| outline.matches_tags(object) && outline.is_complete_in(object)))
        .map_or(BranchIntent::Unclear, |outline| BranchIntent::Branch(outline.schema))
}

fn only<'o, 's>(
    outlines: &'o [ObjectOutline<'s>],
    fits: impl Fn(&ObjectOutline<'s>) -> bool,
) -> Option<&'o ObjectOutline<'s>> {
    let mut fitting = outlines.iter().filter(|outline| fits(outline));
    fitting.next().filter(|_| fitting.next().is_none())
}

/// Returns the property that every alternative requires, with distinct values in each.
fn discriminator<'s>(outlines: &[ObjectOutline<'s>]) -> Option<&'s str> {
    let (first, others) = outlines.split_first()?;
    let tells_apart = |property: &&str| {
        let shared = others.iter().all(|outline| outline.tags.iter().any(|(name, _)| name == property));
        let values: Vec<_> = outlines.iter().flat_map(|outline| outline.values_of(property)).collect();
        let distinct = |(index, value): (usize, &&Value)| !values[..index].iter().any(|other| equal(other, value));
        shared && values.iter().enumerate().all(distinct)
    };
    first.tags.iter().map(|(property, _)| *property).find(tells_apart)
}

impl<'s> ObjectOutline<'s> {
    fn values_of(&self, property: &str) -> impl Iterator<Item = &'s Value> {
        self.tags.iter().filter(move |(name, _)| *name == property).flat_map(|(_, values)| *values)
    }

    fn matches_tags(&self, object: &Map<String, Value>) -> bool {
        let matches = |property: &str| object.get(property).is_some_and(|tag| self.has_tag(property, tag));
        self.tags.iter().all(|(property, _)| matches(property))
    }

    /// Returns `true` if the object has all required properties and there is at least one.
    fn is_complete_in(&self, object: &Map<String, Value>) -> bool {
        !self.required.is_empty() && self.required.iter().all(|name| object.contains_key(*name))
    }

    fn has_tag(&self, property: &str, tag: &Value) -> bool {
        self.values_of(property).any(|value| equal(value, tag))
    }
}
