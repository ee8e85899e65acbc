import asyncio
import os
import uuid

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client
import httpx
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai import types

remote = RemoteA2aAgent(
    name='remote',
    agent_card=URL + '.well-known/agent-card.json',  # URL ends in a slash: …/agents/x/
    httpx_client=httpx.AsyncClient(headers={'X-API-Key': KEY}),
)
runner = InMemoryRunner(agent=remote)
# end


async def ask(session, *parts):
    said = []
    async for event in runner.run_async(
        user_id='user', session_id=session, new_message=types.Content(role='user', parts=list(parts))
    ):
        if event.error_message:
            raise RuntimeError(event.error_message)
        if event.content:
            said += [p.text for p in event.content.parts if p.text and not p.thought]
    return said[-1] if said else 'nothing'


async def session():
    made = await runner.session_service.create_session(app_name=runner.app_name, user_id='user', session_id=str(uuid.uuid4()))
    return made.id


async def send():
    return await ask(await session(), types.Part(text='message hello'))


async def task():
    return await ask(await session(), types.Part(text='stream'))


async def two_turns():
    one = await session()
    await ask(one, types.Part(text='input'))
    return await ask(one, types.Part(text='more'))


async def file():
    return await ask(await session(), types.Part(text='message'), types.Part.from_bytes(data=b'hello', mime_type='text/plain'))


async def error():
    return await ask(await session(), types.Part(text='fail'))


asyncio.run(run({'send': send, 'stream': task, 'two turns': two_turns, 'file': file, 'error': error}))
