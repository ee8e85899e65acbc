import asyncio
import os

from ag2.a2a.errors import A2ATaskFailedError
from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client
from ag2 import Agent
from ag2.a2a import A2AConfig

remote = Agent('remote', config=A2AConfig(card_url=URL, headers={'X-API-Key': KEY}))  # URL: …/agents/x/
# end


async def send():
    return (await remote.ask('message hello')).body


async def stream():
    return (await remote.ask('stream')).body


async def two_turns():
    first = await remote.ask('message one')
    return (await first.ask('message two')).body


async def error():
    try:
        return (await remote.ask('fail')).body
    except A2ATaskFailedError:
        return 'the task failed'


asyncio.run(run({'send': send, 'stream': stream, 'two turns': two_turns, 'error': error}))
