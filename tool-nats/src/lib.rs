//! The same dispatcher over many machines, on NATS.
