# SPDX-License-Identifier: Apache-2.0
"""The application: the routes behind guard and express, and one form of refusal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ringsmith._native import __version__
from ringsmith.service.arena import Arena
from ringsmith.service.express import Express
from ringsmith.service.guard import Guard, headers_of
from ringsmith.service.problems import Problem, not_found, store_full
from ringsmith.service.routes import public, routes
from ringsmith.service.service import Service
from ringsmith.service.settings import Settings
from ringsmith.service.store import Store
from ringsmith.service.traffic import Traffic

#: What the log says where a client went away before its request was whole.
_GONE = 499


def _refuse(request: Request, problem: Problem) -> Response:
    body = json.dumps(problem.body()).encode()
    headers = {name.decode(): value.decode() for name, value in headers_of(problem, body)}
    return Response(body, problem.status, headers)


def _refuse_defect(request: Request, error: Exception) -> Response:
    """The response to an unforeseen exception, which goes on to the guard; that logs the place."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=_GONE)
    return _refuse(request, store_full(error) or Problem("internal", "a defect of the server; its log says where"))


def _refuse_http(request: Request, error: HTTPException) -> Response:
    """Starlette's own refusals in our form."""
    if error.status_code == 405:
        return _refuse(request, Problem("method_not_allowed", "this address does not do that"))
    if error.status_code == 404:
        return _refuse(request, not_found("address"))
    return _refuse(request, Problem("range" if error.status_code == 416 else "bad_request", "a request that cannot be"))


def _refuse_parameters(request: Request, error: RequestValidationError) -> Response:
    """Name the parameter; its value is repeated nowhere."""
    first = error.errors()[0]
    name = str(first["loc"][-1]) if len(first["loc"]) > 1 else "the request"
    return _refuse(request, Problem("bad_request", f"{name}: {first['msg'][:200]}"))


def application(settings: Settings, store: Store, arena: Arena | None = None) -> tuple[Guard, FastAPI]:
    """Return the guarded application, and the part within the guard; the service starts and ends with the lifespan."""

    traffic = Traffic(settings.requests)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = app.state.service = Service(settings, store, arena, traffic)
        guard.metrics = service.metrics
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="ringsmith", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        redirect_slashes=False, description="Evaluates programs on encrypted data. Secret keys stay with clients.",
    )  # fmt: skip
    app.include_router(routes)
    app.include_router(public)
    app.add_exception_handler(Problem, _refuse)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _refuse_http)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _refuse_parameters)  # type: ignore[arg-type]
    app.add_exception_handler(Exception, _refuse_defect)
    guard = Guard(Express(app, lambda: app.state.service), settings, traffic)
    return guard, app
