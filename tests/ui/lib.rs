//! The cases stand in the folders beside this file.
