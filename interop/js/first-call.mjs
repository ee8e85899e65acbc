// A first call with @a2a-js/sdk 1.x, as its users would write it: first-call.mjs URL KEY.
const [URL, KEY] = process.argv.slice(2); // the agent's base URL at the gateway, …/agents/x/, and an API key

// docs: the client
const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } = await import('a2a-v1/client');

const fetchImpl = (url, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('X-API-Key', KEY);
  return fetch(url, { ...init, headers });
};
const client = await new ClientFactory({
  cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  transports: [new JsonRpcTransportFactory({ fetchImpl })],
}).createFromUrl(URL);
const message = {
  messageId: '1', role: 1, taskId: '', contextId: '', extensions: [], referenceTaskIds: [], metadata: undefined,
  parts: [{ content: { $case: 'text', value: 'hello' }, metadata: undefined, filename: '', mediaType: '' }],
};
for await (const event of client.sendMessageStream({ tenant: '', message, configuration: undefined, metadata: undefined })) {
  console.log(JSON.stringify(event));
}
// end
