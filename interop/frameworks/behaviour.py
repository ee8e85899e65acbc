"""What every agent here does in place of a model, and how it is served.

An agent is served as its framework's documentation has it, on a free port of
127.0.0.1. It says where as one JSON line on standard output, and ends when
standard input is closed, so that none outlives the test that started it.
"""

import asyncio
import json
import os
import socket
import sys
import threading


def reply(turns, files=0):
    """What is answered to the texts of a user's turns and the files of the last."""
    said = turns[-1].strip()
    if said == 'fail':
        raise RuntimeError('the agent was told to fail')
    return f'turn {len(turns)}: {said}' + (f', files: {files}' if files else '')


def listen():
    """Gives a listening socket and the base URL that it has."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(('127.0.0.1', int(os.environ.get('PORT', '0'))))
    listener.listen(128)
    return listener, f'http://127.0.0.1:{listener.getsockname()[1]}'


def announce(url):
    """Says where the agent is, and has the process end with standard input."""

    def watch():
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    print(json.dumps({'url': url}), flush=True)


def serve(app, listener, url):
    """Serves an ASGI application."""
    import uvicorn

    announce(url)
    server = uvicorn.Server(uvicorn.Config(app, log_level='warning'))
    asyncio.run(server.serve(sockets=[listener]))
