// The agent on @a2a-js/sdk 0.3: protocol 0.3 over JSON-RPC at /, HTTP+JSON
// at /rest and gRPC on a port of its own.
import { randomUUID } from 'node:crypto';
import {
  DefaultRequestHandler,
  DefaultPushNotificationSender,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from 'a2a-v03/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'a2a-v03/server/express';
import { A2AService, grpcService } from 'a2a-v03/server/grpc';
import express from 'express';
import { activate, asked, Behaviour, echo, serve } from './behaviour.mjs';

const ends = new Set(['completed', 'failed', 'rejected', 'canceled', 'input-required']);

const textPart = (text) => ({ kind: 'text', text });

const message = (taskId, contextId, parts, metadata) => ({
  kind: 'message', messageId: randomUUID(), role: 'agent', contextId, parts, ...(taskId && { taskId }),
  ...(metadata && { metadata }),
});

class Executor {
  behaviour = new Behaviour();

  async execute(context, bus) {
    const { taskId, contextId, userMessage } = context;
    const artifactId = randomUUID();
    const status = (state, text) => ({
      state,
      ...(text && { message: message(taskId, contextId, [textPart(text)]) }),
      timestamp: new Date().toISOString(),
    });
    await this.behaviour.execute({
      taskId,
      continued: Boolean(context.task),
      text: asked(userMessage.messageId, userMessage.parts[0].text ?? ''),
      parts: userMessage.parts,
      emit: {
        submitted: () => bus.publish({
          kind: 'task', id: taskId, contextId, status: status('submitted'),
          history: [userMessage], artifacts: [], metadata: userMessage.metadata,
        }),
        status: (state, text) => bus.publish({
          kind: 'status-update', taskId, contextId, status: status(state, text), final: ends.has(state),
        }),
        artifact: (text, append, lastChunk) => bus.publish({
          kind: 'artifact-update', taskId, contextId, append, lastChunk,
          artifact: { artifactId, name: 'artifact', parts: [textPart(text)] },
        }),
        message: (text, parts) => bus.publish(
          message('', contextId, [textPart(text), ...parts.slice(1)], activate(context.context))),
        end: () => bus.finished(),
      },
    });
  }

  cancelTask = async (taskId) => this.behaviour.cancel(taskId);
}

const skill = (id, name) => ({ id, name, description: `${name}s.`, tags: ['test'] });

const card = {
  name: 'JavaScript 0.3', description: 'Does every operation.', version: '1.0.0', protocolVersion: '0.3.0',
  url: '', preferredTransport: 'JSONRPC', additionalInterfaces: [],
  capabilities: {
    streaming: true, pushNotifications: true, extensions: [{ uri: echo, description: 'Says what was asked for.' }],
  },
  supportsAuthenticatedExtendedCard: true,
  defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
  skills: [skill('work', 'Work'), skill('rest', 'Rest')],
};

const pushStore = new InMemoryPushNotificationStore();
const requestHandler = new DefaultRequestHandler(
  card, new InMemoryTaskStore(), new Executor(), undefined,
  pushStore, new DefaultPushNotificationSender(pushStore),
  async () => ({ ...card, description: `${card.description} Extended.` }));

const app = express();
// The SDK's own body parser stops at 100 kB; the first parser to run wins.
app.use(express.json({ limit: '10mb', type: ['application/json', 'application/a2a+json'] }));
const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/rest', restHandler(options));
app.use('/', jsonRpcHandler(options));
serve(app, A2AService, grpcService(options), (url, rpc) => {
  card.url = `${url}/`;
  card.additionalInterfaces = [
    { url: `${url}/`, transport: 'JSONRPC' },
    { url: `${url}/rest`, transport: 'HTTP+JSON' },
    { url: rpc, transport: 'GRPC' },
  ];
});
