# SPDX-License-Identifier: Apache-2.0
"""A server as a process: uvicorn around the application, a graceful end on SIGTERM and Ctrl-C."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
from dataclasses import replace
from types import FrameType

import uvicorn
from fastapi import FastAPI

from ringsmith.runtime.cluster import check_cluster
from ringsmith.service.app import application
from ringsmith.service.arena import shared
from ringsmith.service.door import room_for
from ringsmith.service.guard import protocol
from ringsmith.service.listening import listening
from ringsmith.service.logs import log, set_up
from ringsmith.service.settings import Settings
from ringsmith.service.store import Store

#: Bytes that the process keeps for what requests make.
_HEAP = 4 << 20


class _Server(uvicorn.Server):
    """Stops the service as soon as the process is to end, so that waiting clients are answered."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal."""
        # Not uvicorn's own: it would raise the signal again when all is done, and the status would say "killed".
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        service = getattr(self._app.state, "service", None)
        if service is not None:
            service.scheduler.begin_stop()


def serve(settings: Settings, *, quiet: bool = False) -> None:
    """Serve until the process is told to end."""
    os.umask(0o077)  # What this process and its workers write is its owner's alone, wherever the store lies.
    set_up(quiet)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logging.getLogger(name).handlers[:] = [logging.NullHandler()]
        logging.getLogger(name).propagate = False
    if settings.ray is not None:
        check_cluster(settings.ray)
    settings = replace(settings, connections=room_for(settings.connections, settings.workers))
    store = Store(settings.store, settings.inline)
    with listening(settings) as (place, url):
        _serve(settings, store, place, url)
    log("stopped", logging.WARNING)


def _serve(settings: Settings, store: Store, place: socket.socket, url: str) -> None:
    arena = shared(settings.slots, settings.max_body, settings.workers)
    guard, app = application(settings, store, arena)
    config = uvicorn.Config(
        guard, http=protocol(settings, arena), loop="uvloop", lifespan="on", log_config=None, access_log=False,
        server_header=False, date_header=False, proxy_headers=False, timeout_keep_alive=30,
        timeout_graceful_shutdown=int(settings.drain_seconds) + 1,
        ssl_certfile=settings.tls_certificate, ssl_keyfile=settings.tls_key, ws="none",
    )  # fmt: skip
    log("serving", logging.WARNING, url=url, workers=settings.workers, connections=settings.connections)
    # The C library takes blocks as long as this from its heap from now on, and keeps them there: pages that it gives
    # back after each answer and takes again cost as much as copying what is in them.
    longest = bytes(_HEAP)
    del longest
    # What is there now stays; what requests make is mostly gone before it is looked at again.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    _Server(config, app).run(sockets=[place])
