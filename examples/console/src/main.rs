//! Console.
fn main() {}
