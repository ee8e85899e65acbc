"""Reads a stream with the client of a2a-sdk 0.2, and prints each thing that it hands out.

Usage: parse_v02.py BASE stream|endless TASK
"""

import asyncio
import sys

import httpx

from a2a.client import A2AClient
from a2a.types import MessageSendParams, SendStreamingMessageRequest

from parsing import message, word


async def main(base, what, _):
    async with httpx.AsyncClient(timeout=30) as http:
        client = A2AClient(http, url=base)
        request = SendStreamingMessageRequest(id='1', params=MessageSendParams.model_validate({'message': message(what)}))
        try:
            async for response in client.send_message_streaming(request):
                said = word(response.model_dump(mode='json', exclude_none=True, by_alias=True))
                print(said)
                if said == 'subscribe again':
                    return
        except Exception as failure:
            print(f'{type(failure).__name__}: {failure}')
            return
    print('end')


asyncio.run(main(*sys.argv[1:]))
