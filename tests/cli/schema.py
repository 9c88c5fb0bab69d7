"""Holds JSON files against the schema of results, and against a strict form of it in which no key
may stand that the schema does not name: what is added to a result is added to its description.

    schema.py SCHEMA FILE...
"""
import json
import sys

import jsonschema


def forbid_unnamed_keys(schema):
    if isinstance(schema, dict):
        if "properties" in schema and "required" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            forbid_unnamed_keys(part)
    elif isinstance(schema, list):
        for part in schema:
            forbid_unnamed_keys(part)


def main():
    schema = json.load(open(sys.argv[1]))
    jsonschema.Draft202012Validator.check_schema(schema)
    forbid_unnamed_keys(schema)
    validator = jsonschema.Draft202012Validator(schema)
    bad = 0
    for name in sys.argv[2:]:
        for error in validator.iter_errors(json.load(open(name))):
            place = "/".join(str(step) for step in error.absolute_path)
            print(f"{name}: {place}: {error.message[:200]}")
            bad = 1
    return bad


sys.exit(main())
