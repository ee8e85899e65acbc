// What every agent of the matrix does, whatever SDK it runs on. The first word
// of the message text chooses; see interop/README.md. An emitter writes the
// events in the words of one SDK:
//
//   emit.submitted()                      the task, first event of it
//   emit.status(state, text?)             state is "working", "completed", …
//   emit.artifact(text, append, last)     a chunk of the one artifact
//   emit.message(text, parts)             a message instead of a task
//   emit.end()                            no more events

import { Server, ServerCredentials } from '@grpc/grpc-js';

// echo is an extension that every agent declares: its messages say which extensions
// the caller has asked for.
export const echo = 'https://example.com/ext/echo/v1';

// activate activates echo if the caller wants that, and gives the metadata of a message.
export function activate(call) {
  if (!call?.requestedExtensions?.includes(echo)) return undefined;
  call.addActivatedExtension(echo);
  return { [echo]: [...call.requestedExtensions] };
}

// What the ids of the TCK's messages ask for, in place of a word; other messages of it complete a task.
const tck = {
  'tck-input-required': 'input',
  'tck-message-response': 'message',
  'tck-reject-task': 'reject',
  'tck-stream': 'stream',
  'test-resubscribe-message-id': 'slow',
};

// asked gives the words of a message; the TCK's messages do not choose by words, but by their id.
export function asked(messageId, text) {
  const prefix = Object.keys(tck).find((one) => messageId.startsWith(one));
  return prefix ? tck[prefix] : text;
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export class Behaviour {
  constructor() {
    this.cancelled = new Set();
    this.running = new Set();
  }

  async execute({ taskId, continued, text, parts, emit }) {
    const word = text.split(' ', 1)[0];
    this.running.add(taskId);
    if (continued) {
      emit.status('completed', 'thank you');
    } else if (word === 'message') {
      emit.message('answer', parts);
    } else {
      emit.submitted();
      await this.work(word, taskId, emit);
    }
    this.running.delete(taskId);
    emit.end();
  }

  async work(word, taskId, emit) {
    switch (word) {
      case 'stream':
        emit.status('working', 'working');
        emit.artifact('one', false, false);
        emit.artifact('two\nlines', true, false);
        emit.artifact('three\u2028and <html>', true, true);
        emit.status('completed', 'completed');
        break;
      case 'input':
        emit.status('input-required', 'what?');
        break;
      case 'tick':
        while (!this.cancelled.has(taskId)) {
          emit.status('working');
          await sleep(20);
        }
        emit.status('canceled');
        break;
      case 'slow':
        emit.status('working', 'working');
        await sleep(2000 * Number(process.env.TCK_STREAMING_TIMEOUT ?? 2));
        emit.status('completed', 'completed');
        break;
      case 'fail':
        emit.status('failed', 'failed');
        break;
      case 'reject':
        emit.status('rejected', 'rejected');
        break;
      default:
        emit.artifact('result', false, true);
        emit.status('completed', 'completed');
    }
  }

  // cancel says whether the task is being worked on, which ends it.
  cancel(taskId) {
    this.cancelled.add(taskId);
    return this.running.has(taskId);
  }
}

// serve listens on two free loopback ports, HTTP and gRPC, tells the first on
// standard output as one JSON line, and ends when standard input is closed: no
// agent outlives the test that started it. The card is made once the ports are
// known: announce(url, address of gRPC).
export function serve(app, service, implementation, announce) {
  const rpc = new Server({ 'grpc.max_receive_message_length': 16 << 20 });
  rpc.addService(service, implementation);
  rpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, rpcPort) => {
    if (error) throw error;
    const server = app.listen(0, '127.0.0.1', () => {
      const url = `http://127.0.0.1:${server.address().port}`;
      announce(url, `127.0.0.1:${rpcPort}`);
      console.log(JSON.stringify({ port: server.address().port, url }));
    });
  });
  process.stdin.resume();
  process.stdin.on('end', () => process.exit(0));
}
