// Uses the screen Map: what was sent is drawn, and said in tables.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE, BOB } = process.env;
const centre = 'https://billing.example/extensions/cost-centre/v1';

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/map?agent=nobody-has-this-name', VIEWER);
  await heading(page, 'Map');
  await page.getByText('No call matches').waitFor();
  await look(page, 'map-empty');
  await page.getByRole('button', { name: 'Show every agent' }).click();

  // What is sent while somebody looks comes by itself: what went well, and what was denied.
  for (let i = 0; i < 6; i++) assert.doesNotMatch((await send('billing', ALICE, 'hello', 'SendMessage', { headers: { 'A2A-Extensions': centre }, metadata: { [centre]: 'cc-42' } })).body, /"error"/);
  for (let i = 0; i < 3; i++) assert.equal((await send('billing', BOB, 'hello')).status, 403);
  for (let i = 0; i < 4; i++) assert.equal((await send('weather', BOB, 'hello')).status, 200);
  assert.match((await send('weather', ALICE, 'hello', 'Nonsense')).body, /"error"/);
  const drawing = page.getByRole('region', { name: 'Drawing' });
  await drawing.getByRole('link', { name: 'caller alice: 7 calls, 1 failed' }).waitFor();
  await drawing.getByRole('link', { name: 'caller bob: 7 calls, 3 denied' }).waitFor();
  await drawing.getByRole('link', { name: 'agent billing: 9 calls, 3 denied' }).waitFor();
  await drawing.getByRole('link', { name: `extension ${centre}: 6 calls` }).waitFor();
  await drawing.getByRole('img', { name: 'no extension: 8 calls, 3 denied, 1 failed' }).waitFor();
  const who = page.getByRole('table', { name: 'Calls by caller and agent' });
  const told = (table, has, hasNot) => table.getByRole('row').filter({ hasText: has }).filter({ hasText: hasNot });
  assert.deepEqual(await told(who, 'bob', 'billing').getByRole('cell').allInnerTexts(), ['bob', 'billing', '3', '3', '–']);
  assert.deepEqual(await told(who, 'alice', 'weather').getByRole('cell').allInnerTexts(), ['alice', 'weather', '1', '–', '1']);
  const exts = page.getByRole('table', { name: 'Extensions by agent' });
  assert.deepEqual((await told(exts, 'billing', 'cost-centre').getByRole('cell').allInnerTexts()).slice(2), ['6', '–', '–']);
  await look(page, 'map');

  // The keyboard leads from node to node, and on.
  await drawing.focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.match(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), /^caller bob/);
  await page.locator('.aside').waitFor();
  await look(page, 'map-focus');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/ui\/audit\?.*caller=bob/);
  await page.goBack();
  await drawing.getByRole('link', { name: /^agent billing/ }).focus();
  await page.keyboard.press('Enter');
  await heading(page, 'billing');
  await page.goBack();
  await drawing.getByRole('link', { name: /^extension/ }).click();
  await page.waitForURL(/\/ui\/extensions\?uri=/);
  await page.goBack();
  await told(who, 'bob', 'billing').getByRole('link', { name: /in the audit log/ }).click();
  await page.waitForURL(/\/ui\/audit\?.*agent=billing/);
  await page.goBack();

  // Narrowed: by a name, by a search; what is asked for is in the address.
  await told(who, 'bob', 'weather').getByRole('link', { name: 'Only caller bob' }).click();
  await page.getByRole('status').getByText('7 calls').waitFor();
  assert.match(page.url(), /caller=bob/);
  await page.getByRole('button', { name: 'Show every caller' }).click();
  await page.getByLabel('Search callers').fill('COST');
  await page.getByRole('status').getByText('6 calls').waitFor();
  assert.match(page.url(), /q=COST/);
  await page.getByLabel('Calls of the').selectOption('24h');
  await page.waitForURL(/window=24h/);
  await page.reload();
  await page.getByRole('status').getByText('6 calls').waitFor();
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await page.goto(`${CONSOLE}/ui/map`);
  await drawing.getByRole('link', { name: /^caller alice/ }).waitFor();
  await look(page, 'map-dark');

  // A fleet of ten thousand: the busiest are drawn, and the rest are one.
  const kinds = { caller: 900, agent: 10_000, extension: 40 };
  const nodes = Object.entries(kinds).flatMap(([kind, n]) => [
    ...Array.from({ length: 16 }, (_, i) => ({
      id: `${kind}-${i}`, kind, calls: 900 - 50 * i, denied: i % 5 === 2 ? 90 : 0, failed: i % 7 === 3 ? 60 : 0,
      name: kind === 'extension' ? `https://extensions.example/feature-${i}/v1` : `${kind}-of-some-department-${String(i).padStart(5, '0')}`,
    })),
    { id: `${kind}-rest`, kind, name: '', rest: n - 16, calls: 1600, denied: 0, failed: 0 },
  ]);
  const links = [['caller', 'agent'], ['agent', 'extension']].flatMap(([a, b]) =>
    Array.from({ length: 16 }, (_, i) => [
      { from: `${a}-${i}`, to: `${b}-${i}`, calls: 500 - 30 * i, denied: i % 5 === 2 ? 90 : 0, failed: 0 },
      { from: `${a}-${i}`, to: `${b}-${(i * 7 + 3) % 16}`, calls: 300 - 15 * i, denied: 0, failed: i % 7 === 3 ? 60 : 0 },
      { from: `${a}-${i}`, to: `${b}-rest`, calls: 100, denied: 0, failed: 0 },
      { from: `${a}-rest`, to: `${b}-${i}`, calls: 100, denied: 0, failed: 0 },
    ]).flat());
  await page.route('**/api/v1/map?*', (route) => route.fulfill({ json: { since: '2026-01-01T00:00:00Z', counted: 10_000, more: true, nodes, links } }));
  await page.goto(`${CONSOLE}/ui/map`);
  await drawing.getByRole('img', { name: '9984 more agents: 1,600 calls' }).waitFor();
  await page.getByText('admin.map.records').waitFor();
  await look(page, 'map-many-dark');
  await page.getByRole('button', { name: 'Light colours' }).click();
  await look(page, 'map-many');
  await page.unroute('**/api/v1/map?*');

  // What cannot be had is said, and asked for again.
  page.allowed = /status of (401|404|503)/;
  await page.route('**/api/v1/map?*', (route) =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"status":503,"code":"BUSY","detail":"the audit log could not be read in time"}' }),
  );
  await page.goto(`${CONSOLE}/ui/map`);
  await page.getByRole('alert').getByText('could not be read in time').waitFor();
  await page.unroute('**/api/v1/map?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await drawing.waitFor();

  const narrow = await open({ viewport: { width: 390, height: 780 }, storageState: await page.context().storageState() });
  await narrow.goto(`${CONSOLE}/ui/map`);
  await narrow.getByRole('table', { name: 'Calls by caller and agent' }).waitFor();
  await look(narrow, 'map-narrow');
});
