"""Checks definitions and samples with the providers' own packages, without network access.

Reads {"definitions": {FORM: DEFINITIONS}, "samples": {DIALECT: SAMPLES}} from the file in the first argument. The types
of the packages validate everything (`definitions`, `samples`); controls must be rejected. The clients of `openai` and
`anthropic` then send the definitions to a local server and receive the samples as responses, complete and streamed.
Prints the values that the test compares: {"controls": {DIALECT: COUNT}, "received": {FORM: DEFINITIONS},
"responses": {DIALECT: {WHAT: RESPONSE}}, "streams": {DIALECT: {WHAT: RESPONSE}}}.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import anthropic
import openai

import definitions
import samples

with open(sys.argv[1], encoding="utf-8") as file:
    GIVEN = json.load(file)
PATHS = {"/v1/chat/completions": "openai", "/v1/responses": "openai-responses", "/v1/messages": "anthropic"}
received = {}


class Server(BaseHTTPRequestHandler):
    """Records the tools of a request and responds with the requested sample."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        dialect, at = PATHS[self.path], int(self.headers["x-sample"])
        if "x-form" in self.headers:
            received[self.headers["x-form"]] = body["tools"]
        if body.get("stream"):
            events = GIVEN["samples"][dialect]["streams"][at]["events"]
            lines = [f"event: {event.get('type')}\ndata: {json.dumps(event)}\n\n" for event in events]
            kind, text = "text/event-stream", "".join(lines) + ("data: [DONE]\n\n" if dialect == "openai" else "")
        else:
            kind, text = "application/json", json.dumps(GIVEN["samples"][dialect]["responses"][at]["response"])
        answer = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def start():
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


ADDRESS = start()
OPENAI = openai.OpenAI(api_key="none", base_url=f"{ADDRESS}/v1", max_retries=0)
ANTHROPIC = anthropic.Anthropic(api_key="none", base_url=ADDRESS, max_retries=0)
USER = [{"role": "user", "content": "hello"}]
CREATE = {
    "openai": lambda **more: OPENAI.chat.completions.create(model="m", messages=USER, **more),
    "openai-responses": lambda **more: OPENAI.responses.create(model="m", input="hello", **more),
    "anthropic": lambda **more: ANTHROPIC.messages.create(model="m", max_tokens=9, messages=USER, **more),
}


def streamed(dialect, headers):
    """Returns the complete response that the package assembles from a stream."""
    if dialect == "openai":
        with OPENAI.chat.completions.stream(model="m", messages=USER, extra_headers=headers) as stream:
            return stream.get_final_completion()
    if dialect == "openai-responses":
        with OPENAI.responses.stream(model="m", input="hello", extra_headers=headers) as stream:
            return stream.get_final_response()
    with ANTHROPIC.messages.stream(model="m", max_tokens=9, messages=USER, extra_headers=headers) as stream:
        return stream.get_final_message()


def main():
    controls = definitions.controls()
    samples.check(GIVEN["samples"])
    for form, tools in GIVEN["definitions"].items():
        dialect = form.removesuffix("-strict")
        definitions.check(dialect, tools)
        create = CREATE.get("openai" if dialect == "openrouter" else dialect)
        if create:
            create(tools=tools, extra_headers={"x-form": form, "x-sample": "0"})
    responses, streams = {}, {}
    for dialect, create in CREATE.items():
        of = GIVEN["samples"][dialect]
        responses[dialect] = {
            sample["what"]: json.loads(create(extra_headers={"x-sample": str(at)}).model_dump_json(by_alias=True))
            for at, sample in enumerate(of["responses"])
            if sample["accepted"]
        }
        streams[dialect] = {
            sample["what"]: json.loads(streamed(dialect, {"x-sample": str(at)}).model_dump_json(by_alias=True))
            for at, sample in enumerate(of["streams"])
            if sample["accepted"] and sample["complete"] and sample["package"]
        }
    json.dump({"controls": controls, "received": received, "responses": responses, "streams": streams}, sys.stdout)


main()
