// The conversations of every client of the matrix. An adapter does them in the
// words of one SDK; results are printed as they are, one JSON line for each
// operation, and compared by whoever started the program.
//
//   connect({ base, binding, fetch, calls,
//     extensions })                             → adapter; calls are options of gRPC calls, and
//                                               send activates the extensions
//   adapter.send(text, { taskId, parts })       → task or message
//   adapter.stream(text), adapter.subscribe(id) → async iterable of events
//   adapter.get(id, historyLength), cancel(id), list(contextId), card()
//   adapter.createPush(id, name), getPush, listPush, deletePush
//   adapter.idOf(event), contextOf(event), isWorking(event), isCompleted(task)

import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { InterceptingCall } from '@grpc/grpc-js';
import { SignIn } from './signin.mjs';

// How long a stream may go on: none does by itself, in ms.
const patience = 10000;

// These have a task that says the same thing until it is cancelled; how often
// is a matter of luck.
const ticking = new Set(['cancel a stream', 'subscribe to a running task']);

// Binary content would print as an object of numbers, and the order of the keys
// of some agents' maps is a matter of luck.
function printable(_, v) {
  if (v?.type === 'Buffer') return Buffer.from(v.data).toString('base64');
  if (v === null || typeof v !== 'object' || Array.isArray(v)) return v;
  return Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)));
}

// uncaught fails when the SDK throws where nobody can catch it: the client for
// gRPC of 0.3 does so for answers that it cannot read.
let blow = (error) => { throw error; };
process.on('uncaughtException', (error) => blow(error));
const uncaught = () => new Promise((_, reject) => { blow = reject; });

class Run {
  constructor(adapter) {
    this.adapter = adapter;
    this.lines = [];
  }

  note(what, value) {
    this.lines.push(`${what}: ${JSON.stringify(value, printable)}`);
    return value;
  }

  async try(what, f) {
    try {
      return this.note(what, (await Promise.race([f(), uncaught()])) ?? null);
    } catch (error) {
      this.lines.push(`${what}: ${reason(error)}`);
      return undefined;
    }
  }

  send(text, options = {}) {
    return this.try('send', () => this.adapter.send(text, options));
  }

  async each(what, events, react = async () => {}) {
    const began = Date.now();
    try {
      for await (const event of events) {
        if (Date.now() - began > patience) {
          this.lines.push(`${what}: no end`);
          return;
        }
        this.note(what, event);
        await react(event);
      }
      this.lines.push(`${what}: end`);
    } catch (error) {
      this.lines.push(`${what}: ${reason(error)}`);
    }
  }
}

function reason(error) {
  const name = error?.constructor?.name ?? 'unknown';
  if (name === 'ReferenceError' || name === 'SyntaxError') throw error;
  return process.env.A2A_INTEROP_DEBUG ? `error ${name} ${error.stack}` : `error ${name}`;
}

const once = (adapter, f) => {
  let done = false;
  return async (event) => {
    if (!done && adapter.isWorking(event)) {
      done = true;
      await f(adapter.idOf(event));
    }
  };
};

const operations = {
  'message reply': (r) => r.send('message'),
  'task reply': (r) => r.send('task'),
  'failed task': (r) => r.send('fail'),
  'rejected task': (r) => r.send('reject'),
  'stream to completion': (r, a) => r.each('stream', a.stream('stream')),
  'stream of one message': (r, a) => r.each('stream', a.stream('message')),
  'input required and continue': async (r, a) => {
    const task = await r.send('input');
    await r.send('this', { taskId: a.idOf(task) });
  },
  'cancel a stream': async (r, a) => {
    await r.each('stream', a.stream('tick'), once(a, (id) => r.try('cancel', async () => a.cancel(id))));
  },
  'subscribe to a running task': async (r, a) => {
    const cancel = (id) => r.try('cancel', async () => a.cancel(id));
    await r.each('stream', a.stream('tick'), once(a, async (id) => {
      let seen = false;
      await r.each('subscribe', a.subscribe(id), once(a, () => {
        seen = true;
        return cancel(id);
      }));
      if (!seen) await cancel(id);
    }));
  },
  'subscribe to an ended task': async (r, a) => {
    await r.each('subscribe', a.subscribe(a.idOf(await r.send('task'))));
  },
  'cancel an ended task': async (r, a) => {
    const id = a.idOf(await r.send('task'));
    await r.try('cancel', () => a.cancel(id));
  },
  'message to an ended task': async (r, a) => {
    await r.send('more', { taskId: a.idOf(await r.send('task')) });
  },
  'get with history lengths': async (r, a) => {
    const id = a.idOf(await r.send('input'));
    await r.send('this', { taskId: id });
    for (const n of [0, 1, undefined]) await r.try(`get ${n}`, () => a.get(id, n));
  },
  list: async (r, a) => {
    if (!a.list) return;
    const task = await r.send('task');
    await r.try('list', () => a.list(a.contextOf(task)));
  },
  'push configurations': async (r, a) => {
    const id = a.idOf(await r.send('task'));
    for (const name of ['c1', 'c2']) await r.try('create', () => a.createPush(id, name));
    await r.try('get', () => a.getPush(id, 'c1'));
    await r.try('delete', () => a.deletePush(id, 'c1'));
    await r.try('list', () => a.listPush(id));
    await r.try('get deleted', () => a.getPush(id, 'c1'));
  },
  'extended card': (r, a) => r.try('card', async () => {
    const card = await a.card();
    return [card.name, card.description, card.version, card.skills.map((s) => s.id)];
  }),
  'unknown task': async (r, a) => {
    const id = randomUUID();
    await r.try('get', () => a.get(id));
    await r.try('cancel', () => a.cancel(id));
    await r.each('subscribe', a.subscribe(id));
    await r.send('hello?', { taskId: id });
  },
  'data and file parts': (r, a) => r.send('message', { parts: a.parts() }),
  'one megabyte': async (r) => {
    const text = 'zyxw vuts rqpo nm'.repeat(1 << 16);
    const before = r.lines.length;
    await r.send('message', { parts: [text] });
    r.lines = r.lines.map((line, i) => (i < before ? line : line.replaceAll(text, '<megabyte>')));
  },
};

// What is done only where a run asks for it: agents end their tasks before they answer.
const asked = {
  'get a task until it is completed': async (r, a) => {
    const began = Date.now();
    let task = await r.send('task');
    for (const id = a.idOf(task); task && !a.isCompleted(task) && Date.now() - began < patience;) {
      await pause(50);
      task = await r.try('get', () => a.get(id));
    }
  },
};

// withHeaders is what adds headers to every request of a fetch.
const withHeaders = (headers) => (input, init = {}) => {
  const all = new Headers(init.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return fetch(input, { ...init, headers: all });
};

// interceptor is what adds headers to every gRPC call.
const interceptor = (headers) => (options, next) => new InterceptingCall(next(options), {
  start(metadata, listener, go) {
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    go(metadata, listener);
  },
});

async function perform(connect, retrying, {
  base, binding, headers, extensions, only, signIn,
}) {
  const adapter = await connect({
    base, binding, fetch: signIn ? retrying(fetch, new SignIn(signIn)) : withHeaders(headers),
    calls: { interceptors: [interceptor(headers)] },
    extensions: extensions ?? [],
  });
  for (const [name, operation] of Object.entries(only ? { ...operations, ...asked } : operations)) {
    if (only && name !== only) continue;
    const r = new Run(adapter);
    await operation(r, adapter);
    console.log(JSON.stringify({ operation: name, ticks: ticking.has(name), lines: r.lines }));
  }
}

// run does what the lines of standard input say, one run each; see
// interop/README.md. retrying is the SDK's fetch that asks for another credential.
export async function run(connect, retrying) {
  for await (const line of createInterface({ input: process.stdin })) {
    await perform(connect, retrying, JSON.parse(line));
    console.log(JSON.stringify({ done: true }));
  }
  process.exit(0);
}
