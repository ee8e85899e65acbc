import asyncio
import os

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client
import httpx
from a2a.client import A2ACardResolver
from beeai_framework.adapters.a2a.agents.agent import A2AAgent, A2AAgentParameters, HttpxAsyncClientParameters
from beeai_framework.memory import UnconstrainedMemory

parameters = A2AAgentParameters(httpx_async_client=HttpxAsyncClientParameters(headers={'X-API-Key': KEY}))


async def connect():
    async with httpx.AsyncClient(headers={'X-API-Key': KEY}) as http:
        card = await A2ACardResolver(http, URL).get_agent_card()  # URL: …/agents/x/
    return A2AAgent(agent_card=card, memory=UnconstrainedMemory(), parameters=parameters)
# end


async def card():
    return (await connect()).name


async def send():
    return (await (await connect()).run('message hello')).last_message.text


async def stream():
    return (await (await connect()).run('stream')).last_message.text


async def two_turns():
    remote = await connect()
    await remote.run('input')
    return (await remote.run('more')).last_message.text


async def error():
    return (await (await connect()).run('fail')).last_message.text


asyncio.run(run({'card': card, 'send': send, 'stream': stream, 'two turns': two_turns, 'error': error}))
