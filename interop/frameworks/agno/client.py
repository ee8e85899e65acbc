import asyncio
import os

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client
from agno.client.a2a import A2AClient

client = A2AClient(URL)  # URL: …/agents/x/
headers = {'X-API-Key': KEY}


async def ask(text, context=None):
    return await client.send_message(text, context_id=context, headers=dict(headers))
# end


async def card():
    return (await client.aget_agent_card(headers=dict(headers))).name


async def send():
    result = await ask('task')
    return f'{result.status}: {result.content}'


async def stream():
    events = [e async for e in client.stream_message('stream', headers=dict(headers))]
    return ' '.join(e.content or e.event_type for e in events)


async def two_turns():
    first = await ask('task one')
    second = await ask('task two', first.context_id)
    return f'{second.status}, in the same context: {second.context_id == first.context_id != ""}'


async def error():
    return (await ask('fail')).status


asyncio.run(run({'card': card, 'send': send, 'stream': stream, 'two turns': two_turns, 'error': error}))
