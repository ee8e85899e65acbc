// Uses the screen Open streams while streams are opened, and ends one there.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE } = process.env;

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/streams');
  await heading(page, 'Open streams');
  await page.getByText('No stream is open').waitFor();
  await look(page, 'streams-none');

  const [first, second] = ['120000', '120001'].map((ms) => send('billing', ALICE, `audit ${ms}`, 'SendStreamingMessage'));
  const table = page.getByRole('table', { name: 'Open streams' });
  const rows = table.getByRole('row').filter({ hasText: 'alice' });
  await page.getByRole('status').getByText('2 open').waitFor();
  await rows.filter({ hasText: 'SendStreamingMessage' }).filter({ hasText: 'JSONRPC 1.0' }).filter({ hasText: '127.0.0.1' }).nth(1).waitFor();
  await look(page, 'streams');

  // Fields are completed with whose streams are open, and with agents that have none.
  const offers = (label) => page.getByLabel(label, { exact: true }).evaluate((field) => [...field.list.options].map((o) => o.value));
  assert.deepEqual(await offers('Caller'), ['alice']);
  assert.ok((await offers('Agent')).includes('weather'), 'the field Agent offers open streams alone');

  // By its task, and back.
  const task = await rows.first().getByRole('link').nth(1).innerText();
  await page.getByLabel('Task').fill(task);
  await page.keyboard.press('Enter');
  await page.waitForURL(/task=/);
  await page.getByRole('status').getByText('1 of 2 open').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('status').getByText('2 open').waitFor();

  // One is ended, once it was asked for twice; the other goes on.
  await rows.first().getByRole('button', { name: 'End the stream of alice at billing' }).press('Enter');
  await page.getByRole('dialog').getByText('told to subscribe again').waitFor();
  await look(page, 'streams-end');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('status').getByText('2 open').waitFor();
  await rows.first().getByRole('button', { name: /^End/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
  await page.getByRole('status').getByText('1 open').waitFor();
  const { body } = await Promise.race([first, second]);
  assert.match(body, /retry: 1000[^]*an operator has ended the stream, subscribe again/);
  await page.goto(`${CONSOLE}/ui/audit?event=stream.ended`);
  await page.getByRole('row').filter({ hasText: 'stream.ended' }).first().waitFor();

  // Who may only look is offered no end.
  const guest = await open({ colorScheme: 'dark' });
  await signIn(guest, '/ui/streams?agent=billing', VIEWER);
  await guest.getByRole('row').filter({ hasText: 'alice' }).waitFor();
  assert.equal(await guest.getByRole('button', { name: /^End/ }).count(), 0, 'a viewer is offered changes');
  await look(guest, 'streams-dark');
  await guest.getByRole('row').filter({ hasText: 'alice' }).getByRole('link', { name: 'billing' }).click();
  await heading(guest, 'billing');
  await guest.getByRole('link', { name: 'Streams' }).last().click();
  await guest.waitForURL(/streams\?agent=billing/);
  await page.goto(`${CONSOLE}/ui/streams`);
  await rows.first().getByRole('button', { name: /^End/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
  await page.getByText('No stream is open').waitFor();
  await Promise.all([first, second]);
});
