// Reads a stream with the client of @a2a-js/sdk 0.3, and prints each thing that it hands out.
//
// Usage: parse-v03.mjs BASE stream|endless|resubscribe TASK
import { ClientFactory } from 'a2a-v03/client';
import { message, print } from './parsing.mjs';

const [base, what, task] = process.argv.slice(2);
const client = await new ClientFactory().createFromUrl(`${base}/.well-known/agent-card.json`, '');
await print(what === 'resubscribe'
  ? client.resubscribeTask({ id: task }) : client.sendMessageStream({ message: message(what) }));
