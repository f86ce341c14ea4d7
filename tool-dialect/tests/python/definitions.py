"""Validates definitions with each provider's package: `check` raises if a definition is invalid.

The packages describe requests as typed dictionaries, which accept unknown keys, so these are forbidden here. Only Gemini's
package validates schemas: all other schemas are validated against the metaschema of JSON Schema. The Rust tests check the
providers' own rules for schemas. No package checks the patterns of names.

`controls` breaks valid definitions, each in one of `FLAWS`, and expects them to be rejected.
"""

import copy
import warnings

import botocore.loaders
import botocore.model
import botocore.validate
import jsonschema
import mcp.types
from anthropic.types import ToolParam
from google.genai import types as gemini
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from openai.types.shared_params import FunctionDefinition
from pydantic import ConfigDict, TypeAdapter

# Gemini's package only warns about unknown types.
warnings.simplefilter("error", UserWarning)

for typed in (ToolParam, ChatCompletionFunctionToolParam, FunctionDefinition, FunctionToolParam):
    typed.__pydantic_config__ = ConfigDict(extra="forbid")

CHAT = TypeAdapter(list[ChatCompletionFunctionToolParam])
RESPONSES = TypeAdapter(list[FunctionToolParam])
ANTHROPIC = TypeAdapter(list[ToolParam])
BEDROCK = botocore.model.ServiceModel(botocore.loaders.Loader().load_service_model("bedrock-runtime", "service-2"))
CONVERSE = BEDROCK.operation_model("Converse")


def fits_shape(value, shape):
    """Validates a value against the service model in Bedrock's package."""
    report = botocore.validate.ParamValidator().validate(value, shape)
    if report.has_errors():
        raise ValueError(report.generate_report())


def bedrock(definitions):
    fits_shape({"modelId": "m", "messages": [], "toolConfig": {"tools": definitions}}, CONVERSE.input_shape)


def no_unknown_keys(model, value, place="$"):
    """Raises if a model of a package has kept an unknown key."""
    for key in value if isinstance(value, dict) else ():
        known = {name for field, info in type(model).model_fields.items() for name in (field, info.alias, info.serialization_alias)}
        if key not in known:
            raise ValueError(f"{place}: {type(model).__name__} has no {key}")


def mcp_tools(definitions):
    for definition in definitions:
        tool = mcp.types.Tool.model_validate(definition)
        no_unknown_keys(tool, definition)
        if tool.annotations:
            no_unknown_keys(tool.annotations, definition["annotations"])


def schemas(dialect, definition):
    function = definition.get("function") or definition.get("toolSpec") or definition
    for key in ("parameters", "input_schema", "inputSchema", "outputSchema"):
        if key in function:
            yield function[key].get("json", function[key]) if dialect == "bedrock" else function[key]


def metaschema(dialect, definitions):
    for definition in definitions:
        for schema in schemas(dialect, definition):
            jsonschema.Draft202012Validator.check_schema(schema)


TYPES = {
    "openai": CHAT.validate_python,
    "openrouter": CHAT.validate_python,
    "openai-responses": RESPONSES.validate_python,
    "anthropic": ANTHROPIC.validate_python,
    "gemini": TypeAdapter(list[gemini.Tool]).validate_python,
    "bedrock": bedrock,
    "mcp": mcp_tools,
}


def check(dialect, definitions):
    TYPES[dialect](definitions)
    # Gemini's schemas are OpenAPI's.
    if dialect != "gemini":
        metaschema(dialect, definitions)


SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}
NOT_A_SCHEMA = {"type": "object", "properties": {"x": {"type": "strin"}}}
FUNCTION = {"name": "a", "description": "A.", "parameters": SCHEMA}
GOOD = {
    "openai": {"type": "function", "function": FUNCTION},
    "openai-responses": {"type": "function", **FUNCTION, "strict": False},
    "anthropic": {"name": "a", "description": "A.", "input_schema": SCHEMA},
    "gemini": {"functionDeclarations": [FUNCTION]},
    "bedrock": {"toolSpec": {"name": "a", "description": "A.", "inputSchema": {"json": SCHEMA}}},
    "mcp": {"name": "a", "description": "A.", "inputSchema": SCHEMA},
}
GOOD["openrouter"] = GOOD["openai"]

# Changes to a valid definition: the path and the new value; `None` removes the key.
FLAWS = {
    "openai": [
        (("type",), "tool"), (("function", "name"), None), (("function", "description"), 5),
        (("function", "input_schema"), SCHEMA), (("name",), "a"), (("function", "parameters"), []),
        (("function", "strict"), "perhaps"), (("function", "parameters"), NOT_A_SCHEMA),
    ],
    "openai-responses": [
        (("type",), None), (("name",), None), (("strict",), None), (("function",), FUNCTION), (("parameters",), "x"),
        (("parameters",), NOT_A_SCHEMA),
    ],
    "anthropic": [
        (("name",), None), (("input_schema",), None), (("parameters",), SCHEMA), (("input_schema",), "x"),
        (("description",), ["A."]), (("input_schema",), NOT_A_SCHEMA),
    ],
    "gemini": [
        (("functionDeclarations", 0, "input_schema"), SCHEMA),
        (("functionDeclarations", 0, "parameters", "properties", "x", "type"), ["string", "null"]),
        (("functionDeclarations", 0, "parameters", "properties", "x", "type"), "strin"),
        (("functionDeclarations", 0, "parameters", "properties", "x", "const"), "a"),
        (("functionDeclarations", 0, "parameters", "properties", "x", "$ref"), "#/$defs/X"),
        (("functionDeclarations", 0, "parameters", "properties", "x", "exclusiveMinimum"), 1),
        (("functionDeclarations", 0, "parameters", "properties", "x", "enum"), [1]),
        (("functionDeclarations", 0, "parameters", "properties", "x"), True),
        (("tools",), []),
    ],
    "bedrock": [
        (("toolSpec", "name"), None), (("toolSpec", "name"), ""), (("toolSpec", "parameters"), SCHEMA),
        (("toolSpec", "inputSchema"), SCHEMA), (("toolSpec", "inputSchema"), None), (("name",), "a"),
        (("toolSpec", "inputSchema", "json"), NOT_A_SCHEMA),
    ],
    "mcp": [
        (("name",), None), (("inputSchema",), None), (("inputSchema",), []), (("parameters",), SCHEMA),
        (("annotations",), {"readOnlyHint": "perhaps"}), (("annotations",), {"readonly": True}),
        (("inputSchema",), NOT_A_SCHEMA),
    ],
}
FLAWS["openrouter"] = FLAWS["openai"]


def broken(good, path, value):
    whole = copy.deepcopy(good)
    part = whole
    for key in path[:-1]:
        part = part[key]
    if value is None:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return whole


def refuses(check, value):
    try:
        check(value)
    except Exception:  # The packages raise different exceptions.
        return True
    return False


def controls():
    """Checks that valid definitions pass and broken ones are rejected. Returns the number of broken ones by dialect."""
    count = {}
    for dialect, good in GOOD.items():
        check(dialect, [good])
        for path, value in FLAWS[dialect]:
            assert refuses(lambda one: check(dialect, [one]), broken(good, path, value)), f"{dialect}: {path} = {value} passed"
        count[dialect] = len(FLAWS[dialect])
    return count
