import { randomUUID } from 'node:crypto';

import { refusal, run } from '../steps.mjs';

const { A2A_URL: url, A2A_KEY: key } = process.env;

// docs: the client
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { InMemoryRunner, RemoteA2AAgent } from '@google/adk';

const fetchImpl = (to, init) => {
  const headers = new Headers(init?.headers);
  headers.set('X-API-Key', key);
  return fetch(to, { ...init, headers });
};
const clientFactory = new ClientFactory({
  transports: [new JsonRpcTransportFactory({ fetchImpl })],
  cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
});
const remote = new RemoteA2AAgent({ name: 'remote', agentCard: url, clientFactory }); // url: …/agents/x/
const runner = new InMemoryRunner({ agent: remote, appName: 'app' });
// end

const text = (t) => ({ text: t });
const hello = { inlineData: { mimeType: 'text/plain', data: Buffer.from('hello').toString('base64') } };

async function session() {
  const { id } = await runner.sessionService.createSession({ appName: 'app', userId: 'user', sessionId: randomUUID() });
  return id;
}

async function ask(sessionId, ...parts) {
  const said = [];
  for await (const event of runner.runAsync({ userId: 'user', sessionId, newMessage: { role: 'user', parts } })) {
    if (event.errorMessage) throw new Error(event.errorMessage);
    for (const part of event.content?.parts ?? []) {
      if (part.text && !part.thought) said.push(part.text);
      if (part.inlineData) said.push(`${part.inlineData.mimeType} ${part.inlineData.data}`);
    }
  }
  return said.join(' | ');
}

await run({
  send: async () => ask(await session(), text('message hello')),
  stream: async () => ask(await session(), text('stream')),
  'two turns': async () => {
    const one = await session();
    await ask(one, text('input'));
    return ask(one, text('more'));
  },
  file: async () => ask(await session(), text('message'), hello),
  error: async () => refusal(ask(await session(), text('fail'))),
});
