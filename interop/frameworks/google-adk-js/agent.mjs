import { BaseLlm } from '@google/adk';

import { reply, serve } from '../behaviour.mjs';

/** Any model of yours; this one repeats what it is told. */
class Model extends BaseLlm {
  async *generateContentAsync({ contents }) {
    const users = contents.filter((c) => c.role === 'user').map((c) => c.parts);
    const texts = users.map((parts) => parts.map((p) => p.text ?? '').join(''));
    const files = users.at(-1).filter((p) => p.inlineData).length;
    yield { content: { role: 'model', parts: [{ text: reply(texts, files) }] } };
  }
}

const model = new Model({ model: 'parrot' });

// docs: the agent
import { LlmAgent, toA2a } from '@google/adk';

const agent = new LlmAgent({ name: 'parrot', description: 'Repeats', model });
const app = (port) => toA2a(agent, { host: '127.0.0.1', port, allowUnauthenticated: true });
// end

await serve(app);
