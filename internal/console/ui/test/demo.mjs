// What a newcomer sees of the demonstration: agents, and calls that come by themselves.
import { heading, look, open, play, signIn } from './stage.mjs';

const { CONSOLE } = process.env;

await play(async () => {
  const page = await open({ colorScheme: 'light', viewport: { width: 1280, height: 760 } });
  await signIn(page, '/ui/fleet');
  await heading(page, 'Fleet');
  for (const agent of ['billing', 'treasury', 'weather']) await page.getByRole('link', { name: agent, exact: true }).waitFor();
  await page.getByRole('row', { name: /billing/ }).getByText('1.0 RPC, HTTP').waitFor();
  await page.getByRole('row', { name: /billing/ }).getByRole('img', { name: /calls? in 5 minutes/ }).waitFor();
  await page.getByLabel('Search agents').fill('forecast');
  await page.getByText('1 of 3 agents').waitFor();
  await page.getByLabel('Search agents').fill('');
  await look(page, 'demo-fleet');
  await page.goto(`${CONSOLE}/ui/extensions`);
  await page.getByRole('row').filter({ hasText: 'cost-centre' }).getByText('allowed', { exact: true }).waitFor();
  await page.locator('.tile', { hasText: 'Not registered' }).getByText('0', { exact: true }).waitFor();
  await look(page, 'demo-extensions');
  await page.goto(`${CONSOLE}/ui/live`);
  await heading(page, 'Live');
  // One of each kind, by nobody's hand.
  const calls = page.getByRole('table').getByRole('row');
  await calls.filter({ hasText: 'alice' }).first().waitFor();
  await calls.filter({ hasText: 'bob' }).first().waitFor();
  await calls.filter({ hasText: 'ci' }).first().waitFor();
  await calls.filter({ hasText: 'deny' }).first().waitFor();
  await calls.nth(16).waitFor();
  await look(page, 'demo-live');
  // Why one of them was refused.
  await page.goto(`${CONSOLE}/ui/audit?caller=bob&decision=deny`);
  await heading(page, 'Audit');
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByText('Explain this call').first().waitFor();
  await look(page, 'readme');
});
