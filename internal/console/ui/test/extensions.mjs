// Uses the screen Extensions: the registry with what calls did, and what extensions are on
// each agent.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE } = process.env;
const centre = 'https://billing.example/extensions/cost-centre/v1';

await play(async () => {
  const booked = (to) => send('billing', ALICE, 'hello', 'SendMessage', { headers: { 'A2A-Extensions': centre }, metadata: { [centre]: to } });
  assert.doesNotMatch((await booked('cc-42')).body, /"error"/);
  assert.match((await booked('42')).body, /"error"/); // the schema forbids it

  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/extensions', VIEWER);
  await heading(page, 'Extensions');
  const table = page.getByRole('table', { name: 'Extensions', exact: true });
  const row = table.getByRole('row').filter({ hasText: 'cost-centre' });
  await row.getByText('allowed', { exact: true }).waitFor();
  await page.getByRole('status').getByText('2 extensions').waitFor();
  const cell = (n) => row.getByRole('cell').nth(n);
  await cell(2).filter({ hasText: /^2$/ }).waitFor(); // both sample agents declare it
  await cell(5).filter({ hasText: /^1$/ }).waitFor(); // one call had it
  await cell(8).filter({ hasText: /^1$/ }).waitFor(); // and one violated it
  await look(page, 'extensions');

  await page.getByLabel('Search extensions').fill('deprecated');
  await page.getByRole('status').getByText('1 of 2 extensions').waitFor();
  assert.match(page.url(), /q=deprecated/);
  await page.getByLabel('Search extensions').fill('nothing like it');
  await page.getByText('No extension matches').waitFor();
  await page.goto(`${CONSOLE}/ui/extensions`);
  await row.getByRole('link').focus();
  await page.keyboard.press('Enter');
  const detail = page.getByRole('region', { name: `Extension ${centre}` });
  await detail.getByText('Books the call on a cost centre.').waitFor();
  await detail.getByRole('cell', { name: 'schema', exact: true }).waitFor();
  await detail.getByText('refused or removed').waitFor();
  await look(page, 'extension');

  // From an extension to the agents that have it, and why.
  await detail.getByRole('link', { name: 'Agents' }).click();
  await page.getByRole('status').getByText('2 of 3 agents').waitFor();
  const matrix = page.getByRole('table', { name: 'Extensions by agent' });
  await matrix.getByRole('row').filter({ hasText: 'weather' }).getByText('offered', { exact: true }).waitFor();
  await matrix.getByRole('link', { name: 'billing' }).click();
  const why = page.getByRole('region', { name: 'Extensions of billing' });
  await why.getByText('active in calls that request it').waitFor();
  await why.getByText(/^card/).first().waitFor();
  await look(page, 'extensions-agent');
  await why.getByRole('link', { name: 'Close' }).click();
  await page.getByLabel('Standing').selectOption('required');
  await page.getByText('No agent matches').waitFor();
  assert.match(page.url(), /standing=required/);
  await page.goto(`${CONSOLE}/ui/extensions?uri=urn:never`);
  await page.getByText('There is no such extension').waitFor();

  // A fleet of many agents with more extensions than are beside each other.
  const uris = Array.from({ length: 15 }, (_, i) => `https://ext.example/feature-${String(i).padStart(2, '0')}/v1`);
  const standings = ['required', 'offered', 'provided', 'injected', 'denied', 'absent'];
  const fleet = Array.from({ length: 10_000 }, (_, i) => ({
    agent: `agent-${String(i).padStart(5, '0')}`,
    card: i % 50 !== 0,
    extensions: uris.filter((_, k) => (i + k) % 3 !== 0).map((uri, k) => ({ uri, standing: standings[(i + k) % 6], declared: k % 4 !== 0, required: k % 5 === 0 })),
  }));
  await page.route('**/api/v1/extensions/agents?*', (route) => {
    const at = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    return route.fulfill({ json: { agents: fleet.slice(at, at + 1000), ...(at + 1000 < fleet.length && { next: String(at + 1000) }) } });
  });
  await page.goto(`${CONSOLE}/ui/extensions?view=agents`);
  await page.getByRole('status').getByText('10,000 agents').waitFor();
  assert.ok((await matrix.getByRole('row').count()) < 80, 'every row is in the page');
  await page.getByText('1 to 5 of 15 extensions').waitFor();
  await look(page, 'extensions-matrix');
  await page.getByRole('button', { name: 'Further extensions' }).click();
  await page.getByText('6 to 10 of 15 extensions').waitFor();
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await look(page, 'extensions-matrix-dark');
  await page.unroute('**/api/v1/extensions/agents?*');
  await page.goto(`${CONSOLE}/ui/extensions`);
  await row.waitFor();
  await look(page, 'extensions-dark');

  // Nothing at all, and nothing to be had.
  await page.route('**/api/v1/extensions*', (route) => route.fulfill({ json: { since: '2026-01-01T00:00:00Z', extensions: [] } }));
  await page.route('**/api/v1/extensions/agents?*', (route) => route.fulfill({ json: { agents: [] } }));
  await page.goto(`${CONSOLE}/ui/extensions`);
  await page.getByText('No extensions yet').waitFor();
  await look(page, 'extensions-empty');
  await page.unroute('**/api/v1/extensions*');
  await page.unroute('**/api/v1/extensions/agents?*');

  const narrow = await open({ viewport: { width: 390, height: 780 }, storageState: await page.context().storageState() });
  await narrow.goto(`${CONSOLE}/ui/extensions?uri=${encodeURIComponent(centre)}`);
  await narrow.getByRole('region', { name: `Extension ${centre}` }).waitFor();
  await look(narrow, 'extensions-narrow');
});
