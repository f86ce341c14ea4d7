#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod argument;
mod argument_problem;
mod argument_schema;
mod argument_type;
mod assemble;
mod brief;
mod compare;
pub mod compatibility;
mod definition;
mod destructive_name;
mod doc_links;
mod embedded;
mod json;
mod keys;
mod manifest;
pub mod name;
mod nearest;
mod registration;
mod replace_file;
mod reword;
mod rule;
mod scalar;
mod schema;
mod schema_walk;
mod shorten;
mod test_docs;
mod tokens;
#[doc(hidden)]
pub mod trace;
mod unique_map;
pub mod validate;

pub use argument::Argument;
pub use argument_problem::ArgumentProblem;
pub use argument_schema::ArgumentSchema;
pub use argument_type::{ArgumentType, TypeSchema};
pub use assemble::{Assembly, RawArgument};
pub use brief::{brief, brief_arguments, flags};
pub use compare::{difference, difference_with_words};
pub use definition::ToolDefinition;
pub use destructive_name::destructive_word;
pub use doc_links::{is_link_definition, reduce_links};
pub use embedded::EmbeddedManifest;
pub use json::{Sorted, canonical, to_pretty};
pub use keys::{KEYS, Key, KeyKind, KeyValue, key};
pub use manifest::{Manifest, ManifestError};
pub use nearest::nearest;
pub use registration::{
    ArgumentDetails, ArgumentSpec, Callable, Options, REGISTRATIONS, Registration, ReturnType, Source, Types,
    registrations,
};
pub use replace_file::replace_file;
pub use rule::{Number, Rule};
pub use schema::target as reference_target;
pub use shorten::{LONGEST_EXCERPT, shorten};
pub use test_docs::is_for_tests;
pub use tokens::estimate_tokens;

#[doc(hidden)]
pub use {linkme, schemars};
