import { run } from '../steps.mjs';

const { A2A_URL: url, A2A_KEY: key } = process.env;

// docs: the client
import { A2AAgent } from '@mastra/core/a2a';

const agent = new A2AAgent({
  url: `${url}.well-known/agent-card.json`, // url: …/agents/x/
  headers: { 'X-API-Key': key },
});
// end

const hello = { type: 'file', mimeType: 'text/plain', data: Buffer.from('hello').toString('base64') };

async function streamed(prompt) {
  const stream = await agent.stream(prompt);
  const all = [];
  for await (const chunk of stream.fullStream) if (chunk.type === 'text-delta') all.push(chunk.payload.text);
  return all.join(' | ');
}

await run({
  card: async () => (await agent.getAgentCard()).name,
  send: async () => (await agent.generate('message hello')).text,
  stream: () => streamed('stream'),
  'two turns': async () => {
    const runId = crypto.randomUUID();
    await agent.generate('input', { runId });
    return (await agent.resumeGenerate('more', { runId })).text;
  },
  file: async () => (await agent.generate([{ role: 'user', content: [{ type: 'text', text: 'message' }, hello] }])).text,
  error: async () => (await agent.generate('fail')).text,
});
