"""A host of MCP on the official Python SDK: mcp_host.py URL KEY lists the tools, calls the first that is a skill, and
prints what it was answered as JSON."""

import asyncio
import json
import sys

import httpx2
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client

URL, KEY = sys.argv[1:]


async def main():
    async with httpx2.AsyncClient(headers={'Authorization': f'Bearer {KEY}'}, timeout=60) as http:
        async with streamable_http_client(URL, http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                begun = await session.initialize()
                tools = [tool.name for tool in (await session.list_tools()).tools]
                skill = next(name for name in tools if '__' in name)
                progress = []

                async def heard(done, _total, message):
                    progress.append(message)

                answer = await session.call_tool(skill, {'text': 'work'}, progress_callback=heard)
                again = await session.call_tool(skill, {'text': 'work', 'contextId': answer.structured_content['contextId']})
                wrong = await session.call_tool(skill, {'words': 'work'})
                try:
                    await session.call_tool('nobody__work', {'text': 'work'})
                    unknown = ''
                except MCPError as error:
                    unknown = str(error)
                print(json.dumps({
                    'revision': begun.protocol_version, 'tools': tools, 'text': answer.content[0].text,
                    'state': answer.structured_content.get('state'), 'error': answer.is_error,
                    'same': again.structured_content['contextId'] == answer.structured_content['contextId'],
                    'wrong': wrong.is_error and wrong.content[0].text, 'unknown': unknown, 'progress': len(progress) > 0,
                }))


asyncio.run(main())
