// Reads a stream with the client of @a2a-js/sdk 1.x, and prints each thing that it hands out.
//
// Usage: parse-v1.mjs BASE stream|endless|resubscribe TASK
import { Role, TaskState } from 'a2a-v1';
import { ClientFactory } from 'a2a-v1/client';
import { print } from './parsing.mjs';

const [base, what, task] = process.argv.slice(2);
const client = await new ClientFactory().createFromUrl(`${base}/.well-known/agent-card.json`, '');
const message = {
  messageId: 'm', taskId: '', contextId: '', role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [],
  parts: [{ content: { $case: 'text', value: what }, metadata: undefined, filename: '', mediaType: '' }],
};
const events = what === 'resubscribe' ? client.resubscribeTask({ tenant: '', id: task })
  : client.sendMessageStream({ tenant: '', metadata: undefined, configuration: undefined, message });
await print(events, ({ payload: { value } }) => value.artifact?.parts[0].content.value
  ?? TaskState[value.status.state].replace('TASK_STATE_', '').toLowerCase());
