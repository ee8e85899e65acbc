import express from 'express';

import { reply, serve } from '../behaviour.mjs';

/** Any model of yours; this one repeats what it is told. */
const model = {
  specificationVersion: 'v2',
  provider: 'parrot',
  modelId: 'parrot',
  supportedUrls: { '*/*': [/.*/] },
  async doGenerate({ prompt }) {
    return { content: [{ type: 'text', text: answer(prompt) }], finishReason: 'stop', usage, warnings: [] };
  },
  async doStream({ prompt }) {
    const text = answer(prompt);
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue({ type: 'stream-start', warnings: [] });
        controller.enqueue({ type: 'text-start', id: '1' });
        controller.enqueue({ type: 'text-delta', id: '1', delta: text });
        controller.enqueue({ type: 'text-end', id: '1' });
        controller.enqueue({ type: 'finish', finishReason: 'stop', usage });
        controller.close();
      },
    });
    return { stream };
  },
};
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

function answer(prompt) {
  const users = prompt.filter((m) => m.role === 'user').map((m) => m.content);
  const texts = users.map((parts) => parts.filter((p) => p.type === 'text').map((p) => p.text).join(''));
  return reply(texts, users.at(-1).filter((p) => p.type === 'file').length);
}

// docs: the agent
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MastraServer } from '@mastra/express';
import { InMemoryTaskStore } from '@mastra/server/a2a/store';

const parrot = new Agent({ id: 'parrot', name: 'Parrot', description: 'Repeats', instructions: 'Repeat.', model });
const mastra = new Mastra({ agents: { parrot } });
const app = express();
app.use(express.json());
await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() }).init();
// end

await serve(() => app);
