import asyncio
import os

os.environ.setdefault('CREWAI_DISABLE_TELEMETRY', 'true')
os.environ.setdefault('OTEL_SDK_DISABLED', 'true')

from crewai.a2a.utils.agent_card import afetch_agent_card
from crewai.a2a.utils.delegation import aexecute_a2a_delegation
from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY'] or 'none'

# docs: the client
from crewai.a2a import A2AClientConfig
from crewai.a2a.auth import APIKeyAuth

# URL: …/agents/x/; then Agent(…, a2a=remote)
auth = APIKeyAuth(api_key=KEY, name='X-API-Key')
remote = A2AClientConfig(endpoint=URL + '.well-known/agent-card.json', auth=auth)
# end


async def card():
    return (await afetch_agent_card(remote.endpoint, remote.auth, use_cache=False)).name


async def ask(text, **more):
    return await aexecute_a2a_delegation(
        endpoint=remote.endpoint, auth=remote.auth, timeout=remote.timeout, task_description=text, **more
    )


def told(result):
    return f"{result['status']} {result.get('result') or result.get('error')}"


async def send():
    return told(await ask('message hello'))


async def stream():
    return told(await ask('stream'))


async def two_turns():
    first = await ask('input')
    last = first['history'][-1]
    return told(await ask('more', context_id=last.context_id, task_id=last.task_id))


async def error():
    return told(await ask('fail'))


asyncio.run(run({'card': card, 'send': send, 'stream': stream, 'two turns': two_turns, 'error': error}))
