import asyncio
import os

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client
import httpx
from a2a.client import ClientConfig
from strands.agent.a2a_agent import A2AAgent

http = httpx.AsyncClient(headers={'X-API-Key': KEY})
remote = A2AAgent(endpoint=URL, client_config=ClientConfig(httpx_client=http))  # URL: …/agents/x/
# end


def told(result):
    return f"{result.stop_reason} {' '.join(c.get('text', '') for c in result.message['content'])}"


async def card():
    return (await remote.get_agent_card()).name


async def send():
    return told(await remote.invoke_async('message hello'))


async def stream():
    said = []
    async for event in remote.stream_async('stream'):
        if 'result' in event:
            said.append(told(event['result']))
    return said


async def file():
    document = {'document': {'name': 'hello', 'format': 'txt', 'source': {'bytes': b'hello'}}}
    return told(await remote.invoke_async([{'role': 'user', 'content': [{'text': 'message'}, document]}]))


async def error():
    return told(await remote.invoke_async('fail'))


asyncio.run(run({'card': card, 'send': send, 'stream': stream, 'file': file, 'error': error}))
