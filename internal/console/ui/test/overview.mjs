// Uses the screen Overview: what was called is counted, drawn, and leads to what says more.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, TOKEN, VIEWER, ALICE, BOB } = process.env;

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/', TOKEN);
  await heading(page, 'Overview');

  // Before any call there is what to do for one.
  await page.getByText('No calls in this time').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'try an agent' }).waitFor();
  await page.getByText('Nobody has called in this time.').waitFor();
  await look(page, 'overview-empty');

  // Calls that are made while somebody looks are counted by themselves.
  for (let i = 0; i < 6; i++) assert.equal((await send('billing', ALICE, 'hello')).status, 200);
  for (let i = 0; i < 3; i++) assert.equal((await send('billing', BOB, 'hello')).status, 403);
  assert.match((await send('weather', ALICE, 'hello', 'Nonsense')).body, /"error"/);
  const figure = (name) => page.getByRole('main').getByRole('link', { name });
  await page.getByRole('status').getByText('10 calls').waitFor();
  await figure(/^Denial rate\s*30 %\s*3 refused/).waitFor();
  await figure(/^Error rate\s*10 %\s*1 failed/).waitFor();
  await figure(/^Latency p50\s*\d.*p95 \d.*p99 \d/).waitFor();
  await figure(/^Calls per second\s*[\d.]+\s*10 ended/).waitFor();
  await figure(/^Webhooks waiting\s*0/).waitFor();
  await page.getByRole('img', { name: /^Calls per second 10, 3 denied, 1 failed/ }).waitFor();
  await page.getByRole('img', { name: /^Latency/ }).waitFor();
  const callers = page.getByRole('table', { name: 'Top callers' });
  await callers.getByRole('row').filter({ hasText: 'alice' }).waitFor();
  assert.deepEqual(await callers.getByRole('row').filter({ hasText: 'alice' }).getByRole('cell').allInnerTexts(), ['alice', '7', '–', '1']);
  assert.deepEqual(await callers.getByRole('row').filter({ hasText: 'bob' }).getByRole('cell').allInnerTexts(), ['bob', '3', '3', '–']);
  await page.getByText('By the audit log').waitFor();
  await look(page, 'overview');

  // A stream that is open is counted while it is, whatever time is shown.
  const held = new AbortController();
  const stream = send('billing', ALICE, 'slowly', 'SendStreamingMessage', { signal: held.signal }).catch(() => {});

  // Each figure leads to what it is made of, with the same time.
  for (const [name, url, title] of [
    [/^Denial rate/, /\/ui\/audit\?.*decision=deny/, 'Audit'],
    [/^Error rate/, /\/ui\/audit\?.*decision=error/, 'Audit'],
    [/^Open streams/, /\/ui\/streams/, 'Streams'],
    [/^Webhooks waiting/, /\/ui\/push\?state=waiting/, 'Push notifications'],
    [/\d serving$/, /\/ui\/fleet\?q=serving/, 'Fleet'],
  ]) {
    await figure(name).click();
    await page.waitForURL(url);
    await heading(page, title);
    await page.goBack();
    await heading(page, 'Overview');
  }
  held.abort();
  await stream;

  // The time is in the address: lately, or between two times.
  await page.getByRole('button', { name: '15 min' }).click();
  await page.waitForURL(/window=15m/);
  await page.reload();
  assert.equal(await page.getByRole('button', { name: '15 min' }).getAttribute('aria-pressed'), 'true');
  await page.getByRole('status').getByText(/1\d calls/).waitFor();
  await page.getByRole('button', { name: '24 h' }).click();
  await page.waitForURL(/window=24h/);
  await page.getByRole('status').getByText(/1\d calls/).waitFor();
  await page.getByRole('button', { name: 'From–to' }).click();
  await page.waitForURL(/since=/);
  await page.getByLabel('From', { exact: true }).waitFor();
  await page.getByRole('status').getByText(/1\d calls/).waitFor();
  await page.goto(`${CONSOLE}/ui/?since=2026-01-01T00:00:00Z&until=2026-01-01T01:00:00Z`);
  await page.getByText('No calls in this time').waitFor();
  await look(page, 'overview-between');

  // A pause asks for nothing more, by the keyboard.
  await page.goto(`${CONSOLE}/ui/`);
  await page.getByRole('status').getByText(/1\d calls/).waitFor();
  await page.getByRole('button', { name: 'Pause' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('not refreshed').waitFor();
  let asked = 0;
  page.on('request', (r) => r.url().includes('/api/v1/overview') && asked++);
  await page.waitForTimeout(12_000);
  assert.equal(asked, 0, 'it asks while it is paused');
  await page.getByRole('button', { name: 'Refresh' }).press('Enter');
  await page.waitForRequest(/overview/);

  // A reload of the configuration and dashboards are what an answer says.
  const link = page.getByRole('link', { name: 'Dashboards' });
  assert.equal(await link.getAttribute('href'), 'https://grafana.example/d/gateway');
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await page.reload();
  await callers.waitFor();
  await look(page, 'overview-dark');

  // What only records know may be late, and the numbers are there all the same.
  page.allowed = /status of (401|404|503)/;
  await page.route('**/api/v1/callers?*', (route) =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"status":503,"code":"BUSY","detail":"the audit log could not be read in time"}' }),
  );
  const day = Array.from({ length: 120 }, (_, i) => ({ watched: i < 20 ? 0 : 720, calls: i < 20 ? 0 : 9000 + 3000 * Math.sin(i / 9), denied: i < 20 ? 0 : 40 + (i % 17) * 9, failed: i < 20 ? 0 : 20, p50: i < 20 ? undefined : 12 + (i % 7), p95: i < 20 ? undefined : 90 + (i % 11) * 8, p99: i < 20 ? undefined : 400 + (i % 13) * 30, streams: i < 20 ? 0 : 20 + (i % 30), webhooks: i % 40 === 39 ? 12 : 0 }));
  await page.route('**/api/v1/overview?*', (route) => route.fulfill({ json: {
    counted: true, since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z', every: 720, began: '2026-01-01T04:00:00Z', watched: 72_000, calls: 912_345, rate: 12.67, denied: 11_200, failed: 2000,
    p50: 15, p95: 130, p99: 120_000, steps: day, streams: 31, webhooks: 3, agents: [{ agents: 1 }, { state: 'failing', agents: 2 }, { state: 'serving', agents: 40 }],
  } }));
  await page.route('**/api/v1/changes?*', (route) => route.fulfill({ json: { changes: [
    { seq: 90, time: '2026-01-01T22:00:00Z', event: 'config.reloaded' }, { seq: 80, time: '2026-01-01T20:00:00Z', event: 'card.quarantined', what: 'billing' },
    { seq: 70, time: '2026-01-01T19:00:00Z', event: 'key.revoked', what: 'robot', who: 'on-call', outcome: 'failed' },
  ] } }));
  await page.goto(`${CONSOLE}/ui/?window=24h`);
  await page.getByRole('alert').getByText('could not be read in time').waitFor();
  await figure(/^Latency p50\s*15 ms\s*p95 130 ms, p99 ≥ 120 s/).waitFor();
  await page.getByRole('link', { name: 'changed card waits' }).waitFor();
  await figure(/^1 not served$/).waitFor();
  await look(page, 'overview-day-dark');
  await page.getByRole('button', { name: 'Light colours' }).click();
  await look(page, 'overview-day');
  await page.unroute('**/api/v1/overview?*');
  await page.route('**/api/v1/overview?*', (route) => route.fulfill({ json: { counted: false, since: '2026-01-01T00:00:00Z', until: '2026-01-01T01:00:00Z', every: 0, began: '2026-01-01T00:00:00Z', watched: 0, calls: 0, rate: 0, denied: 0, failed: 0, steps: [], streams: 0, webhooks: 0, agents: [] } }));
  await page.reload();
  await page.getByText('Calls are not counted').waitFor();

  // A telephone, and somebody who may only look.
  const narrow = await open({ viewport: { width: 390, height: 780 } });
  await signIn(narrow, '/ui/', VIEWER);
  await narrow.getByRole('table', { name: 'Top callers' }).waitFor();
  assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the screen');
  await look(narrow, 'overview-narrow');
});
