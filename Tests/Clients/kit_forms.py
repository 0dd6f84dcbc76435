"""Compares the messages of the conformance kit's transcripts with docs/asyncapi.yaml: the kit's server must send what the
relay sends.

usage: kit_forms.py [FILE]      FILE: lines of a real relay's messages, which are compared instead of the transcripts

A transcript may deviate only if it is about deviations (DEVIATING). It needs PyYAML.
"""

import json
import pathlib
import re
import sys

import yaml

CLIENTS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "clients"
DEVIATING = {
    # Members that are missing, wrong or new; types that are new.
    "bars", "error-codes", "hello-malformed", "hello-minimal", "limit-symbols", "limit-symbols-added",
    "malformed-moves-nothing", "missing-members", "no-type", "optional-absent", "optional-wrong", "settled-wrong",
    "silence-ended-by-a-trade", "status-unknown", "subscribe-many", "unknown-keys", "unknown-type", "venue-day",
    "wrong-decimal", "wrong-number",
}  # fmt: skip


class Schemas:
    def __init__(self):
        text = (CLIENTS.parent / "asyncapi.yaml").read_text(encoding="utf-8")
        self.schemas = yaml.safe_load(text)["components"]["schemas"]

    def mistakes(self, schema, value, path):
        """Yields what is wrong with a value, by the part of JSON Schema that the specification uses."""
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].split("/")[-1]]
        if "oneOf" in schema:
            if sum(not list(self.mistakes(one, value, path)) for one in schema["oneOf"]) != 1:
                yield f"{path} is none of its kinds"
            return
        if "const" in schema and (value != schema["const"] or type(value) is not type(schema["const"])):
            yield f"{path} is not {schema['const']!r}"
        if "enum" in schema and value not in schema["enum"]:
            yield f"{path} is {value!r}"
        types = schema.get("type", [])
        types = types if isinstance(types, list) else [types]
        classes = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
        allowed = {classes.get(one, float) for one in types} | ({int} if "number" in types else set())
        if types and type(value) not in allowed:
            yield f"{path} is {value!r}"
        if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{path} is {value!r}"
        if type(value) in (int, float) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            yield f"{path} is {value!r}"
        if isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                yield from self.mistakes(schema["items"], item, f"{path}[{index}]")
        if isinstance(value, dict) and "properties" in schema:
            for key in schema.get("required", []):
                if key not in value:
                    yield f"{path} has no {key}"
            for key, member in value.items():
                if key not in schema["properties"]:
                    yield f"{path} has {key}"
                else:
                    yield from self.mistakes(schema["properties"][key], member, f"{path}.{key}")

    def of_message(self, message):
        kind = message.get("type")
        if not isinstance(kind, str) or kind not in self.schemas:
            return [f"the type {kind!r} is unknown"]
        return list(self.mistakes(self.schemas[kind], message, kind))


def main():
    schemas = Schemas()
    wrong = count = 0
    if len(sys.argv) > 1:
        for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
            count += 1
            for mistake in schemas.of_message(json.loads(line)):
                wrong += 1
                print(f"{mistake}: {line[:200]}")
    else:
        paths = sorted((CLIENTS / "kit" / "transcripts").glob("*.json"))
        for path in paths:
            transcript = json.loads(path.read_text(encoding="utf-8"))
            mistakes = []
            for step in (step for steps in transcript["connections"] for step in steps):
                if isinstance(step.get("send"), dict):
                    count += 1
                    mistakes += schemas.of_message(step["send"])
                elif isinstance(step.get("request"), dict):
                    request = {key: 1 if value == "*" else value for key, value in step["request"].items()}
                    mistakes += schemas.of_message(request)
            if mistakes and path.stem not in DEVIATING:
                wrong += 1
                print(f"{path.stem}: {mistakes[0]}")
            if not mistakes and path.stem in DEVIATING:
                wrong += 1
                print(f"{path.stem} deviates in nothing")
    print(f"{count} messages, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
