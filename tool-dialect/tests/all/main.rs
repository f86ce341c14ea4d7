//! Every provider's form of every fixture of the workspace, and of random tools.

// What the tests share: the fixtures' manifests, and all forms.
mod fixtures;
// The definitions of all fixtures, byte by byte, in `../golden`.
mod golden;
// The providers' rules, written a second time, to judge what the crate writes.
mod judge;
// Names there and back.
mod names;
// The providers' own packages take what we write, and we read what they write.
mod python;
// Random tools keep every provider's rules and lose nothing unsaid.
mod random;
// What is lost is said, and limits are seen.
mod reports;
// Responses and streams as providers send them, in `../samples`.
mod samples;
// Single schemas, each with its form for a provider.
mod schemas;
// Responses and results, provider by provider.
mod wire;
