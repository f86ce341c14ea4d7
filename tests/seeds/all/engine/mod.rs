mod calls;
mod definitions;
mod files;
mod registry;
mod remote;
