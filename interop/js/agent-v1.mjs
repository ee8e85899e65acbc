// The agent on @a2a-js/sdk 1.x: protocol 1.0 over JSON-RPC at /, HTTP+JSON
// at /rest and gRPC on a port of its own.
import { randomUUID } from 'node:crypto';
import { Role, TaskState } from 'a2a-v1';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  DefaultPushNotificationSender,
  InMemoryTaskStore,
} from 'a2a-v1/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'a2a-v1/server/express';
import { A2AService, grpcService } from 'a2a-v1/server/grpc';
import express from 'express';
import { activate, asked, Behaviour, echo, serve } from './behaviour.mjs';

const states = {
  working: TaskState.TASK_STATE_WORKING,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  rejected: TaskState.TASK_STATE_REJECTED,
  canceled: TaskState.TASK_STATE_CANCELED,
  'input-required': TaskState.TASK_STATE_INPUT_REQUIRED,
};

const textPart = (value) => ({
  content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '',
});

const message = (taskId, contextId, parts, metadata) => ({
  messageId: randomUUID(), taskId, contextId, role: Role.ROLE_AGENT, parts,
  metadata, extensions: [], referenceTaskIds: [],
});

class Executor {
  behaviour = new Behaviour();
  contexts = new Map();

  async execute(context, bus) {
    const { taskId, contextId, userMessage } = context;
    this.contexts.set(taskId, contextId);
    const artifactId = randomUUID();
    const status = (state, text) => ({
      state,
      message: text ? message(taskId, contextId, [textPart(text)]) : undefined,
      timestamp: new Date().toISOString(),
    });
    const first = userMessage.parts[0].content;
    await this.behaviour.execute({
      taskId,
      continued: Boolean(context.task),
      text: asked(userMessage.messageId, first?.$case === 'text' ? first.value : ''),
      parts: userMessage.parts,
      emit: {
        submitted: () => bus.publish(AgentEvent.task({
          id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED),
          history: [userMessage], artifacts: [], metadata: userMessage.metadata,
        })),
        status: (state, text) => bus.publish(AgentEvent.statusUpdate({
          taskId, contextId, status: status(states[state], text), metadata: undefined,
        })),
        artifact: (text, append, lastChunk) => bus.publish(AgentEvent.artifactUpdate({
          taskId, contextId, append, lastChunk, metadata: undefined,
          artifact: {
            artifactId, name: 'artifact', description: '', parts: [textPart(text)],
            metadata: undefined, extensions: [],
          },
        })),
        message: (text, parts) => bus.publish(AgentEvent.message(
          message('', contextId, [textPart(text), ...parts.slice(1)], activate(context.context)))),
        end: () => bus.finished(),
      },
    });
  }

  async cancelTask(taskId, bus) {
    if (this.behaviour.cancel(taskId)) return;
    // Nothing runs that would say so: the task waits for input.
    bus.publish(AgentEvent.statusUpdate({
      taskId, contextId: this.contexts.get(taskId), metadata: undefined,
      status: { state: states.canceled, message: undefined, timestamp: new Date().toISOString() },
    }));
    bus.finished();
  }
}

const skill = (id, name) => ({
  id, name, description: `${name}s.`, tags: ['test'], examples: [], inputModes: [], outputModes: [],
  securityRequirements: [],
});

const card = {
  name: 'JavaScript 1', description: 'Does every operation.', version: '1.0.0',
  supportedInterfaces: [], provider: undefined,
  capabilities: {
    streaming: true, pushNotifications: true, extendedAgentCard: true,
    extensions: [{ uri: echo, description: 'Says what was asked for.', required: false, params: undefined }],
  },
  securitySchemes: {}, securityRequirements: [], signatures: [],
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
  card.supportedInterfaces = [
    { url: `${url}/`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', tenant: '', protocolVersion: '1.0' },
    { url: rpc, protocolBinding: 'GRPC', tenant: '', protocolVersion: '1.0' },
  ];
});
