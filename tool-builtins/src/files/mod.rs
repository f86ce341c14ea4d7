//! Files of one workspace.
