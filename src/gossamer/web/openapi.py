"""The OpenAPI 3.1 description of the API, made from the declarations in `api`."""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer import __version__
from gossamer.web.answers import ErrorAnswer
from gossamer.web.api import OPERATIONS, Operation

_REFERENCE = "#/components/schemas/{name}"


def document(title: str, server: str) -> dict[str, Any]:
    """The whole document; `server` is where readers reach us."""
    types = [operation.answer for operation in OPERATIONS] + [ErrorAnswer]
    _, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{title} search API",
            "version": __version__,
            "description": "The data of the search page, for programs. All requests are GET and all answers are JSON. "
            "An error is an object with one field, error.",
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "paths": {operation.path: {"get": _operation(operation)} for operation in OPERATIONS},
        "components": {"schemas": components},
    }


def _operation(operation: Operation) -> dict[str, Any]:
    responses: dict[str, Any] = {"200": _response("Success.", operation.answer)}
    if operation.parameters:
        responses["400"] = _response("A parameter is missing or wrong.", ErrorAnswer)
    if operation.may_miss:
        responses["404"] = _response("The page does not exist.", ErrorAnswer)
    responses["414"] = _response("The address is too long.", ErrorAnswer)
    responses["429"] = _response("Too many requests. `Retry-After` says when to try again.", ErrorAnswer)
    responses["429"]["headers"] = {
        "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    }
    responses["503"] = _response("The index is not available.", ErrorAnswer)
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [parameter.describe() for parameter in operation.parameters],
        "responses": responses,
    }


def _response(sentence: str, answer: type[msgspec.Struct]) -> dict[str, Any]:
    schema = {"$ref": _REFERENCE.format(name=answer.__name__)}
    return {"description": sentence, "content": {"application/json": {"schema": schema}}}
