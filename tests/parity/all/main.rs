//! What the generator reads in a source is what the compiler makes of it.

// Random services.
mod services;
