// What the programs that try parsers have in common, for documents of A2A 0.3.

export const message = (text) => ({
  kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text }],
});

// call is the JSON-RPC call that begins a stream.
export const call = (what, task) => (what === 'resubscribe'
  ? { jsonrpc: '2.0', id: 1, method: 'tasks/resubscribe', params: { id: task } }
  : { jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message: message(what) } });

// word is an event in a word.
export const word = (event) => event.artifact?.parts[0].text ?? event.status.state;

export const again = (text) => (text.includes('subscribe again') ? 'subscribe again' : text);

// print prints each event in a word, and how the stream ended.
export const print = async (events, wordOf = word) => {
  try {
    for await (const event of events) console.log(wordOf(event));
  } catch (failure) {
    console.log(again(`${failure.name}: ${failure.message}`));
    return;
  }
  console.log('end');
};
