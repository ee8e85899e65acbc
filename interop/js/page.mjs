// A web page that calls an agent through the gateway, of another origin, with @a2a-js/sdk 1.x
// and 0.3. It posts what it saw to the server that it came from.
import * as v1 from 'a2a-v1/client';
import * as v03 from 'a2a-v03/client';

const { base, key } = await (await fetch('/settings')).json();
const saw = {};

// withKey sends the credential, as a page does that has got one from somewhere.
const withKey = (more) => (url, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('X-API-Key', key);
  for (const [name, value] of Object.entries(more ?? {})) headers.set(name, value);
  return fetch(url, { ...init, headers });
};

// attempt keeps what an attempt gives, or why it failed.
async function attempt(name, ask) {
  try {
    saw[name] = await ask();
  } catch (e) {
    saw[name] = `${e.name}: ${e.message}`;
  }
}

const said = (parts) => (parts ?? []).map((p) => p.content?.value ?? p.text ?? '').join('');

// texts are those of a task or message, whatever the SDK wraps it in.
const texts = (answer) => {
  const it = answer?.payload?.value ?? answer;
  return said(it.parts ?? it.artifacts?.flatMap((a) => a.parts) ?? it.artifact?.parts);
};

async function collect(stream) {
  let all = '', events = 0;
  for await (const event of stream) {
    all += texts(event);
    events += 1;
  }
  return `${events > 1 ? 'many' : events} events: ${all}`;
}

const now = (text) => ({
  tenant: '', metadata: undefined, configuration: undefined,
  message: {
    messageId: crypto.randomUUID(), taskId: '', contextId: '', role: 1,
    parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined, extensions: [], referenceTaskIds: [],
  },
});

const then = (text) => ({
  message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }] },
  configuration: { blocking: true },
});

for (const [name, sdk, request, transports] of [
  ['1.0 JSON-RPC', v1, now, (fetchImpl) => [new v1.JsonRpcTransportFactory({ fetchImpl })]],
  ['1.0 HTTP+JSON', v1, now, (fetchImpl) => [new v1.RestTransportFactory({ fetchImpl })]],
  ['0.3 JSON-RPC', v03, then, (fetchImpl) => [new v03.JsonRpcTransportFactory({ fetchImpl })]],
  ['0.3 HTTP+JSON', v03, then, (fetchImpl) => [new v03.RestTransportFactory({ fetchImpl })]],
]) {
  await attempt(`${name} send`, async () => {
    const fetchImpl = withKey();
    const cardResolver = new sdk.DefaultAgentCardResolver({ fetchImpl });
    const client = await new sdk.ClientFactory({ transports: transports(fetchImpl), cardResolver }).createFromUrl(base);
    await attempt(`${name} stream`, () => collect(client.sendMessageStream(request('count 3'))));
    return texts(await client.sendMessage(request('echo from a page')));
  });
}

// What a page may see of answers that the SDKs keep to themselves.
await attempt('refused', async () => {
  const answer = await fetch(base, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
  return `${answer.status} ${answer.headers.has('WWW-Authenticate')} ${answer.headers.has('X-Request-Id')}`;
});
await attempt('no such agent', async () => `${(await withKey()(new URL('../none/.well-known/agent-card.json', base))).status}`);
await attempt('another header', async () => `${(await withKey({ 'X-Unheard-Of': 'x' })(base)).status}`);

await fetch('/report', { method: 'POST', body: JSON.stringify(saw) });
