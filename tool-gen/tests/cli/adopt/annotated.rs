//! A class that is annotated already.

pub struct Desk;

#[tool_runtime::tool_class]
impl Desk {
    /// Book a desk.
    pub fn book(&self, name: String) {}
}
