mod annotations;
mod injection;
mod manifest;
mod packages;
mod types;
