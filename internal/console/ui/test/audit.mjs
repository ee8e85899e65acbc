// Uses the screen Audit: searches, pages, looks at records and at a task's conversation, has
// the log verified before and after somebody changed it, and exports it.
import { readFile } from 'node:fs/promises';
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE, BOB, HAND } = process.env;

const found = ({ body }) => JSON.parse(body).result;

await play(async () => {
  // What is to be found: calls, refusals, streams, a conversation, a notification.
  assert.equal((await send('billing', BOB, 'hello')).status, 403);
  await send('weather', BOB, 'hello');
  const { task } = found(await send('billing', ALICE, 'refund INV-7'));
  await send('billing', ALICE, 'yes', 'SendStreamingMessage', { taskId: task.id, contextId: task.contextId });
  await send('billing', ALICE, 'summarize this', 'SendStreamingMessage');
  const parcel = found(await send('courier', ALICE, 'go', 'SendMessage', {}, { taskPushNotificationConfig: { url: `${HAND}/hook` } })).task;
  assert.equal((await fetch(`${HAND}/notify?task=${parcel.id}`, { method: 'POST' })).status, 200);
  for (let i = 0; i < 130; i += 10) await Promise.all(Array.from({ length: 10 }, () => send('billing', ALICE, 'hello')));

  const page = await open({ colorScheme: 'light', acceptDownloads: true });
  await signIn(page, '/ui/audit');
  await heading(page, 'Audit');
  const table = page.getByRole('table', { name: 'Audit records' });
  const rows = table.getByRole('row');
  await page.getByText('100 shown, and there are more').waitFor();
  await look(page, 'audit');
  await page.getByRole('button', { name: 'Show more' }).press('Enter');
  await page.getByText(/1\d\d shown$/).waitFor();

  // What is asked for is in the address, field by field.
  await page.getByLabel('Caller').fill('bob');
  await page.keyboard.press('Enter');
  await page.waitForURL(/caller=bob/);
  await page.getByText('2 shown').waitFor();
  await page.getByLabel('Decision').selectOption('deny');
  await page.getByText('1 shown').waitFor();
  await page.getByLabel('Time range').selectOption('1h');
  await page.waitForURL(/last=1h/);
  await page.getByText('1 shown').waitFor();
  await look(page, 'audit-filtered');
  await page.getByLabel('Time range').selectOption('between');
  page.allowed = /status of (400|401|404)/; // it ends before it begins, for a moment
  await page.getByLabel('Before').fill('2001-01-01T00:00:00');
  await page.getByLabel('From', { exact: true }).fill('2000-01-01T00:00:00');
  await page.keyboard.press('Enter');
  await page.waitForURL((u) => u.search.includes('until=200') && u.search.includes('since='));
  await page.getByText('No record matches').waitFor();
  await look(page, 'audit-nothing');
  await page.goto(`${CONSOLE}/ui/audit?method=SendMessage&event=push.delivery`);
  await page.getByRole('alert').getByText('ask for one of them').waitFor();
  for (const [query, n] of [['caller=bob&agent=weather', 1], [`task=${task.id}`, 2], ['method=SendStreamingMessage', 2], ['skill=nothing', 0]]) {
    await page.goto(`${CONSOLE}/ui/audit?${query}`);
    await page.getByRole('status').filter({ hasText: `${n} shown` }).waitFor();
  }

  // From there to what comes, and back, with what was asked for.
  await page.goto(`${CONSOLE}/ui/audit?caller=bob&last=1h`);
  await page.getByRole('link', { name: 'Follow live' }).click();
  await page.waitForURL(/live\?caller=bob$/);
  await page.getByRole('link', { name: 'Search the log' }).click();
  await page.waitForURL(/audit\?caller=bob$/);
  await page.getByText('2 shown').waitFor();

  // A record says what was decided and why.
  await page.goto(`${CONSOLE}/ui/audit?caller=bob&decision=deny`);
  await rows.getByRole('link').first().click();
  await heading(page, 'SendMessage');
  await page.getByRole('region', { name: 'Decision' }).getByText('deny', { exact: true }).waitFor();

  // From a refusal to its cause: the stage and the rule, and one click to what can be done about it.
  const refusal = page.getByRole('region', { name: 'Refusal' });
  const stage = refusal.getByText('policy', { exact: true });
  await stage.waitFor();
  await refusal.getByText('no-bob', { exact: true }).waitFor();
  await refusal.getByText(/config\.yaml:\d+$/).waitFor();
  await refusal.getByText('403 · -31403').waitFor();
  await look(page, 'refusal');
  const leads = async (name, seen) => {
    await refusal.getByRole('link', { name }).click();
    await seen();
    await page.goBack();
    await stage.waitFor();
  };
  await leads('Explain this call', async () => {
    await page.waitForURL(/view=explain.*subject=bob/);
    await page.getByText('no-bob').first().waitFor();
  });
  await leads('Try as this caller', async () => {
    await page.waitForURL(/\/try\?.*caller=bob/);
    await page.getByRole('note').getByText('bob').waitFor();
    assert.equal(await page.getByLabel('Agent', { exact: true }).inputValue(), 'billing');
  });
  await leads('Open the rule', () => page.waitForURL(/policy\?.*rule=no-bob/));
  await leads('Replay with a changed rule', async () => {
    const draft = page.getByRole('textbox', { name: 'Rules, as the configuration has them' });
    await draft.waitFor();
    await page.waitForFunction(() => {
      const box = document.querySelector('#draft');
      return box.value.slice(box.selectionStart, box.selectionEnd) === '  - name: no-bob';
    });
    await page.getByRole('form', { name: 'Draft' }).getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('Edit the rules, choose a time range').waitFor({ state: 'detached' });
  });

  // Cells filter, ~ finds what contains a text, fields are completed, and rows expand in place.
  await page.goto(`${CONSOLE}/ui/audit?caller=bob`);
  await rows.getByRole('link', { name: 'weather' }).first().click();
  await page.waitForURL(/agent=weather/);
  await page.getByText('1 shown').waitFor();
  await page.goto(`${CONSOLE}/ui/audit`);
  const completed = (field, with_) =>
    page.waitForFunction(([name, values]) => [...document.querySelector(`input[name=${name}]`).list.options].map((o) => o.value).join() === values, [field, with_]);
  await page.getByLabel('Caller').fill('~ob');
  await completed('caller', 'bob');
  await page.keyboard.press('Enter');
  await page.getByText('2 shown').waitFor();
  await page.getByLabel('Rule or limit').fill('no-');
  await completed('rule', 'no-bob'); // whichever records the page shows
  await page.getByLabel('Rule or limit').fill('');
  await page.getByLabel('Decision').selectOption('deny');
  await page.getByText('1 shown').waitFor();
  assert.match(await rows.nth(1).innerText(), /403 · -31403[^]*policy[^]*no-bob[^]*UNAUTHORIZED/);
  await rows.nth(1).getByRole('button', { name: 'Details of row 1' }).click();
  await refusal.getByText(/config\.yaml:\d+$/).waitFor();
  await page.goto(`${CONSOLE}/ui/audit`);
  await page.getByLabel('Refused by').selectOption('policy');
  await page.getByText('1 shown').waitFor();
  await rows.getByRole('link', { name: 'no-bob' }).click();
  await page.waitForURL(/rule=no-bob/);
  await page.getByText('1 shown').waitFor();
  await rows.getByRole('link', { name: 'policy', exact: true }).click();
  await page.waitForURL(/stage=policy/);
  await look(page, 'audit-expanded');

  // A task's conversation: the call that made it, and the stream that went on with it.
  await page.goto(`${CONSOLE}/ui/audit?task=${task.id}`);
  await page.getByRole('link', { name: 'Timeline of the task' }).click();
  const steps = page.getByRole('list', { name: 'Conversation' }).getByRole('listitem');
  await steps.nth(1).waitFor();
  assert.match(await steps.nth(0).innerText(), /call[^]*alice → billing SendMessage[^]*TASK_STATE_INPUT_REQUIRED/);
  assert.match(await steps.nth(1).innerText(), /stream[^]*SendStreamingMessage[^]*TASK_STATE_COMPLETED/);
  await page.getByText('TASK_STATE_COMPLETED').first().waitFor();
  await look(page, 'task');
  await page.goto(`${CONSOLE}/ui/tasks/${parcel.id}`);
  await steps.filter({ hasText: 'webhook' }).filter({ hasText: 'delivered' }).waitFor(); // asked for again by itself
  await steps.filter({ hasText: 'from the agent' }).waitFor();
  await look(page, 'task-webhooks');
  await page.goto(`${CONSOLE}/ui/tasks/never`);
  await page.getByText('No record of this task').waitFor();

  // What is exported is what was asked for.
  await page.goto(`${CONSOLE}/ui/audit?caller=bob`);
  await page.getByText('2 shown').waitFor();
  for (const [name, has] of [['JSONL', '"principal":"bob"'], ['OCSF', '"class_uid":6003']]) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    assert.equal(lines.length, 2, `${name}: ${lines.length} lines`);
    for (const line of lines) assert.ok(line.includes(has), `${name}: ${line}`);
  }

  // The log is verified, before and after somebody changed it.
  const integrity = page.getByRole('region', { name: 'Integrity' });
  await integrity.getByRole('button', { name: 'Verify' }).click();
  await integrity.getByText('intact', { exact: true }).waitFor();
  await look(page, 'audit-intact');
  assert.equal((await fetch(`${HAND}/tamper`, { method: 'POST' })).status, 200);
  await integrity.getByRole('button', { name: 'Verify' }).click();
  await integrity.getByRole('table', { name: 'Findings' }).getByText('changed', { exact: true }).waitFor();
  await integrity.getByText('is not what was written').waitFor();
  await integrity.scrollIntoViewIfNeeded();
  await look(page, 'audit-changed');

  await page.getByRole('button', { name: 'Dark colours' }).click();
  for (const [name, path] of [['audit', '/ui/audit'], ['task', `/ui/tasks/${task.id}`], ['record', '/ui/audit/1']]) {
    await page.goto(CONSOLE + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('status').filter({ hasText: 'Loading' }).first().waitFor({ state: 'detached' }); // not one is there
    await look(page, `${name}-dark`);
  }

  // The gateway is busy; it is said what to do.
  page.allowed = /status of (401|404|503)/;
  await page.route('**/api/v1/audit/records?*', (route) =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"status":503,"code":"BUSY","detail":"the audit log could not be read in time; ask again, or for less of it"}' }),
  );
  await page.goto(`${CONSOLE}/ui/audit`);
  await page.getByRole('alert').getByText('could not be read in time').waitFor();
  await look(page, 'audit-trouble');
  await page.unroute('**/api/v1/audit/records?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await rows.nth(1).waitFor();

  // Who may only look is not offered more.
  const guest = await open({ viewport: { width: 390, height: 780 } });
  await signIn(guest, '/ui/audit', VIEWER);
  await guest.getByRole('table', { name: 'Audit records' }).getByRole('row').nth(1).waitFor();
  assert.equal(await guest.getByRole('button', { name: 'Verify' }).count(), 0, 'a viewer is offered to verify');
  assert.equal(await guest.getByRole('link', { name: 'JSONL' }).count(), 0, 'a viewer is offered to export');
  await look(guest, 'audit-narrow');
  await guest.goto(`${CONSOLE}/ui/tasks/${task.id}`);
  await guest.getByRole('list', { name: 'Conversation' }).getByRole('listitem').first().waitFor();
  await look(guest, 'task-narrow');
});
