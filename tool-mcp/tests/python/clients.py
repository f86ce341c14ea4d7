"""Lists and calls the tools with the official Python client, and with fastmcp.

The arguments are the program of a stdio server, and the URL of an HTTP server.
"""

import asyncio
import sys

import fastmcp
import httpx2
import mcp
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.client.streamable_http import streamable_http_client

PROGRAM, URL = sys.argv[1:]
TOKEN = {"Authorization": "Bearer secret-secret-secret"}


async def official(server, where):
    async with mcp.Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"notes.add", "notes.count", "notes.clear"} <= tools.keys(), tools.keys()
        assert tools["notes.clear"].annotations.destructive_hint, tools["notes.clear"]
        added = await client.call_tool("notes.add", {"text": "milk"})
        assert added.structured_content["text"] == "milk", added
        count = await client.call_tool("notes.count", {})
        assert count.content[0].text == "1", count
        wrong = await client.call_tool("notes.count", {"about": "milk"})
        assert wrong.is_error, wrong
        refused = await client.call_tool("notes.clear", {})
        assert refused.is_error and "refused" in refused.content[0].text, refused
    print("mcp over", where)


async def fast(transport, where):
    async with fastmcp.Client(transport) as client:
        names = [tool.name for tool in await client.list_tools()]
        assert "notes.add" in names, names
        added = await client.call_tool("notes.add", {"text": "milk"})
        assert added.structured_content["text"] == "milk", added
        wrong = await client.call_tool("notes.count", {"about": "milk"}, raise_on_error=False)
        assert wrong.is_error, wrong
    print("fastmcp over", where)


async def main():
    await official(mcp.stdio_client(mcp.StdioServerParameters(command=PROGRAM)), "stdio")
    async with httpx2.AsyncClient(headers=TOKEN) as http:
        await official(streamable_http_client(URL, http_client=http), "http")
    await fast(StdioTransport(PROGRAM, []), "stdio")
    await fast(StreamableHttpTransport(URL, headers=TOKEN), "http")


asyncio.run(main())
