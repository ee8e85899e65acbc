import asyncio
import os

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY'] or 'none-at-all'

# docs: the client
from nat.authentication.api_key.api_key_auth_provider import APIKeyAuthProvider
from nat.authentication.api_key.api_key_auth_provider_config import APIKeyAuthProviderConfig
from nat.plugins.a2a.client.client_base import A2ABaseClient

# In a workflow: authentication: {gateway: {_type: api_key, raw_key: KEY, auth_scheme: Bearer}}
provider = APIKeyAuthProvider(APIKeyAuthProviderConfig(raw_key=KEY, auth_scheme='Bearer'))
remote = A2ABaseClient(URL, auth_provider=provider)  # URL: …/agents/x/
# end


def told(event):
    if not isinstance(event, tuple):
        return 'message ' + ' '.join(p.root.text for p in event.parts if p.root.kind == 'text')
    task, update = event
    return f'{task.status.state.value} {update.kind if update else "task"}'


async def all_of(text, **more):
    return [e async for e in remote.send_message(text, **more)]


async def card():
    return remote.agent_card.name


async def send():
    return told((await all_of('message hello'))[-1])


async def stream():
    return [told(e) for e in await all_of('stream')]


async def two_turns():
    task = (await all_of('input'))[-1][0]
    return told((await all_of('more', task_id=task.id, context_id=task.context_id))[-1])


async def get():
    task = (await all_of('task'))[-1][0]
    return (await remote.get_task(task.id)).status.state.value


async def cancel():
    task = (await all_of('input'))[-1][0]
    return (await remote.cancel_task(task.id)).status.state.value


async def error():
    return told((await all_of('fail'))[-1])


async def main():
    async with remote:
        await run({'card': card, 'send': send, 'stream': stream, 'two turns': two_turns, 'get': get, 'cancel': cancel, 'error': error})


asyncio.run(main())
