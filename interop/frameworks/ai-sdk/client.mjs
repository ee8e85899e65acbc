import { run } from '../steps.mjs';

const { A2A_URL: url, A2A_KEY: key } = process.env;


// docs: the client
import { a2a } from 'a2a-ai-provider';
import { generateText, streamText } from 'ai';

// The provider has no option for headers: the process's fetch sends the key, to the gateway alone.
const { fetch } = globalThis;
globalThis.fetch = (to, init) => {
  const request = new Request(to, init);
  if (new URL(request.url).origin === new URL(url).origin) request.headers.set('X-API-Key', key);
  return fetch(request);
};
const model = a2a(`${url}.well-known/agent-card.json`); // url: …/agents/x/
// end

const said = ({ text, files }) => [text, ...files.map((f) => `${f.mediaType} ${f.base64}`)].join(' | ');
const inContext = (contextId) => ({ a2a: { contextId } });
const hello = { type: 'file', mediaType: 'text/plain', filename: 'hello.txt', data: Buffer.from('hello') };

await run({
  send: async () => said(await generateText({ model, prompt: 'message hello' })),
  stream: async () => {
    const { textStream } = streamText({ model, prompt: 'stream', onError: () => {} });
    const all = [];
    for await (const text of textStream) all.push(text);
    return all.join(' | ');
  },
  'two turns': async () => {
    const providerOptions = inContext(crypto.randomUUID());
    await generateText({ model, prompt: 'task', providerOptions });
    return said(await generateText({ model, prompt: 'task', providerOptions }));
  },
  file: async () =>
    said(await generateText({ model, messages: [{ role: 'user', content: [{ type: 'text', text: 'message' }, hello] }] })),
  error: async () => said(await generateText({ model, prompt: 'fail', maxRetries: 0 })),
});
