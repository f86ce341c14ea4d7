//! Our tools for every MCP client, every MCP server's tools as ours.
