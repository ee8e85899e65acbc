// Watches an open stream of a real agent, on the screen Streams and on the page of its task, and reads what was said there:
// where admin.content shows what was captured (CONTENT), and where it does not.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE, CONTENT } = process.env;
const name = CONTENT ? 'shown' : 'hidden';

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/streams');
  await heading(page, 'Open streams');
  const stop = new AbortController();
  const audit = send('billing', ALICE, 'audit 120000', 'SendStreamingMessage', { signal: stop.signal });
  audit.catch(() => {}); // it is broken off
  await page.getByRole('button', { name: 'Watch the stream of alice at billing' }).click();
  const panel = page.getByRole('region', { name: 'Watched stream' });
  await panel.getByRole('status').getByText('live', { exact: true }).waitFor();
  const rows = panel.getByRole('row');
  const events = rows.filter({ hasText: 'TASK_STATE_WORKING' });
  await events.nth(2).waitFor();
  assert.match(await events.first().innerText(), /\+[\d.]+ m?s[^]*status[^]*TASK_STATE_WORKING[^]* B/);
  // Paused, nothing moves; what came meanwhile is there when it goes on.
  await panel.getByRole('button', { name: 'Pause' }).click();
  await panel.getByRole('status').getByText(/paused, [1-9]\d* more since/).waitFor();
  if (CONTENT) {
    await panel.getByText('Content', { exact: true }).first().click();
    await panel.getByRole('group', { name: 'Content of the event' }).getByText(/^Page \d+ of 100000/).first().waitFor();
  } else {
    await panel.getByText(/admin\.content is false, and no rule of telemetry\.audit\.content\.rules captures/).waitFor();
    assert.equal(await panel.getByText('Content', { exact: true }).count(), 0, 'content is shown');
  }
  await look(page, `watch-${name}`);
  await panel.getByRole('button', { name: 'Resume' }).click();
  await panel.getByRole('status').getByText('live', { exact: true }).waitFor();

  // On the page of the task, until the stream ends.
  await page.getByRole('table', { name: 'Open streams' }).getByRole('row').filter({ hasText: 'alice' }).getByRole('link').nth(1).click();
  await page.getByRole('button', { name: 'Watch the open stream of alice' }).click();
  await events.first().waitFor();
  const task = page.url();
  stop.abort();
  await panel.getByRole('status').getByText(/^ended: /).waitFor();
  await panel.getByRole('button', { name: 'Stop watching' }).click();
  await panel.waitFor({ state: 'detached' });
  await page.goto(`${CONSOLE}/ui/audit?event=stream.watched`);
  await page.getByRole('row').filter({ hasText: 'stream.watched' }).nth(1).waitFor();

  // What was said.
  await page.goto(task);
  const steps = page.getByRole('list', { name: 'Conversation' }).getByRole('listitem');
  await steps.filter({ hasText: 'SendStreamingMessage' }).filter({ hasText: 'allow' }).waitFor();
  await steps.filter({ hasText: 'stream.watched' }).first().waitFor();
  const messages = page.getByRole('region', { name: 'Messages' });
  if (CONTENT) {
    await messages.getByRole('button', { name: 'Show messages' }).click();
    await messages.getByRole('group', { name: 'Request' }).getByText('audit 120000').waitFor();
    await messages.getByRole('group', { name: 'Answer' }).getByText(/^Page 1 of 100000/).first().waitFor();
    await look(page, 'task-messages');
    await page.goto(`${CONSOLE}/ui/audit?event=content.shown`);
    await page.getByRole('row').filter({ hasText: 'content.shown' }).first().waitFor();
  } else {
    await messages.getByText('Messages are not shown').waitFor();
    await messages.getByText('telemetry.audit.content.rules').waitFor();
    assert.equal(await messages.getByRole('button').count(), 0, 'messages are offered');
    await look(page, 'task-hidden');
  }

  // Who may only look is offered neither.
  const guest = await open({ colorScheme: 'dark' });
  await signIn(guest, new URL(task).pathname, VIEWER);
  const told = guest.getByRole('region', { name: 'Messages' });
  await told.getByText(CONTENT ? 'The role operator may see' : 'Messages are not shown').waitFor();
  assert.equal(await told.getByRole('button').count(), 0, 'a viewer is offered messages');
  await look(guest, `task-${name}-dark`);
});
