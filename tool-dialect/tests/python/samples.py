"""Validates the samples of responses and streams with each provider's package.

A sample with `accepted` must match the types of its provider's package, without unknown keys; every other sample must
not. So the samples stay close to real responses, and a check that accepts everything fails.
"""

import mcp.types
from anthropic.types import Message, RawMessageStreamEvent
from google.genai.types import GenerateContentResponse
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from definitions import BEDROCK, CONVERSE, fits_shape, no_unknown_keys, refuses


def typed(kind):
    adapter = TypeAdapter(kind)

    def check(value):
        closed(adapter.validate_python(value))

    return check


def closed(value, place="$"):
    """Raises if a model has kept an unknown key."""
    if isinstance(value, BaseModel):
        assert not value.model_extra, f"{place}: {type(value).__name__} has no {list(value.model_extra)}"
        for name in type(value).model_fields:
            closed(getattr(value, name), f"{place}.{name}")
    elif isinstance(value, list):
        for item in value:
            closed(item, f"{place}[]")
    elif isinstance(value, dict):
        for key, item in value.items():
            closed(item, f"{place}.{key}")


def gemini(value):
    """Validates a response. All fields of Gemini's types are optional, so this also checks that a call has a name."""
    response = GenerateContentResponse.model_validate(value)
    for candidate in response.candidates or []:
        for part in (candidate.content and candidate.content.parts) or []:
            assert not part.function_call or part.function_call.name


def bedrock_event(value):
    fits_shape(value, BEDROCK.operation_model("ConverseStream").output_shape.members["stream"])


def mcp_call(value):
    mcp.types.JSONRPCRequest.model_validate(value)
    call = {key: value[key] for key in ("method", "params")}
    no_unknown_keys(mcp.types.CallToolRequest.model_validate(call).params, call["params"])


RESPONSES = {
    "openai": typed(ChatCompletion),
    "openai-responses": typed(Response),
    "anthropic": typed(Message),
    "gemini": gemini,
    "bedrock": lambda value: fits_shape(value, CONVERSE.output_shape),
    "mcp": mcp_call,
}
EVENTS = {
    "openai": typed(ChatCompletionChunk),
    "openai-responses": typed(ResponseStreamEvent),
    "anthropic": typed(RawMessageStreamEvent),
    "gemini": gemini,
    "bedrock": bedrock_event,
}


def check(samples):
    """Checks all samples, by dialect."""
    for dialect, sample in samples.items():
        kinds = {response["accepted"] for response in sample["responses"]}
        assert kinds == {True, False}, f"{dialect}: there are samples of both kinds"
        for response in sample["responses"]:
            judge(f"{dialect}, {response['what']}", RESPONSES[dialect], response["response"], response["accepted"])
        for stream in sample["streams"]:
            def every(events):
                for event in events:
                    EVENTS[dialect](event)
            judge(f"{dialect}, stream of {stream['what']}", every, stream["events"], stream["accepted"])
            if "response" in stream:
                judge(f"{dialect}, whole of {stream['what']}", RESPONSES[dialect], stream["response"], True)


def judge(what, one, value, accepted):
    if accepted:
        try:
            one(value)
        except Exception as error:
            raise AssertionError(f"{what}: the package refuses it: {error}") from error
    else:
        assert refuses(one, value), f"{what}: the package takes it"
