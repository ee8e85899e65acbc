// What every agent on JavaScript does in place of a model, and how it is served:
// see behaviour.py, which says the same.
import { createServer } from 'node:http';

/** What is answered to the texts of a user's turns and the files of the last. */
export function reply(turns, files = 0) {
  const said = turns.at(-1).trim();
  if (said === 'fail') throw new Error('the agent was told to fail');
  return `turn ${turns.length}: ${said}${files ? `, files: ${files}` : ''}`;
}

/**
 * Serves the Express application that make(port) gives on a free port of 127.0.0.1, says
 * where, and ends when standard input is closed.
 */
export async function serve(make) {
  let app;
  const server = createServer((request, response) => app(request, response));
  await new Promise((listening) => server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', listening));
  const { port } = server.address();
  app = await make(port);
  process.stdin.resume().on('end', () => process.exit(0)).on('close', () => process.exit(0));
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
}
