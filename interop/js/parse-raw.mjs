// Reads a stream with eventsource-parser alone, and prints each thing that it hands out.
//
// Usage: parse-raw.mjs BASE stream|endless|resubscribe TASK
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { call, print, word } from './parsing.mjs';

const [base, what, task] = process.argv.slice(2);
const response = await fetch(base, {
  method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(call(what, task)),
});
const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
await print((async function* results() {
  for await (const event of events) {
    const { result, error } = JSON.parse(event.data);
    if (error) throw new Error(error.message);
    yield result;
  }
})(), word);
