//! Commands in one workspace.
