//! The forms of the language's own types, as a trace shows them.

use tool_model::trace::TracedForm;

use super::SchemaContract;
use super::library::language_type;

/// Returns the form of a type of the language.
pub(super) fn language_form(name: &str) -> Option<TracedForm> {
    language_type(name).map(|plain| TracedForm::Schema((plain.schema)(SchemaContract::Deserialize)))
}

/// Returns the number type of an atomic or of the language: `AtomicU8` as `u8`.
pub(super) fn plain_number(name: &str) -> String {
    let name = name.strip_prefix("Atomic").map_or_else(|| name.to_owned(), str::to_ascii_lowercase);
    // Serde reads them as these.
    match name.as_str() {
        "usize" => "u64".to_owned(),
        "isize" => "i64".to_owned(),
        _ => name,
    }
}

/// Returns the type of `#[repr(..)]`.
pub(super) fn repr(attributes: &[syn::Attribute]) -> Option<String> {
    let list = attributes.iter().find(|attribute| attribute.path().is_ident("repr"))?;
    list.parse_args::<syn::Ident>().ok().map(|ident| ident.to_string())
}
