// Uses the screen Config and health.
import { writeFileSync } from 'node:fs';
import { assert, heading, look, open, play, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, CONFIG, TEXT, SECRET } = process.env;

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/gateway');
  await heading(page, 'Config and health');
  const region = (name) => page.getByRole('region', { name, exact: true });
  await page.getByText('Accepts calls').waitFor();
  await page.getByText('has not been reloaded since').waitFor();
  await region('Dependencies').getByRole('row', { name: /State ok sqlite/ }).waitFor();
  await region('Dependencies').getByRole('row', { name: /Audit log ok/ }).waitFor();
  await region('Replicas').getByText('does not share its state').waitFor();
  await region('Load limits').getByRole('row', { name: /server\.limits\.streams/ }).waitFor();
  await region('TLS certificates').getByText('example.com').waitFor();
  await region('TLS certificates').getByText('valid').waitFor();
  await look(page, 'gateway');

  // Checks, those that fail first; which are shown is in the address.
  const checks = page.getByRole('table', { name: 'Checks' });
  await checks.getByRole('cell', { name: 'agent absent' }).waitFor();
  await page.getByRole('button', { name: /^All/ }).press('Enter');
  await page.waitForURL(/checks=all/);
  await checks.getByRole('cell', { name: 'audit' }).waitFor();
  await page.reload();
  await checks.getByRole('cell', { name: 'audit' }).waitFor();

  // The configuration, by the keyboard; no secret is in it.
  await page.getByRole('button', { name: /^admin/ }).press('Enter');
  await page.getByRole('region', { name: 'admin' }).getByText('readOnly').waitFor();
  await page.getByRole('button', { name: /^agents/ }).press('Enter');
  await page.getByRole('region', { name: 'agents' }).getByText('"billing"').waitFor();
  assert.ok(!(await page.content()).includes(SECRET), 'the page shows a secret');
  await look(page, 'gateway-config');

  // A reload that cannot be served says why and changes nothing; the next one is in force.
  page.allowed = /status of (400|401|404)/;
  const reload = async () => {
    await page.getByRole('button', { name: 'Reload' }).press('Enter');
    await page.getByRole('dialog').getByText('audit log records').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  writeFileSync(CONFIG, `${TEXT}nonsense: true\n`);
  await reload();
  await page.getByRole('alert').getByText('nonsense').waitFor();
  await page.getByText('changed nothing').waitFor();
  await look(page, 'gateway-reload-failed');
  writeFileSync(CONFIG, `${TEXT}catalog: {}\n`);
  await reload();
  await page.getByText('is in force.', { exact: false }).waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await look(page, 'gateway-dark');

  // What cannot be had is said, and asked for again.
  page.allowed = /status of (401|404|500|503)/;
  await page.route('**/api/v1/status', (route) =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"status":503,"code":"STATE_UNAVAILABLE","detail":"the state cannot be reached"}' }),
  );
  await page.goto(`${CONSOLE}/ui/gateway`);
  await page.getByRole('alert').getByText('the state cannot be reached').waitFor();
  await page.unroute('**/api/v1/status');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Accepts calls').waitFor();

  const narrow = await open({ viewport: { width: 390, height: 780 }, storageState: await page.context().storageState() });
  await narrow.goto(`${CONSOLE}/ui/gateway`);
  await narrow.getByText('Accepts calls').waitFor();
  await look(narrow, 'gateway-narrow');

  // A viewer sees how it does, and neither the configuration nor the reload.
  const viewer = await open();
  await signIn(viewer, '/ui/gateway', VIEWER);
  await viewer.getByText('Accepts calls').waitFor();
  await viewer.getByText('role operator is needed').waitFor();
  assert.equal(await viewer.getByRole('button', { name: 'Reload' }).count(), 0, 'a viewer is offered a reload');
});
