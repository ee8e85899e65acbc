import asyncio
import os
import uuid

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client of 1
import httpx
from fasta2a.client import A2AClient

client = A2AClient(URL, httpx.AsyncClient(headers={'X-API-Key': KEY}))  # URL: …/agents/x/
# end


async def ask(text, file=False, **more):
    parts = [{'kind': 'text', 'text': text}]
    if file:
        parts.append({'kind': 'file', 'file': {'bytes': 'aGVsbG8=', 'mime_type': 'text/plain'}})
    message = {'kind': 'message', 'message_id': str(uuid.uuid4()), 'role': 'user', 'parts': parts, **more}
    answer = await client.send_message(message)
    if 'error' in answer:
        raise RuntimeError(answer['error'])
    result = answer['result']
    while result['kind'] == 'task' and result['status']['state'] in ('submitted', 'working'):
        await asyncio.sleep(0.05)
        result = (await client.get_task(result['id']))['result']
    return result


def told(result):
    if result['kind'] == 'message':
        return ' '.join(p.get('text', p['kind']) for p in result['parts'])
    texts = [p['text'] for a in result.get('artifacts') or [] for p in a['parts']]
    return ' '.join([result['status']['state'], *texts])


async def send():
    return told(await ask('message hello'))


async def two_turns():
    first = await ask('input')
    return told(await ask('more', context_id=first['context_id'], task_id=first['id']))


async def get():
    task = await ask('task')
    return told((await client.get_task(task['id']))['result'])


async def file():
    return told(await ask('message', file=True))


async def error():
    return told(await ask('fail'))


asyncio.run(run({'send': send, 'two turns': two_turns, 'get': get, 'file': file, 'error': error}))
