//! What `tool-mcp` does, against servers and clients of others.
