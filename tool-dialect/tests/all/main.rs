//! Tests of every dialect with all fixtures of the workspace and with random tools.

// Shared helpers: the fixtures' manifests and all dialect forms.
mod fixtures;
// Golden files with the definitions of all fixtures, in `../golden`.
mod golden;
// An independent implementation of the providers' rules.
mod judge;
// Encoding and decoding of names.
mod names;
// Compatibility with the providers' Python packages.
mod python;
// Property tests with random tools.
mod random;
// Loss reports and limits.
mod reports;
// Responses and streams as providers send them, in `../samples`.
mod samples;
// Schemas in each provider's profile.
mod schemas;
// Responses and results of each provider.
mod wire;
