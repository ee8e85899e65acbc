// The client on @a2a-js/sdk 0.3, over every binding.
import { randomUUID } from 'node:crypto';
import {
  ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory, ServiceParameters,
  createAuthenticatingFetchWithRetry, withA2AExtensions,
} from 'a2a-v03/client';
import { GrpcTransportFactory } from 'a2a-v03/client/grpc';
import { run } from './operations.mjs';

const textPart = (text) => ({ kind: 'text', text });

const request = (text, { taskId, parts = [] } = {}) => ({
  message: {
    kind: 'message', messageId: randomUUID(), role: 'user', ...(taskId && { taskId }),
    parts: [textPart(text), ...parts.map((p) => (typeof p === 'string' ? textPart(p) : p))],
  },
  // The SDK's servers disagree about what an absent flag means.
  configuration: { blocking: true },
});

await run(async ({ base, binding, fetch, calls, extensions }) => {
  const card = await new DefaultAgentCardResolver({ fetchImpl: fetch })
    .resolve(`${base}/.well-known/agent-card.json`, '');
  const all = [{ url: card.url, transport: card.preferredTransport }, ...(card.additionalInterfaces ?? [])];
  const chosen = all.find((i) => i.transport === binding);
  const one = {
    ...card, url: chosen.url, preferredTransport: binding, additionalInterfaces: [], supportedInterfaces: undefined,
  };
  const client = await new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl: fetch }), new RestTransportFactory({ fetchImpl: fetch }),
      new GrpcTransportFactory({ grpcCallOptions: calls }),
    ],
  }).createFromAgentCard(one);
  const asking = extensions.length
    ? { serviceParameters: ServiceParameters.create(withA2AExtensions(...extensions)) } : undefined;
  return {
    send: (text, options) => client.sendMessage(request(text, options), asking),
    stream: (text) => client.sendMessageStream(request(text)),
    subscribe: (id) => client.resubscribeTask({ id }),
    get: (id, historyLength) => client.getTask({ id, ...(historyLength !== undefined && { historyLength }) }),
    cancel: (id) => client.cancelTask({ id }),
    card: () => client.getAgentCard(),
    createPush: (taskId, id) => client.setTaskPushNotificationConfig({
      taskId, pushNotificationConfig: { id, url: 'https://hooks.example/a2a', token: `token-${id}` },
    }),
    getPush: (id, pushNotificationConfigId) => (
      client.getTaskPushNotificationConfig({ id, pushNotificationConfigId })),
    deletePush: (id, pushNotificationConfigId) => (
      client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId })),
    listPush: (id) => client.listTaskPushNotificationConfig({ id }),
    parts: () => [
      { kind: 'data', data: { n: 1.25, deep: { a: [true, 'ü'] } } },
      { kind: 'file', file: { bytes: '//4AAQI=', name: 'a.bin', mimeType: 'application/octet-stream' } },
      {
        kind: 'file',
        file: { uri: 'https://files.example/b.pdf?x=1&y=2', name: 'b.pdf', mimeType: 'application/pdf' },
      },
    ],
    idOf: (event) => event?.taskId ?? event?.id ?? '',
    contextOf: (event) => event?.contextId ?? '',
    isWorking: (event) => event?.kind === 'status-update' && event.status.state === 'working',
    isCompleted: (task) => task.status?.state === 'completed',
  };
}, createAuthenticatingFetchWithRetry);
