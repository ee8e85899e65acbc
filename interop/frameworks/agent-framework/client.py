import asyncio
import os

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client
import httpx
from a2a.client import A2ACardResolver
from agent_framework.a2a import A2AAgent

http = httpx.AsyncClient(headers={'X-API-Key': KEY})


async def connect():
    card = await A2ACardResolver(http, URL).get_agent_card()  # URL: …/agents/x/
    return A2AAgent(agent_card=card, http_client=http)
# end


async def card():
    return (await connect()).name


async def send():
    return (await (await connect()).run('message hello')).text


async def stream():
    return [update.text async for update in (await connect()).run('stream', stream=True)]


async def two_turns():
    remote = await connect()
    session = remote.create_session()
    await remote.run('input', session=session)
    return (await remote.run('more', session=session)).text


async def error():
    return (await (await connect()).run('fail')).text


asyncio.run(run({'card': card, 'send': send, 'stream': stream, 'two turns': two_turns, 'error': error}))
