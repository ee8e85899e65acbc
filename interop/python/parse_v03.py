"""Reads a stream with the client of a2a-sdk 0.3, and prints each thing that it hands out.

Usage: parse_v03.py BASE stream|endless|resubscribe TASK
"""

import asyncio
import sys

import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, TaskIdParams

from parsing import again, message


def said(event):
    task, update = event
    if update is None:
        return task.status.state.value
    if update.kind == 'artifact-update':
        return update.artifact.parts[0].root.text
    return update.status.state.value


async def main(base, what, task):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
        if what == 'resubscribe':
            events = client.resubscribe(TaskIdParams(id=task))
        else:
            events = client.send_message(Message.model_validate(message(what)))
        try:
            async for event in events:
                print(said(event))
        except Exception as failure:
            print(again(f'{type(failure).__name__}: {failure}'))
            return
    print('end')


asyncio.run(main(*sys.argv[1:]))
