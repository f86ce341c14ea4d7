//! The baselines: handwritten code without descriptions, which validates only what serde validates.

mod arguments;
mod matching;
mod table;

fn main() {
    contest::Entries::new().enter::<table::TableByHand>("table").enter::<matching::MatchByHand>("match").run();
}
