import asyncio
import os

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client
from a2akit import A2AClient

client = A2AClient(URL, headers={'X-API-Key': KEY})  # URL: …/agents/x/
# end


def told(result):
    return f'{result.state} {result.text}'


async def card():
    await client.connect()
    return client.agent_card.name


async def send():
    return told(await client.send('message hello'))


async def stream():
    return [f'{e.kind} {e.text}' async for e in client.stream('stream')]


async def two_turns():
    first = await client.send('input')
    return told(await client.send('more', task_id=first.task_id, context_id=first.context_id))


async def get():
    first = await client.send('task')
    return told(await client.get_task(first.task_id))


async def cancel():
    first = await client.send('input')
    return told(await client.cancel(first.task_id))


async def error():
    return told(await client.send('fail'))


asyncio.run(run({'card': card, 'send': send, 'stream': stream, 'two turns': two_turns, 'get': get, 'cancel': cancel, 'error': error}))
