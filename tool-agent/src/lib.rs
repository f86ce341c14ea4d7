//! The loop in which a language model calls tools until it can answer.
