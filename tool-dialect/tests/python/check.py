"""The providers' own packages over our definitions, on this machine alone.

Reads {FORM: DEFINITIONS} from the file it is given. Every schema is checked against the metaschema, every list of
definitions by the types of its provider's package. The clients of `openai` and `anthropic` then send theirs to a server
here, which answers with a response made by the package's types. Prints {"received": {FORM: DEFINITIONS},
"responses": {DIALECT: RESPONSE}} for the test to compare and to read.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import anthropic
import botocore.loaders
import botocore.model
import botocore.validate
import jsonschema
import mcp.types
import openai
from anthropic.types import Message, ToolParam
from google.genai import types as gemini
from openai.types.chat import ChatCompletion, ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam, Response
from pydantic import TypeAdapter

TEXT = '{"a": 1}'
CHAT = ChatCompletion.model_validate({
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "explicit__ping", "arguments": TEXT}},
        {"id": "call_2", "type": "function", "function": {"name": "explicit__nothing", "arguments": ""}},
    ]}}],
})
RESPONSE = Response.model_validate({
    "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": True,
    "tool_choice": "auto", "tools": [],
    "output": [
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "explicit__ping", "arguments": TEXT},
        {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "explicit__nothing", "arguments": ""},
    ],
})
MESSAGE = Message.model_validate({
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
    "usage": {"input_tokens": 1, "output_tokens": 1},
    "content": [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "call_1", "name": "explicit__ping", "input": {"a": 1}},
        {"type": "tool_use", "id": "call_2", "name": "explicit__nothing", "input": {}},
    ],
})
CONTENT = gemini.GenerateContentResponse.model_validate({"candidates": [{"content": {"role": "model", "parts": [
    {"function_call": {"id": "call_1", "name": "explicit.ping", "args": {"a": 1}}},
    {"function_call": {"id": "call_2", "name": "explicit.nothing", "args": {}}},
]}}]})
ANSWERS = {"/v1/chat/completions": CHAT, "/v1/responses": RESPONSE, "/v1/messages": MESSAGE}
received = {}


class Server(BaseHTTPRequestHandler):
    """Takes down the tools of a request and gives the answer of its path."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        received[self.headers["x-form"]] = body["tools"]
        answer = ANSWERS[self.path].model_dump_json().encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def schemas(form, definition):
    function = definition.get("function") or definition.get("toolSpec") or definition
    for key in ("parameters", "input_schema", "inputSchema", "outputSchema"):
        if key in function:
            yield function[key].get("json", function[key]) if form.startswith("bedrock") else function[key]


def converse():
    """Bedrock's own description of a request."""
    loaded = botocore.loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    return botocore.model.ServiceModel(loaded).operation_model("Converse").input_shape


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        forms = json.load(file)
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    one = openai.OpenAI(api_key="none", base_url=f"{address}/v1", max_retries=0)
    other = anthropic.Anthropic(api_key="none", base_url=address, max_retries=0)
    responses = {"gemini": CONTENT.model_dump(mode="json", by_alias=True, exclude_none=True)}
    user = [{"role": "user", "content": "hello"}]
    for form, definitions in forms.items():
        dialect = form.removesuffix("-strict")
        for definition in definitions:
            for schema in schemas(form, definition):
                if dialect != "gemini":
                    jsonschema.Draft202012Validator.check_schema(schema)
        headers = {"x-form": form}
        if dialect in ("openai", "openrouter"):
            TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(definitions)
            answer = one.chat.completions.create(model="m", messages=user, tools=definitions, extra_headers=headers)
        elif dialect == "openai-responses":
            TypeAdapter(list[FunctionToolParam]).validate_python(definitions)
            answer = one.responses.create(model="m", input="hello", tools=definitions, extra_headers=headers)
        elif dialect == "anthropic":
            TypeAdapter(list[ToolParam]).validate_python(definitions)
            answer = other.messages.create(model="m", max_tokens=9, messages=user, tools=definitions, extra_headers=headers)
        elif dialect == "gemini":
            # The types refuse what they do not know.
            tools = [gemini.Tool.model_validate(tool) for tool in definitions]
            assert sum(len(tool.function_declarations) for tool in tools) > 50
            continue
        elif dialect == "bedrock":
            request = {"modelId": "m", "messages": [], "toolConfig": {"tools": definitions}}
            report = botocore.validate.ParamValidator().validate(request, converse())
            assert not report.has_errors(), report.generate_report()
            continue
        elif dialect == "mcp":
            listed = mcp.types.ListToolsResult.model_validate({"tools": definitions})
            assert len(listed.tools) == len(definitions)
            continue
        responses[dialect] = json.loads(answer.model_dump_json())
    json.dump({"received": received, "responses": responses}, sys.stdout)


main()
