// The client on @a2a-js/sdk 1.x, over every binding.
import { randomUUID } from 'node:crypto';
import { Role, TaskState } from 'a2a-v1';
import {
  ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory, ServiceParameters,
  createAuthenticatingFetchWithRetry, withA2AExtensions,
} from 'a2a-v1/client';
import { GrpcTransportFactory } from 'a2a-v1/client/grpc';
import { run } from './operations.mjs';

const part = (content, more = {}) => ({
  content, metadata: undefined, filename: '', mediaType: '', ...more,
});
const textPart = (value) => part({ $case: 'text', value });

const request = (text, { taskId = '', parts = [] } = {}) => ({
  tenant: '', metadata: undefined, configuration: undefined,
  message: {
    messageId: randomUUID(), taskId, contextId: '', role: Role.ROLE_USER,
    parts: [textPart(text), ...parts.map((p) => (typeof p === 'string' ? textPart(p) : p))],
    metadata: undefined, extensions: [], referenceTaskIds: [],
  },
});

await run(async ({ base, binding, fetch, calls, extensions }) => {
  const card = await new DefaultAgentCardResolver({ fetchImpl: fetch })
    .resolve(`${base}/.well-known/agent-card.json`, '');
  card.supportedInterfaces = card.supportedInterfaces.filter(
    (i) => i.protocolBinding === binding && i.protocolVersion.startsWith('1.'));
  const client = await new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl: fetch }), new RestTransportFactory({ fetchImpl: fetch }),
      new GrpcTransportFactory({ grpcCallOptions: calls }),
    ],
  }).createFromAgentCard(card);
  const asking = extensions.length
    ? { serviceParameters: ServiceParameters.create(withA2AExtensions(...extensions)) } : undefined;
  const of = (event) => event?.payload?.value ?? event;
  return {
    send: (text, options) => client.sendMessage(request(text, options), asking),
    stream: (text) => client.sendMessageStream(request(text)),
    subscribe: (id) => client.resubscribeTask({ tenant: '', id }),
    get: (id, historyLength) => client.getTask({ tenant: '', id, historyLength }),
    cancel: (id) => client.cancelTask({ tenant: '', id, metadata: undefined }),
    list: (contextId) => client.listTasks({
      tenant: '', contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '',
      statusTimestampAfter: undefined,
    }),
    card: () => client.getAgentCard(),
    createPush: (taskId, id) => client.createTaskPushNotificationConfig({
      tenant: '', id, taskId, url: 'https://hooks.example/a2a', token: `token-${id}`, authentication: undefined,
    }),
    getPush: (taskId, id) => client.getTaskPushNotificationConfig({ tenant: '', taskId, id }),
    deletePush: (taskId, id) => client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id }),
    listPush: (taskId) => client.listTaskPushNotificationConfig({
      tenant: '', taskId, pageSize: 0, pageToken: '',
    }),
    parts: () => [
      part({ $case: 'data', value: { n: 1.25, deep: { a: [true, 'ü'] } } }),
      part({ $case: 'data', value: ['an', 'array', 3] }),
      part({ $case: 'raw', value: Buffer.from([255, 254, 0, 1, 2]) }, {
        filename: 'a.bin', mediaType: 'application/octet-stream',
      }),
      part({ $case: 'url', value: 'https://files.example/b.pdf?x=1&y=2' }, {
        filename: 'b.pdf', mediaType: 'application/pdf',
      }),
    ],
    idOf: (event) => of(event)?.taskId || of(event)?.id || '',
    contextOf: (event) => of(event)?.contextId ?? '',
    isWorking: (event) => of(event)?.taskId !== undefined
      && of(event)?.status?.state === TaskState.TASK_STATE_WORKING,
    isCompleted: (task) => task.status?.state === TaskState.TASK_STATE_COMPLETED,
  };
}, createAuthenticatingFetchWithRetry);
