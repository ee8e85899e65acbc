import { run } from '../steps.mjs';

const { A2A_URL: url, A2A_KEY: key } = process.env;

// docs: the client
import { A2AClient } from '@a2a-js/sdk/client';
import { A2AAgent } from '@ag-ui/a2a';

// This A2AClient has no option for headers: the process's fetch sends the key, to the gateway alone.
const { fetch } = globalThis;
globalThis.fetch = (to, init) => {
  const request = new Request(to, init);
  if (new URL(request.url).origin === new URL(url).origin) request.headers.set('X-API-Key', key);
  return fetch(request);
};
const client = new A2AClient(url.replace(/\/$/, ''), '.well-known/agent-card.json'); // …/agents/x, without a slash
const agent = (threadId) => new A2AAgent({ a2aClient: client, threadId });
// end

let messages = 0;

/** Has the user say something, and gives what the agent answers. */
async function ask(to, content) {
  to.addMessage({ id: `m${(messages += 1)}`, role: 'user', content });
  const { newMessages } = await to.runAgent();
  return newMessages.map((m) => m.content).join(' | ');
}

const fresh = () => agent(crypto.randomUUID());

await run({
  card: async () => (await client.getAgentCard()).name,
  send: async () => ask(fresh(), 'message hello'),
  stream: async () => ask(fresh(), 'stream'),
  'two turns': async () => {
    const one = fresh();
    await ask(one, 'task');
    return ask(one, 'task');
  },
  file: async () =>
    ask(fresh(), [
      { type: 'text', text: 'message' },
      { type: 'binary', mimeType: 'text/plain', filename: 'hello.txt', data: Buffer.from('hello').toString('base64') },
    ]),
  error: async () => ask(fresh(), 'fail'),
});
