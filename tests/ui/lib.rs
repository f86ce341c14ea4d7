//! The cases are in the directories beside this file.
