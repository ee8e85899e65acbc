"""Reads a stream with the client of a2a-sdk 1.x, and prints each thing that it hands out.

Usage: parse_v1.py BASE stream|endless|resubscribe TASK
"""

import asyncio
import sys

import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb

from parsing import again


def state(status):
    return pb.TaskState.Name(status.state).removeprefix('TASK_STATE_').lower()


def said(event):
    what = event.WhichOneof('payload')
    if what == 'artifact_update':
        return event.artifact_update.artifact.parts[0].text
    return state(getattr(event, what).status)


async def main(base, what, task):
    async with httpx.AsyncClient(timeout=30, headers={'A2A-Version': '1.0'}) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
        if what == 'resubscribe':
            events = client.subscribe(pb.SubscribeToTaskRequest(id=task))
        else:
            message = pb.Message(message_id='m', role=pb.ROLE_USER, parts=[pb.Part(text=what)])
            events = client.send_message(pb.SendMessageRequest(message=message))
        try:
            async for event in events:
                print(said(event))
        except Exception as failure:
            print(again(f'{type(failure).__name__}: {failure}'))
            return
    print('end')


asyncio.run(main(*sys.argv[1:]))
