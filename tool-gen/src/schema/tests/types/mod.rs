//! Types that are compiled and parsed.
#![allow(dead_code, missing_docs, deprecated, clippy::all)]

mod attributes;
mod combinations;
mod converted;
mod default_containers;
mod default_fields;
mod default_values;
mod documentation;
mod enums;
mod flattened;
mod generics;
mod names;
mod structs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

pub use attributes::*;
pub use combinations::*;
pub use converted::*;
pub use default_containers::*;
pub use default_fields::*;
pub use default_values::*;
pub use documentation::*;
pub use enums::*;
pub use flattened::*;
pub use generics::*;
pub use names::*;
pub use structs::*;

/// The source of the types: all files are read as one.
pub(super) const SOURCE: &[&str] = &[
    include_str!("attributes.rs"),
    include_str!("combinations.rs"),
    include_str!("converted.rs"),
    include_str!("default_containers.rs"),
    include_str!("default_fields.rs"),
    include_str!("default_values.rs"),
    include_str!("documentation.rs"),
    include_str!("enums.rs"),
    include_str!("flattened.rs"),
    include_str!("generics.rs"),
    include_str!("names.rs"),
    include_str!("structs.rs"),
];
