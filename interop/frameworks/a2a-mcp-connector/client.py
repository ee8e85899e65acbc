import asyncio
import os
import re
import sys
import uuid

import httpx

from steps import run

URL, KEY = os.environ['A2A_URL'], os.environ['A2A_KEY']

# docs: the client
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

connector = StdioServerParameters(command=os.path.join(os.path.dirname(sys.executable), 'a2a-mcp-connector'))
card = {'agent_card_url': URL + '.well-known/agent-card.json', 'bearer': KEY}  # URL: …/agents/x/
# end


async def call(session, tool, **arguments):
    result = await session.call_tool(tool, arguments)
    return ' '.join(part.text for part in result.content)


async def begin():
    """Has a task wait for input, which the connector finds and goes on with."""
    message = {'messageId': str(uuid.uuid4()), 'role': 'ROLE_USER', 'parts': [{'text': 'input'}]}
    body = {'jsonrpc': '2.0', 'id': 1, 'method': 'SendMessage', 'params': {'message': message}}
    headers = {'A2A-Version': '1.0'} | ({'Authorization': 'Bearer ' + KEY} if KEY else {})
    async with httpx.AsyncClient(headers=headers) as client:
        (await client.post(URL.removesuffix('/'), json=body)).raise_for_status()


async def main():
    async with stdio_client(connector) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def validate():
            return ' '.join(re.findall('\u2713|\u2717|INVALID', await call(session, 'a2a_validate', **card)))

        async def send():
            await call(session, 'a2a_connect', **card)
            return await call(session, 'a2a_wait_turn', max_seconds=20)

        async def two_turns():
            await begin()
            asked = await send()
            await call(session, 'a2a_send', message='more')
            return asked + ' ' + await call(session, 'a2a_wait_turn', max_seconds=20)

        await run({'card': validate, 'send': send, 'two turns': two_turns})


asyncio.run(main())
