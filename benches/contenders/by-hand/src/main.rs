//! The floors: what one writes by hand, which describes nothing and checks what serde checks.

mod arguments;
mod matching;
mod table;

fn main() {
    contest::Entries::new().enter::<table::Table>("table").enter::<matching::Match>("match").run();
}
