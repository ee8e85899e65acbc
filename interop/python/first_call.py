"""A first call with a2a-sdk 1.x, as its users would write it: first_call.py URL KEY."""

import asyncio
import sys

URL, KEY = sys.argv[1:]  # the agent's base URL at the gateway, …/agents/x/, and an API key

# docs: the client
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest


async def main():
    async with httpx.AsyncClient(headers={'X-API-Key': KEY}, timeout=60) as http:
        card = await A2ACardResolver(http, URL).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        message = Message(message_id='1', role=Role.ROLE_USER, parts=[Part(text='hello')])
        async for event in client.send_message(SendMessageRequest(message=message)):
            print(event)
# end


asyncio.run(main())
