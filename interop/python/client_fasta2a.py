"""Sends a message with the client of fasta2a, 0.x or 2.x, looks at the task until it has
ended, and prints what it was handed out: the state, then the text of the artifact.

Usage: client_fasta2a.py BASE
"""

import asyncio
import importlib.metadata
import sys

from fasta2a.client import A2AClient

KINDED = importlib.metadata.version('fasta2a').startswith('0.')


async def main(base):
    kind = (lambda k: {'kind': k}) if KINDED else (lambda k: {})
    part = {'text': 'hello', **kind('text')}
    client = A2AClient(base)
    sent = await client.send_message({'role': 'user', 'parts': [part], 'message_id': 'm', **kind('message')})
    task = sent['result'] if KINDED else sent['result']['task']
    while task['status']['state'] in ('submitted', 'working'):
        await asyncio.sleep(0.1)
        task = (await client.get_task(task['id']))['result']
    print(task['status']['state'])
    for artifact in task['artifacts']:
        print(artifact['parts'][0]['text'])


asyncio.run(main(sys.argv[1]))
