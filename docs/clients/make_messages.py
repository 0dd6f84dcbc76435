#!/usr/bin/env python3
"""Makes the message types of the three clients from docs/asyncapi.yaml.

    make_messages.py            writes python/messages.py, javascript/messages.d.ts and go/messages.go
    make_messages.py --check    writes nothing; ends with status 1 if one of them differs from what it would write

It needs PyYAML (Tests/requirements.txt).
"""

import difflib
import pathlib
import sys
import textwrap

import yaml

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent / "asyncapi.yaml"

# The members without which a client cannot report a message. The schema requires more of the relay; a client does not.
NEEDED = {
    "hello": "epoch seq",
    "snapshot": "symbol price size seq received",
    "price": "symbol price size seq received",
    "trades": "symbol seq trades",
    "trade": "symbol seq price size time received",
    "status": "state",
    "symbol": "symbol state",
    "gap": "to nextSeq epoch",
    "settled": "symbol from to lost",
    "venueDay": "symbol high low last volume received",
    "subscribed": "",
    "resumed": "epoch from to trades complete",
    "skipped": "trades from to",
    "bar": "symbol width start open high low close trades closed incomplete",
    "pong": "",
    "error": "msg",
    "replay": "at paused",
}
# Decimals whose schema does not say so.
DECIMAL_TEXTS = {("bar", "vwap")}
NOTE = "Made by make_messages.py from docs/asyncapi.yaml; do not edit."


class Kind:
    """The type of a member, in words of no language."""

    def __init__(self, name, nullable=False, values=(), item=None):
        # decimal, string, integer, number, boolean, flag (true or absent), enum, const, array, object, any
        self.name = name
        self.nullable = nullable
        self.values = values
        self.item = item  # of an array; the name of an object; string for any that can be one


class Member:
    def __init__(self, name, kind, is_required, description):
        self.name = name
        self.kind = kind
        self.is_required = is_required
        self.description = description


class Specification:
    """The messages and the objects in them, from the YAML."""

    def __init__(self, text):
        root = yaml.safe_load(text)
        self.schemas = root["components"]["schemas"]
        self.summaries = {name: value["summary"] for name, value in root["components"]["messages"].items()}
        operations = root["operations"]
        self.sent = [reference["$ref"].split("/")[-1] for reference in operations["tell"]["messages"]]
        self.requests = [reference["$ref"].split("/")[-1] for reference in operations["ask"]["messages"]]
        self.objects = {}
        self.members = {name: self.members_of(name, self.schemas[name]) for name in self.sent + self.requests}

    def members_of(self, owner, schema):
        required = set(schema.get("required", []))
        members = []
        for name, value in schema["properties"].items():
            kind = self.kind(owner, name, value)
            members.append(Member(name, kind, name in required, self.description(value)))
        return members

    def description(self, schema):
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].split("/")[-1]]
        return schema.get("description")

    def kind(self, owner, name, schema):
        if "$ref" in schema:
            target = schema["$ref"].split("/")[-1]
            if target == "decimal":
                return Kind("decimal")
            if target == "volume":
                return Kind("decimal", nullable=True)
            schema = self.schemas[target]
            if schema.get("type") == "object":
                return self.object(target, schema)
        if "const" in schema:
            return Kind("flag") if schema["const"] is True else Kind("const", values=[schema["const"]])
        if "enum" in schema:
            return Kind("enum", values=schema["enum"])
        types = schema.get("type")
        if "oneOf" in schema or types is None:
            can_be_text = any(one.get("type") == "string" for one in schema.get("oneOf", []))
            return Kind("any", item="string" if can_be_text else None)
        types = types if isinstance(types, list) else [types]
        nullable = "null" in types
        (plain,) = [one for one in types if one != "null"]
        if (owner, name) in DECIMAL_TEXTS:
            return Kind("decimal", nullable)
        if plain == "array":
            return Kind("array", nullable, item=self.kind(owner, name, schema["items"]))
        if plain == "object":
            return self.object(owner + capitalized(name), schema)
        return Kind(plain, nullable)

    def object(self, name, schema):
        self.objects[name] = self.members_of(name, schema)
        return Kind("object", item=name)


def capitalized(name):
    return name[:1].upper() + name[1:]


# Python

# What the client adds to a message.
PYTHON_ADDITIONS = {"trade": ["    epoch: int | None = None  # added by the client: (epoch, seq) names a trade"]}
PYTHON_READER = '''
def classes(annotation: Any) -> set[Any]:
    """Returns the classes that a member's JSON value may have; `object` stands for any."""
    if annotation is Any:
        return {object}
    if is_typeddict(annotation):
        return {dict}
    origin = get_origin(annotation)
    if origin is None:
        return {float, int} if annotation is float else {annotation}
    if origin in (list, Literal):
        return {list if origin is list else str}
    return set().union(*(classes(part) for part in get_args(annotation)))


MEMBERS = {
    kind: [(one.name, one.name.rstrip("_"), one.default is MISSING, classes(one.type)) for one in fields(kind)]
    for kind in MESSAGES.values()
}


def refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read(text: str) -> Any:
    """Returns the message as a value of its class; None if its type is unknown.

    Raises ValueError if it is not an object with a type, or if a needed member is missing or of another type. Another
    member of a wrong type counts as absent. Decimals are made from their text, never by way of a float.
    """
    try:
        message = json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError("not an object with a type")
    kind = MESSAGES.get(message["type"])
    if kind is None:
        return None
    values = {}
    for name, key, is_needed, allowed in MEMBERS[kind]:
        value = message.get(key)
        if Decimal in allowed and isinstance(value, str) and is_decimal(value):
            value = Decimal(value)
        if key in message and (type(value) in allowed or object in allowed):
            values[name] = value
        elif is_needed:
            raise ValueError(f"{kind.TYPE}: {key} is missing or has a wrong type")
    return kind(**values)
'''


def python_type(kind):
    plain = {"decimal": "Decimal", "string": "str", "integer": "int", "number": "float", "boolean": "bool"}
    if kind.name in ("enum", "const"):
        text = "Literal[" + ", ".join(f'"{value}"' for value in kind.values) + "]"
    elif kind.name == "flag":
        text = "bool"
    elif kind.name == "array":
        text = f"list[{python_type(kind.item)}]"
    elif kind.name == "object":
        text = capitalized(kind.item)
    else:
        text = plain.get(kind.name, "Any")
    return text + " | None" if kind.nullable else text


def python_typed_dict(name, members, document):
    lines = [f"class {name}(TypedDict):", f'    """{document}"""', ""]
    for member in members:
        text = python_type(member.kind).replace("Decimal", "str")
        lines.append(f"    {member.name}: {text if member.is_required else f'NotRequired[{text}]'}")
    return lines


def python_dataclass(name, members, document):
    needed = set(NEEDED[name].split())
    lines = ["@dataclass(frozen=True, slots=True, kw_only=True)", f"class {capitalized(name)}:"]
    lines += [f'    """{document}"""', "", f'    TYPE: ClassVar[str] = "{name}"']
    for member in members:
        if member.name == "type":
            continue
        field = "from_" if member.name == "from" else member.name
        text = "str" if member.kind.name == "enum" else python_type(member.kind)
        if member.name in needed:
            line = f"    {field}: {text}"
        elif member.kind.name == "flag":
            line = f"    {field}: bool = False"
        elif member.name == "skipped":
            line = f"    {field}: int = 0"
        else:
            line = f"    {field}: {text if text.endswith('None') or text == 'Any' else text + ' | None'} = None"
        lines.append(line + (f"  # {member.description}" if member.description else ""))
    return lines + PYTHON_ADDITIONS.get(name, [])


def python(specification):
    blocks = [
        [
            f'"""The messages of /v1/stream. {NOTE}',
            "",
            "A member without a default is one that a client needs. Prices and sizes are exact decimals.",
            '"""',
            "",
            "import json",
            "import re",
            "from dataclasses import MISSING, dataclass, fields",
            "from decimal import Decimal",
            "from typing import Any, ClassVar, Literal, NotRequired, TypedDict, get_args, get_origin, is_typeddict",
            "",
            'is_decimal = re.compile("-?[0-9]+([.][0-9]+)?").fullmatch',
        ]
    ]
    for name, members in specification.objects.items():
        blocks.append(python_typed_dict(capitalized(name), members, f"The object {name}."))
    for name in specification.sent:
        blocks.append(python_dataclass(name, specification.members[name], specification.summaries[name]))
    for name in specification.requests:
        title = capitalized(name) + ("" if name.endswith("Request") else "Request")
        blocks.append(python_typed_dict(title, specification.members[name], specification.summaries[name]))
    names = ", ".join(capitalized(name) for name in specification.sent)
    lines = textwrap.wrap(names, 120, initial_indent="    ", subsequent_indent="    ")
    blocks.append(["MESSAGES: dict[str, Any] = {kind.TYPE: kind for kind in [", *lines, "]}"])
    blocks.append(PYTHON_READER.strip("\n").split("\n"))
    return "\n\n\n".join("\n".join(block) for block in blocks) + "\n"


# TypeScript


def typescript_type(kind):
    plain = {"decimal": "Decimal", "string": "string", "integer": "Integer", "number": "number", "boolean": "boolean"}
    if kind.name in ("enum", "const"):
        text = " | ".join(f'"{value}"' for value in kind.values)
    elif kind.name == "flag":
        text = "true"
    elif kind.name == "array":
        text = typescript_type(kind.item)
        text = (f"({text})" if " " in text else text) + "[]"
    elif kind.name == "object":
        text = capitalized(kind.item)
    else:
        text = plain.get(kind.name, "unknown")
    return text + " | null" if kind.nullable else text


def typescript_interface(name, members, document):
    lines = [f"/** {document} */", f"export interface {name} {{"]
    for member in members:
        if member.description:
            lines.append(f"  /** {member.description} */")
        lines.append(f"  {member.name}{'' if member.is_required else '?'}: {typescript_type(member.kind)};")
    return lines + ["}"]


def typescript(specification):
    blocks = [
        [f"// The messages of /v1/stream. {NOTE}"],
        ["/** An exact decimal as text. */", "export type Decimal = string;"],
        ["/** A number within 2^53, and a BigInt beyond. */", "export type Integer = number | bigint;"],
    ]
    for name, members in specification.objects.items():
        blocks.append(typescript_interface(capitalized(name), members, f"The object {name}."))
    for name in specification.sent:
        title = capitalized(name) + "Message"
        blocks.append(typescript_interface(title, specification.members[name], specification.summaries[name]))
    for name in specification.requests:
        title = capitalized(name) + ("" if name.endswith("Request") else "Request")
        blocks.append(typescript_interface(title, specification.members[name], specification.summaries[name]))
    names = [capitalized(name) + "Message" for name in specification.sent]
    blocks.append(["export type Message =", *(f"  | {name}" for name in names[:-1]), f"  | {names[-1]};"])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


# Go

# What the client adds to a message.
GO_ADDITIONS = {
    "snapshot": """
// Price is the event of a snapshot and of a price, as its Type says; only a snapshot has an Age.
type Price struct{ SnapshotMessage }
""",
    "trade": """
// Trade is the event of a trade.
type Trade struct {
	TradeMessage
	Epoch int64 // added by the client: names the trade, with Seq; 0 before the relay's first epoch
}
""",
}
# The messages that the client reads as another type.
GO_READ_AS = {"price": "snapshot"}
GO_READER = """
var isDecimal = regexp.MustCompile(`^"-?[0-9]+([.][0-9]+)?"$`).MatchString

// decode returns a message, and the name of its type; nil if the type is unknown. It fails if the text is not an object
// with a type, or if a needed member is missing or of another type. Another member of a wrong type counts as absent. It
// reads each member by itself, because encoding/json takes a member Price for price, and fails for any wrong member.
func decode(text []byte) (message interface{}, name string, err error) {
	var members map[string]json.RawMessage
	var kind *string
	if json.Unmarshal(text, &members) != nil || json.Unmarshal(members["type"], &kind) != nil || kind == nil {
		return nil, "", errors.New("not an object with a type")
	}
	empty, isKnown := messages[*kind]
	if !isKnown {
		return nil, *kind, nil
	}
	made := reflect.New(reflect.TypeOf(empty)).Elem()
	for i := 0; i < made.NumField(); i++ {
		field, tag := made.Field(i), made.Type().Field(i).Tag
		member, _, _ := strings.Cut(tag.Get("json"), ",")
		need, value := tag.Get("need"), string(members[member])
		isRight := json.Unmarshal(members[member], field.Addr().Interface()) == nil
		switch {
		case need == "value" && value == "null", need == "decimal" && !isDecimal(value), need != "" && !isRight:
			return nil, *kind, fmt.Errorf("%s with a wrong %s", *kind, member)
		case !isRight && field.Kind() == reflect.Ptr:
			field.Set(reflect.Zero(field.Type()))
		}
	}
	return made.Interface(), *kind, nil
}

// valueOf returns the value of a member that may be absent; 0 if it is.
func valueOf(member *int64) int64 {
	if member == nil {
		return 0
	}
	return *member
}
"""


def go_type(kind, is_required):
    plain = {"decimal": "string", "string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}
    if kind.name == "array":
        return "[]" + go_type(kind.item, True)
    if kind.name == "any":
        return "json.RawMessage"
    if kind.name == "flag":
        return "bool"
    text = capitalized(kind.item) if kind.name == "object" else plain.get(kind.name, "string")
    return text if is_required and not kind.nullable else "*" + text


def go_request_type(kind, is_required):
    """Returns the type of a request's member. An empty text is left out, and what can be a text is one."""
    text = go_type(kind, is_required)
    return "string" if text == "*string" or (kind.name == "any" and kind.item == "string") else text


def go_need(kind):
    """Returns what a needed member has to be."""
    if kind.nullable:
        return "value or null"
    return "decimal" if kind.name == "decimal" else "value"


def go_struct(name, members, document, needed=(), type_of=go_type):
    rows = []
    for member in members:
        tag = f'json:"{member.name}{"" if member.is_required else ",omitempty"}"'
        if member.name in needed:
            tag += f' need:"{go_need(member.kind)}"'
        kind = type_of(member.kind, member.is_required)
        rows.append((capitalized(member.name), kind, f"`{tag}`", member.description))
    # As gofmt aligns them.
    names, types = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    tags = [len(row[2]) for row in rows]
    lines = [f"// {name}: {document}", f"type {name} struct {{"]
    for index, (field, text, tag, description) in enumerate(rows):
        line = f"\t{field.ljust(names)} {text.ljust(types)} {tag}"
        if description:
            # gofmt aligns the comments of neighbouring lines.
            first = last = index
            while first > 0 and rows[first - 1][3]:
                first -= 1
            while last + 1 < len(rows) and rows[last + 1][3]:
                last += 1
            line += " " * (max(tags[first : last + 1]) - len(tag)) + f" // {description}"
        lines.append(line)
    return lines + ["}"]


def go(specification):
    imports = ["encoding/json", "errors", "fmt", "reflect", "regexp", "strings"]
    blocks = [
        ["// The messages of /v1/stream. Code generated by make_messages.py from docs/asyncapi.yaml; DO NOT EDIT."],
        ["package tickertape"],
        ["import (", *(f'\t"{name}"' for name in imports), ")"],
    ]
    for name, members in specification.objects.items():
        blocks.append(go_struct(capitalized(name), members, f"the object {name}."))
    for name in specification.sent:
        title = capitalized(name) + "Message"
        needed = NEEDED[name].split()
        blocks.append(go_struct(title, specification.members[name], specification.summaries[name], needed))
        blocks += [[GO_ADDITIONS[name].strip("\n")]] if name in GO_ADDITIONS else []
    for name in specification.requests:
        title = capitalized(name) + ("" if name.endswith("Request") else "Request")
        summary = specification.summaries[name]
        blocks.append(go_struct(title, specification.members[name], summary, type_of=go_request_type))
    # As gofmt aligns them.
    width = max(len(name) for name in specification.sent) + len('"":')
    types = [(f'"{name}":', capitalized(GO_READ_AS.get(name, name))) for name in specification.sent]
    table = [f"\t{key.ljust(width)} {title}Message{{}}," for key, title in types]
    blocks.append(["var messages = map[string]interface{}{", *table, "}"])
    blocks.append([GO_READER.strip("\n")])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def main():
    specification = Specification(SOURCE.read_text(encoding="utf-8"))
    files = {
        HERE / "python" / "messages.py": python(specification),
        HERE / "javascript" / "messages.d.ts": typescript(specification),
        HERE / "go" / "messages.go": go(specification),
    }
    is_different = False
    for path, text in files.items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        is_different = True
        if "--check" in sys.argv[1:]:
            lines = difflib.unified_diff(old.splitlines(), text.splitlines(), str(path), "made anew", lineterm="", n=0)
            print("\n".join(list(lines)[:20]))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(HERE)}")
    if is_different and "--check" in sys.argv[1:]:
        sys.exit("run docs/clients/make_messages.py: docs/asyncapi.yaml has changed")


if __name__ == "__main__":
    main()
