"""Validates the loop's requests with the providers' own packages.

Reads [{"what": SCENARIO, "wire": WIRE, "body": REQUEST}] from the given file, and validates each request against the types
of its provider's package, rejecting unknown keys. As a control, it then breaks valid requests with each of `FLAWS` and
checks that they are rejected. Prints {"taken": {WIRE: COUNT}, "controls": {WIRE: COUNT}}.
"""

import copy
import json
import sys
from collections import Counter
from collections.abc import Iterator

import anthropic.types
import openai.types.chat
from anthropic.types import message_create_params
from google.genai import types as gemini
from openai.types.chat import completion_create_params
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import is_typeddict

# The packages describe requests as typed dictionaries, which accept unknown keys.
for module in (anthropic.types, openai.types.chat, message_create_params, completion_create_params):
    for typed in vars(module).values():
        if is_typeddict(typed):
            typed.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

OPENAI = {
    True: TypeAdapter(completion_create_params.CompletionCreateParamsStreaming),
    False: TypeAdapter(completion_create_params.CompletionCreateParamsNonStreaming),
}
ANTHROPIC = {
    True: TypeAdapter(message_create_params.MessageCreateParamsStreaming),
    False: TypeAdapter(message_create_params.MessageCreateParamsNonStreaming),
}
# Gemini's package has no type for a complete request, but one for each of its parts.
GEMINI = {
    "contents": TypeAdapter(list[gemini.Content]),
    "systemInstruction": TypeAdapter(gemini.Content),
    "tools": TypeAdapter(list[gemini.Tool]),
    "generationConfig": TypeAdapter(gemini.GenerationConfig),
}
# Extensions of OpenAI-compatible servers that they expect back.
ADDED = ("reasoning_content", "extra_content")


def every(value, wanted):
    """Returns all objects in a value that match."""
    if isinstance(value, dict):
        if wanted(value):
            yield value
        for item in list(value.values()):
            yield from every(item, wanted)
    elif isinstance(value, list):
        for item in value:
            yield from every(item, wanted)


def looked_through(value):
    """Forces lazily validated lists."""
    if isinstance(value, dict):
        for item in value.values():
            looked_through(item)
    elif isinstance(value, (list, Iterator)) or type(value).__name__ == "ValidatorIterator":
        for item in value:
            looked_through(item)


def check_openai(body):
    body = copy.deepcopy(body)
    for added in every(body["messages"], lambda value: any(key in value for key in ADDED)):
        for key in ADDED:
            added.pop(key, None)
    looked_through(OPENAI[body.get("stream", False)].validate_python(body, strict=False))


def check_anthropic(body):
    looked_through(ANTHROPIC[body.get("stream", False)].validate_python(body, strict=False))


def check_gemini(body):
    for key, value in body.items():
        GEMINI[key].validate_python(value)
    for content in body["contents"]:
        assert content["parts"], "a content has no parts"
        for part in content["parts"]:
            for kind in ("functionCall", "functionResponse"):
                assert kind not in part or part[kind]["name"], f"a {kind} has no name"


CHECKS = {"openai": check_openai, "anthropic": check_anthropic, "gemini": check_gemini}


def first(body, wanted):
    return next(every(body, wanted), None)


def without(key, wanted):
    def flaw(body):
        found = first(body, wanted)
        return found is not None and found.pop(key, None) is not None

    return flaw


def with_value(key, value, wanted):
    def flaw(body):
        found = first(body, wanted)
        if found is None:
            return False
        found[key] = value
        return True

    return flaw


def has(**wanted):
    return lambda value: all(value.get(key) == wish for key, wish in wanted.items())


def holds(key):
    return lambda value: key in value


FLAWS = {
    "openai": [
        without("messages", holds("messages")),
        without("tool_call_id", has(role="tool")),
        without("id", lambda value: value.get("type") == "function" and "id" in value),
        without("arguments", holds("arguments")),
        with_value("role", "robot", has(role="user")),
        with_value("content", 7, has(role="tool")),
        with_value("is_error", True, has(role="tool")),
        with_value("temprature", 1, holds("messages")),
    ],
    "anthropic": [
        without("max_tokens", holds("max_tokens")),
        without("tool_use_id", has(type="tool_result")),
        without("id", has(type="tool_use")),
        with_value("input", "{}", has(type="tool_use")),
        with_value("role", "tool", has(role="user")),
        with_value("text", None, has(type="text")),
        with_value("is_error", "perhaps", has(type="tool_result")),
        with_value("temprature", 1, holds("messages")),
    ],
    "gemini": [
        without("name", lambda value: "args" in value),
        without("name", lambda value: "response" in value),
        with_value("args", "{}", lambda value: "args" in value),
        with_value("parts", [], holds("parts")),
        with_value("functionCal", {}, holds("text")),
        with_value("response", "3", lambda value: "response" in value),
        with_value("tool", [], holds("contents")),
    ],
}


def refuses(check, body):
    try:
        check(body)
    except Exception:
        return True
    return False


def controls(wire, requests):
    """Returns the number of kinds of broken requests, all of which must be rejected."""
    refused = 0
    for number, flaw in enumerate(FLAWS[wire]):
        broken = next((body for body in map(copy.deepcopy, requests) if flaw(body)), None)
        assert broken is not None, f"{wire}: no request can be broken by flaw {number}"
        assert refuses(CHECKS[wire], broken), f"{wire}: flaw {number} is taken: {json.dumps(broken)}"
        refused += 1
    return refused


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        requests = json.load(file)
    taken = Counter()
    for request in requests:
        try:
            CHECKS[request["wire"]](request["body"])
        except Exception as error:
            raise AssertionError(f"{request['what']}: {error}\n{json.dumps(request['body'])}") from error
        taken[request["wire"]] += 1
    of = {wire: [one["body"] for one in requests if one["wire"] == wire] for wire in CHECKS}
    json.dump({"taken": taken, "controls": {wire: controls(wire, of[wire]) for wire in CHECKS}}, sys.stdout)


main()
