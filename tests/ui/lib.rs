//! The cases stand in folders beside this file: `tool`, `class`, `arg`, `types`.
