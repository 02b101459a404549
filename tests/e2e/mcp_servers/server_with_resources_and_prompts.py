"""A server that sends requests to the person and to the model, and that has resources and prompts.

Run as `python -m tests.e2e.mcp_servers.server_with_resources_and_prompts`. `--handshake` selects the protocol before
2026.
"""

from __future__ import annotations

import argparse
import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socket import create_server
from typing import Any

import mcp_types as wire
import uvicorn
from mcp.server import Server
from starlette.requests import Request
from starlette.responses import JSONResponse

from tests.e2e.authorisation_server import AuthorisationServer
from tests.e2e.mcp_servers.server_with_many_tools import MODERN, NOTHING, PDF, handshake_only, on_stdio

NAME = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name"},
        "age": {"type": "integer", "minimum": 0},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "red"},
        "member": {"type": "boolean"},
    },
    "required": ["name"],
}
REQUESTS: dict[str, Any] = {
    "form": wire.ElicitRequest(params=wire.ElicitRequestFormParams(message="Who are you?", requested_schema=NAME)),
    "page": wire.ElicitRequest(
        params=wire.ElicitRequestURLParams(message="Pay.", url="https://pay.example/1", elicitation_id="1")
    ),
    "script": wire.ElicitRequest(
        params=wire.ElicitRequestURLParams(message="Run.", url="javascript:alert(1)", elicitation_id="2")
    ),
    "sample": wire.CreateMessageRequest(
        params=wire.CreateMessageRequestParams(
            messages=[wire.SamplingMessage(role="user", content=wire.TextContent(text="Sum up: a b c"))],
            system_prompt="Be short.",
            max_tokens=1000,
        )
    ),
}
RESULTS = {"sample": wire.CreateMessageResult}


async def listed(context: Any, params: Any) -> wire.ListToolsResult:
    return wire.ListToolsResult(tools=[wire.Tool(name=name, input_schema=NOTHING) for name in REQUESTS])


async def called(context: Any, params: Any) -> wire.CallToolResult | wire.InputRequiredResult:
    request = REQUESTS[params.name]
    if context.protocol_version < MODERN:
        answer = await context.session.send_request(request, RESULTS.get(params.name, wire.ElicitResult))
    elif params.input_responses:
        answer = params.input_responses["it"]
    else:
        return wire.InputRequiredResult(input_requests={"it": request})
    text = answer.model_dump_json(exclude_none=True, exclude={"meta", "result_type"})
    return wire.CallToolResult(content=[wire.TextContent(text=text)])


async def resources(context: Any, params: Any) -> wire.ListResourcesResult:
    """The list of resources, one on each page."""
    metadata = [
        wire.Resource(uri="book://one", name="one", title="The first book", mime_type="text/plain"),
        wire.Resource(uri="book://cover", name="cover", mime_type="application/pdf"),
    ]
    second = params is not None and params.cursor == "2"
    return wire.ListResourcesResult(resources=[metadata[second]], next_cursor=None if second else "2")


async def resource(context: Any, params: Any) -> wire.ReadResourceResult:
    if str(params.uri) == "book://cover":
        content = wire.BlobResourceContents(uri=params.uri, mime_type="application/pdf", blob=PDF)
        return wire.ReadResourceResult(contents=[content])
    return wire.ReadResourceResult(contents=[wire.TextResourceContents(uri=params.uri, text="Once upon a time.\n")])


async def prompts(context: Any, params: Any) -> wire.ListPromptsResult:
    arguments = [wire.PromptArgument(name="title", required=True), wire.PromptArgument(name="tone")]
    return wire.ListPromptsResult(prompts=[wire.Prompt(name="review", title="Review a book", arguments=arguments)])


async def prompt(context: Any, params: Any) -> wire.GetPromptResult:
    given = params.arguments or {}
    messages = [
        wire.PromptMessage(role="user", content=wire.TextContent(text=f"Review {given['title']}.")),
        wire.PromptMessage(role="assistant", content=wire.TextContent(text="Gladly.")),
    ]
    return wire.GetPromptResult(messages=messages)


def library(handshake: bool = False) -> Server[Any]:
    server: Server[Any] = Server(
        "library",
        on_list_tools=listed,
        on_call_tool=called,
        on_list_resources=resources,
        on_read_resource=resource,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
    )
    if handshake:
        server.middleware.append(handshake_only)
    return server


@contextmanager
def guarded(authorisation: AuthorisationServer) -> Iterator[str]:
    """The address of a server that needs a login."""
    with create_server(("127.0.0.1", 0)) as listening:
        origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
        inner = library().streamable_http_app()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                await inner(scope, receive, send)
                return
            request = Request(scope)
            if request.url.path.startswith("/.well-known/oauth-protected-resource"):
                metadata = {"resource": f"{origin}/mcp", "authorization_servers": [authorisation.address]}
                await JSONResponse(metadata)(scope, receive, send)
            elif request.headers.get("authorization", "").removeprefix("Bearer ") in authorisation.valid:
                await inner(scope, receive, send)
            else:
                place = f'Bearer resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp"'
                await JSONResponse({}, 401, {"www-authenticate": place})(scope, receive, send)

        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        try:
            yield f"{origin}/mcp"
        finally:
            server.should_exit = True
            thread.join()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--handshake", action="store_true")
    given = parser.parse_args()
    asyncio.run(on_stdio(library(given.handshake), given.handshake))


if __name__ == "__main__":
    main()
