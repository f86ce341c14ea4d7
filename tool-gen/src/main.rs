//! The program `tool-gen`.

fn main() {}
