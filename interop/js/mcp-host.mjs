// A host of MCP on the official TypeScript SDK: mcp-host.mjs URL KEY does what python/mcp_host.py does.

import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, key] = process.argv.slice(2);
const transport = new StreamableHTTPClientTransport(new URL(url), {requestInit: {headers: {Authorization: `Bearer ${key}`}}});
const client = new Client({name: 'interop', version: '1'});
await client.connect(transport);
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const skill = tools.find((name) => name.includes('__'));
const progress = [];
const answer = await client.callTool({name: skill, arguments: {text: 'work'}}, undefined, {onprogress: (p) => progress.push(p.message)});
const again = await client.callTool({name: skill, arguments: {text: 'work', contextId: answer.structuredContent.contextId}});
const wrong = await client.callTool({name: skill, arguments: {words: 'work'}});
let unknown = '';
try {
  await client.callTool({name: 'nobody__work', arguments: {text: 'work'}});
} catch (error) {
  unknown = error.message;
}
console.log(JSON.stringify({
  revision: transport.protocolVersion, tools, text: answer.content[0].text, state: answer.structuredContent.state ?? null,
  error: answer.isError ?? false, same: again.structuredContent.contextId === answer.structuredContent.contextId,
  wrong: wrong.isError && wrong.content[0].text, unknown, progress: progress.length > 0,
}));
await transport.terminateSession();
await client.close();
