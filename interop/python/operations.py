"""The conversations of every client of the matrix.

An adapter does them in the words of one SDK; results are printed as they are,
one JSON line for each operation, and compared by whoever started the program.
What an SDK's client cannot do is left out of its adapter.
"""

import asyncio
import json
import os
import sys
import time
import uuid

import grpc
import httpx

from signin import SignIn

TICKING = {'cancel a stream', 'subscribe to a running task'}
PATIENCE = 10  # how long a stream may go on, in seconds: none does by itself
MEGABYTE = 'zyxw vuts rqpo nm' * (1 << 16)


class Run:
    def __init__(self, adapter):
        self.adapter = adapter
        self.lines = []

    def note(self, what, value):
        # Keys sorted: the order of a protobuf map is a matter of luck.
        text = json.dumps(self.adapter.plain(value), ensure_ascii=False, sort_keys=True)
        text = text.replace(MEGABYTE, '<megabyte>')
        self.lines.append(f'{what}: {text}')
        return value

    def error(self, what, error):
        if isinstance(error, (TypeError, AttributeError, NameError)):
            raise error
        detail = f' {error!r}' if os.environ.get('A2A_INTEROP_DEBUG') else ''
        self.lines.append(f'{what}: error {type(error).__name__}{detail}')

    async def attempt(self, what, call):
        try:
            return self.note(what, await call)
        except Exception as error:  # every error is a result
            self.error(what, error)
            return None

    async def send(self, text, **options):
        return await self.attempt('send', self.adapter.send(text, **options))

    async def each(self, what, events, react=None):
        began = time.monotonic()
        try:
            async for event in events:
                if time.monotonic() - began > PATIENCE:
                    self.lines.append(f'{what}: no end')
                    return
                self.note(what, event)
                if react:
                    await react(event)
            self.lines.append(f'{what}: end')
        except Exception as error:  # every error is a result
            self.error(what, error)


def once(adapter, call):
    done = False

    async def react(event):
        nonlocal done
        if not done and adapter.is_working(event):
            done = True
            await call(adapter.id_of(event))

    return react


async def cancel_stream(r, a):
    await r.each('stream', a.stream('tick'), once(a, lambda i: r.attempt('cancel', a.cancel(i))))


async def subscribe(r, a):
    async def attach(task_id):
        seen = False

        async def cancel(_):
            nonlocal seen
            seen = True
            await r.attempt('cancel', a.cancel(task_id))

        await r.each('subscribe', a.subscribe(task_id), once(a, cancel))
        if not seen:
            await cancel(task_id)

    await r.each('stream', a.stream('tick'), once(a, attach))


async def ended(r, a):
    return a.id_of(await r.send('task'))


async def answered(r, a):
    task_id = a.id_of(await r.send('input'))
    await r.send('this', task_id=task_id)
    return task_id


async def history(r, a):
    task_id = await answered(r, a)
    for length in (0, 1, None):
        await r.attempt(f'get {length}', a.get(task_id, length))


async def listing(r, a):
    if hasattr(a, 'list'):
        task = await r.send('task')
        await r.attempt('list', a.list(a.context_of(task)))


async def push(r, a):
    task_id = await ended(r, a)
    await r.attempt('create', a.create_push(task_id, 'c1'))
    await r.attempt('get', a.get_push(task_id, 'c1'))
    if hasattr(a, 'list_push'):
        await r.attempt('create', a.create_push(task_id, 'c2'))
        await r.attempt('delete', a.delete_push(task_id, 'c1'))
        await r.attempt('list', a.list_push(task_id))
        await r.attempt('get deleted', a.get_push(task_id, 'c1'))


async def unknown(r, a):
    task_id = str(uuid.uuid4())
    await r.attempt('get', a.get(task_id, None))
    await r.attempt('cancel', a.cancel(task_id))
    await r.each('subscribe', a.subscribe(task_id))
    await r.send('hello?', task_id=task_id)


async def subscribe_ended(r, a):
    await r.each('subscribe', a.subscribe(await ended(r, a)))


async def cancel_ended(r, a):
    await r.attempt('cancel', a.cancel(await ended(r, a)))


async def message_ended(r, a):
    await r.send('more', task_id=await ended(r, a))


OPERATIONS = {
    'message reply': lambda r, a: r.send('message'),
    'task reply': lambda r, a: r.send('task'),
    'failed task': lambda r, a: r.send('fail'),
    'rejected task': lambda r, a: r.send('reject'),
    'stream to completion': lambda r, a: r.each('stream', a.stream('stream')),
    'stream of one message': lambda r, a: r.each('stream', a.stream('message')),
    'input required and continue': answered,
    'cancel a stream': cancel_stream,
    'subscribe to a running task': subscribe,
    'subscribe to an ended task': subscribe_ended,
    'cancel an ended task': cancel_ended,
    'message to an ended task': message_ended,
    'get with history lengths': history,
    'list': listing,
    'push configurations': push,
    'extended card': lambda r, a: r.attempt('card', a.card()),
    'unknown task': unknown,
    'data and file parts': lambda r, a: r.send('message', parts=a.parts()),
    'one megabyte': lambda r, a: r.send('message', parts=[MEGABYTE]),
}


async def get_until_completed(r, a):
    began = time.monotonic()
    task = await r.send('task')
    task_id = a.id_of(task)
    while task and not a.is_completed(task) and time.monotonic() - began < PATIENCE:
        await asyncio.sleep(0.05)
        task = await r.attempt('get', a.get(task_id, None))


# What is done only where a run asks for it: agents end their tasks before they answer.
ASKED = {'get a task until it is completed': get_until_completed}


class Headers:
    """Adds headers to the details of a gRPC call."""

    def __init__(self, headers):
        self.headers = [(name.lower(), value) for name, value in headers.items()]

    def add(self, details):
        return details._replace(metadata=grpc.aio.Metadata(*(details.metadata or ()), *self.headers))


class UnaryHeaders(Headers, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation, client_call_details, request):
        return await continuation(self.add(client_call_details), request)


class StreamHeaders(Headers, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation, client_call_details, request):
        return await continuation(self.add(client_call_details), request)


def dialer(headers):
    """Gives what makes a channel to a gRPC address."""
    return lambda url: grpc.aio.insecure_channel(
        url, interceptors=[UnaryHeaders(headers), StreamHeaders(headers)])


async def perform(connect, base, binding, headers, extensions=(), only=None, signIn=None, credentials=None):
    auth = SignIn(**signIn) if signIn else None
    async with httpx.AsyncClient(headers=headers, auth=auth, timeout=30) as client:
        adapter = await connect(base, binding, client, dialer(headers), list(extensions), credentials)
        for name, operation in (OPERATIONS | ASKED if only else OPERATIONS).items():
            if only and name != only:
                continue
            r = Run(adapter)
            await operation(r, adapter)
            line = {'operation': name, 'ticks': name in TICKING, 'lines': r.lines}
            print(json.dumps(line, ensure_ascii=False), flush=True)


async def main(connect):
    """Does what the lines of standard input say, one run each; see
    interop/README.md."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        await perform(connect, **json.loads(line))
        print(json.dumps({'done': True}), flush=True)


def run(connect):
    asyncio.run(main(connect))
