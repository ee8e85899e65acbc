"""What every agent of the matrix does, whatever SDK it runs on.

The first word of the message text chooses; see interop/README.md. An emitter
writes the events in the words of one SDK: submitted(), status(state, text),
artifact(text, append, last) and message(text).
"""

import asyncio
import json
import os
import socket
import sys
import threading

import grpc
import uvicorn


# An extension that every agent declares: its messages say which extensions the
# caller has asked for.
ECHO = 'https://example.com/ext/echo/v1'


def activate(context):
    """Activates ECHO if the caller wants that, and gives the metadata of a message.
    The SDK for 1.0 has no way to say what is active."""
    if ECHO not in context.requested_extensions:
        return {}
    if hasattr(context, 'add_activated_extension'):
        context.add_activated_extension(ECHO)
    return {ECHO: sorted(context.requested_extensions)}


# What the ids of the TCK's messages ask for, in place of a word; other messages of it complete a task.
TCK = {
    'tck-input-required': 'input',
    'tck-message-response': 'message',
    'tck-reject-task': 'reject',
    'tck-stream': 'stream',
    'test-resubscribe-message-id': 'slow',
}


def asked(message_id, text):
    """The words of a message; the TCK's messages do not choose by words, but by their id."""
    return next((word for prefix, word in TCK.items() if message_id.startswith(prefix)), text)


class Behaviour:
    """Runs the words; cancelled tasks are remembered by their id."""

    def __init__(self):
        self.cancelled = set()

    async def execute(self, task_id, continued, text, emit):
        word = text.split(' ', 1)[0]
        if continued:
            await emit.status('completed', 'thank you')
        elif word == 'message':
            await emit.message('answer')
        else:
            await emit.submitted()
            await self.work(word, task_id, emit)

    async def work(self, word, task_id, emit):
        if word == 'stream':
            await emit.status('working', 'working')
            await emit.artifact('one', False, False)
            await emit.artifact('two\nlines', True, False)
            await emit.artifact('three\u2028and <html>', True, True)
            await emit.status('completed', 'completed')
        elif word == 'input':
            await emit.status('input-required', 'what?')
        elif word == 'tick':
            while task_id not in self.cancelled:
                await emit.status('working')
                await asyncio.sleep(0.02)
        elif word == 'slow':
            await emit.status('working', 'working')
            await asyncio.sleep(2 * float(os.environ.get('TCK_STREAMING_TIMEOUT', '2')))
            await emit.status('completed', 'completed')
        elif word == 'fail':
            await emit.status('failed', 'failed')
        elif word == 'reject':
            await emit.status('rejected', 'rejected')
        else:
            await emit.artifact('result', False, True)
            await emit.status('completed', 'completed')

    async def cancel(self, task_id, emit):
        self.cancelled.add(task_id)
        await emit.status('canceled')


def serve(make_app):
    """Listens on two free loopback ports, HTTP and gRPC, tells the first on
    standard output as one JSON line, and ends when standard input is closed, so
    that no agent outlives the test that started it. The app is made once the
    addresses are known; it comes with what adds the service to a gRPC server."""
    asyncio.run(listen(make_app))


async def listen(make_app):
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(128)
    port = listener.getsockname()[1]
    url = f'http://127.0.0.1:{port}'

    def watch():
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    rpc = grpc.aio.server()
    app, add_service = make_app(url, f"127.0.0.1:{rpc.add_insecure_port('127.0.0.1:0')}")
    add_service(rpc)
    await rpc.start()
    server = uvicorn.Server(uvicorn.Config(app, log_level='warning'))
    print(json.dumps({'port': port, 'url': url}), flush=True)
    await server.serve(sockets=[listener])
