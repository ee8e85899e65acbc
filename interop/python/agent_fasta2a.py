"""An agent on fasta2a, 0.x or 2.x: it completes every task with one artifact."""

import contextlib
import importlib.metadata
import json
import os
import socket
import sys
import threading
import uuid

import uvicorn
from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.schema import Artifact
from fasta2a.storage import InMemoryStorage

KINDED = importlib.metadata.version('fasta2a').startswith('0.')


class Echo(Worker):
    async def run_task(self, params):
        part = {'text': 'echo', **({'kind': 'text'} if KINDED else {})}
        artifact = Artifact(artifact_id=str(uuid.uuid4()), name='answer', parts=[part])
        await self.storage.update_task(params['id'], state='working')
        await self.storage.update_task(params['id'], state='completed', new_artifacts=[artifact])

    async def cancel_task(self, params):
        await self.storage.update_task(params['id'], state='canceled')

    def build_message_history(self, history):
        return history

    def build_artifacts(self, result):
        return []


def watch():
    sys.stdin.read()
    os._exit(0)


def main():
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    listener.listen(128)
    url = f'http://127.0.0.1:{listener.getsockname()[1]}'
    storage, broker = InMemoryStorage(), InMemoryBroker()
    worker = Echo(storage=storage, broker=broker)

    @contextlib.asynccontextmanager
    async def lifespan(app):
        async with app.task_manager, worker.run():
            yield

    app = FastA2A(storage=storage, broker=broker, url=url, lifespan=lifespan)
    threading.Thread(target=watch, daemon=True).start()
    print(json.dumps({'url': url}), flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level='warning')).run(sockets=[listener])


main()
