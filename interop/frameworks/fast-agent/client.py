import asyncio
import os

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY'] or 'none'

# docs: the client
from fast_agent.a2a.config import A2AAgentConfig
from fast_agent.a2a.remote_agent import A2ARemoteAgent
from fast_agent.agents.agent_types import AgentConfig

# URL: …/agents/x/
remote = A2ARemoteAgent(AgentConfig(name='remote'), A2AAgentConfig(url=URL, headers={'X-API-Key': KEY}))
# end


async def card():
    return remote.remote_card.name


async def ask(text):
    answer = await remote.send(text)
    return f'{remote.last_task_state} {answer}'


async def send():
    return await ask('message hello')


async def stream():
    return await ask('stream')


async def two_turns():
    remote.reset_a2a_state()
    await ask('input')
    return await ask('more')


async def error():
    remote.reset_a2a_state()
    return await ask('fail')


async def main():
    await remote.initialize()
    try:
        await run({'card': card, 'send': send, 'stream': stream, 'two turns': two_turns, 'error': error})
    finally:
        await remote.shutdown()


asyncio.run(main())
