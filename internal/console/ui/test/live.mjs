// Uses the screen Live, and goes from there to a record, while calls go through the gateway.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE, BOB } = process.env;

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/live?agent=billing', VIEWER);
  await heading(page, 'Live');
  await page.getByRole('status').filter({ hasText: /^live$/ }).waitFor();
  await page.getByText('Nothing yet').waitFor();
  await look(page, 'live-empty');

  const table = page.getByRole('table', { name: 'Records as they are made' });
  const rows = table.getByRole('row');
  await send('billing', ALICE, 'hello');
  await rows.filter({ hasText: 'alice' }).filter({ hasText: 'allow' }).waitFor();
  await send('billing', BOB, 'hello');
  await rows.filter({ hasText: 'bob' }).filter({ hasText: 'deny' }).waitFor();
  await send('billing', ALICE, 'summarize this', 'SendStreamingMessage');
  const stream = rows.filter({ hasText: 'SendStreamingMessage' }).filter({ hasText: 'allow' });
  await stream.waitFor();
  assert.equal(await rows.filter({ hasText: 'begun' }).count(), 0, 'a call that has ended is shown as begun');
  await look(page, 'live');

  // A call that goes on is there, and becomes what came of it.
  const stop = new AbortController();
  const audit = send('billing', ALICE, 'audit 6000', 'SendStreamingMessage', { signal: stop.signal });
  audit.catch(() => {}); // it is broken off
  await rows.filter({ hasText: 'begun' }).waitFor();
  stop.abort();
  await rows.filter({ hasText: 'begun' }).waitFor({ state: 'detached' });

  // Paused, nothing moves; what came meanwhile is there when it goes on.
  await page.getByRole('button', { name: 'Pause' }).press('Enter');
  const before = await rows.count();
  await send('billing', ALICE, 'hello');
  await page.getByRole('status').filter({ hasText: /paused, [1-9]\d* more since/ }).waitFor();
  assert.equal(await rows.count(), before, 'rows come while it is paused');
  await look(page, 'live-paused');
  await page.getByRole('button', { name: 'Resume' }).press('Enter');
  await page.getByText(`${before} shown`).waitFor(); // the header is a row, and one has come

  // What is asked for is in the address, and the other way round.
  await page.getByLabel('Caller').fill('bob');
  await page.keyboard.press('Enter');
  await page.waitForURL(/caller=bob/);
  await page.getByText('1 shown').waitFor(); // of before
  await page.getByLabel('Decision').selectOption('allow');
  await page.waitForURL(/decision=allow/);
  await page.getByText('Nothing yet').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForURL((u) => u.search === '');
  await page.goto(`${CONSOLE}/ui/live?decision=deny`);
  assert.equal(await page.getByLabel('Decision').inputValue(), 'deny');
  await rows.filter({ hasText: 'bob' }).waitFor();
  assert.equal(await rows.filter({ hasText: 'alice' }).count(), 0, 'a filter of an address is nothing');

  // To a record, by the keyboard.
  await table.getByRole('link').first().focus();
  await page.keyboard.press('Enter');
  await heading(page, 'SendMessage');
  await page.getByRole('region', { name: 'Decision' }).getByText('deny', { exact: true }).waitFor();
  await page.getByText('none: the agent was never asked').waitFor();
  await look(page, 'record-denied');
  await page.goBack();
  await page.getByRole('button', { name: 'Clear' }).click();
  await stream.first().getByRole('link').first().click();
  const pair = page.getByRole('region', { name: 'Intent and outcome' });
  await pair.getByRole('row', { name: /Intent/ }).getByRole('link').click();
  await page.getByText('allowed, and handed to the agent').waitFor();
  await pair.getByRole('row', { name: /Call/ }).getByRole('link').waitFor();
  await page.getByRole('region', { name: 'Decision' }).getByRole('row', { name: /Rule that decided/ }).waitFor();
  await look(page, 'record');
  await page.goto(`${CONSOLE}/ui/audit/999999`);
  await page.getByText('There is no such record').waitFor();

  await page.getByRole('button', { name: 'Dark colours' }).click();
  await page.goto(`${CONSOLE}/ui/live`);
  await rows.filter({ hasText: 'alice' }).first().waitFor();
  await look(page, 'live-dark');
  await page.goBack();

  // However much comes, the page keeps the last of it, and says so.
  const flood = Array.from({ length: 1500 }, (_, i) => `id: ${i + 1}\nevent: record\ndata: ${JSON.stringify({ seq: i + 1, type: 'event', time: new Date().toISOString(), event: 'flood', attrs: { id: `n-${i + 1}` } })}\n\n`);
  await page.route('**/api/v1/live?*', (route) => route.fulfill({ contentType: 'text/event-stream', body: `event: open\ndata: {"after":0}\n\nevent: gap\ndata: {"dropped":7}\n\n${flood.join('')}event: gap\ndata: {"dropped":12}\n\n` }), { times: 1 });
  await page.goto(`${CONSOLE}/ui/live?event=flood`);
  await page.getByText('12 records were left out here').waitFor();
  await page.getByText('the last 1000 of 1500 records').waitFor();
  assert.ok((await rows.count()) < 80, 'every row is in the page');
  await page.getByRole('status').filter({ hasText: /^live$/ }).waitFor();

  // One more than may look is told so.
  page.allowed = /status of (401|404|503)/;
  await page.route('**/api/v1/live?*', (route) =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"status":503,"code":"BUSY","detail":"16 look at live records already (admin.live.viewers)"}' }),
  );
  await page.goto(`${CONSOLE}/ui/live`);
  await page.getByRole('alert').getByText('16 look at live records already').waitFor();
  await look(page, 'live-trouble');

  const narrow = await open({ viewport: { width: 390, height: 780 }, storageState: await page.context().storageState() });
  await narrow.goto(`${CONSOLE}/ui/live`);
  await narrow.getByRole('status').filter({ hasText: /^live$/ }).waitFor();
  await narrow.getByRole('row').filter({ hasText: 'alice' }).first().waitFor();
  await look(narrow, 'live-narrow');
});
