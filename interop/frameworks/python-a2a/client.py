import asyncio
import os
import uuid

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client
from python_a2a import A2AClient, Message

Message.enable_google_a2a_compatibility()  # messages with the parts that A2A has
client = A2AClient(URL, headers={'X-API-Key': KEY})  # URL: …/agents/x/; then client.ask(…)
# end


def told(task):
    return f'{task.status.state.value}: ' + ' '.join(p['text'] for a in task.artifacts for p in a['parts'])


async def send_task(text, context=None):
    from python_a2a import MessageRole, Task, TextContent

    message = Message(content=TextContent(text=text), role=MessageRole.USER).to_dict()
    return await A2AClient(URL, headers={'X-API-Key': KEY}).send_task_async(
        Task(id=str(uuid.uuid4()), session_id=context, message=message))


async def card():
    return client.get_agent_card().name


async def send():
    return client.ask('task')


async def two_turns():
    first = await send_task('task one')
    second = await send_task('task two', first.session_id)
    return f'{told(second)}, in the same context: {second.session_id == first.session_id}'


async def get():
    sent = await send_task('task')
    return told(client.get_task(sent.id))


async def cancel():
    sent = await send_task('input')
    return client.cancel_task(sent.id).status.state.value


async def error():
    return (await send_task('fail')).status.state.value


asyncio.run(run({'card': card, 'send': send, 'two turns': two_turns, 'get': get, 'cancel': cancel, 'error': error}))
