// Uses every screen of the console in Chromium, against the gateway at CONSOLE. Nothing may
// be wrong: no serious finding of axe, no error of a script, no violation of the policy, no
// request to anywhere else.
import { AxeBuilder } from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const { CONSOLE, TOKEN, AGENT, CHROMIUM, A2A_GATEWAY_TEST_SCREENSHOTS: shots } = process.env;
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const wrong = [];
let troubles = 0; // answers of 503 that are given here and that Chromium has not shown yet
if (shots) mkdirSync(shots, { recursive: true });

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a machine may be busy
  page.on('pageerror', (e) => wrong.push(`${page.url()}: ${e.message}`));
  page.on('console', (m) => {
    // Chromium shows every such answer as an error: these are asked for here, and pages say so.
    if (context.provider && !page.url().startsWith(CONSOLE)) return;
    // It may show them much later than the page does.
    if (/status of 503/.test(m.text()) && troubles > 0) {
      troubles--;
      return;
    }
    if (['error', 'warning'].includes(m.type()) && !/status of (401|404)/.test(m.text())) wrong.push(`${page.url()}: ${m.text()}`);
  });
  page.on('request', (r) => {
    if (!r.url().startsWith(CONSOLE) && !r.url().startsWith('data:') && !context.provider) wrong.push(`asks ${r.url()}`);
  });
  return page;
}

async function look(page, name) {
  const found = await new AxeBuilder({ page }).analyze();
  for (const v of found.violations)
    wrong.push(`${name}: ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' ')}`);
  if (shots) await page.screenshot({ path: `${shots}/${name}.png` });
  console.log('seen', name);
}

const heading = (page, name) => page.getByRole('heading', { name, level: 1 }).waitFor();

async function signIn(page) {
  await page.getByLabel('Token', { exact: true }).fill(TOKEN);
  await page.keyboard.press('Enter');
}

try {
  const page = await open({ colorScheme: 'light' });
  await page.goto(`${CONSOLE}/`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.getByRole('link', { name: 'Sign in with the identity provider' }).waitFor();
  await look(page, 'sign-in');
  await page.getByLabel('Token', { exact: true }).fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('missing or wrong').waitFor();
  await look(page, 'sign-in-refused');

  await signIn(page);
  await heading(page, 'Overview');
  await page.getByRole('link', { name: 'Fleet', exact: true }).click();
  await heading(page, 'Fleet');
  await page.getByRole('link', { name: 'billing' }).waitFor();
  await page.getByRole('cell', { name: 'no-card', exact: true }).waitFor();
  await page.getByRole('cell', { name: 'accepted' }).first().waitFor();
  await look(page, 'fleet');
  assert.deepEqual(await page.evaluate((t) => JSON.stringify([localStorage, sessionStorage, document.cookie]).includes(t), TOKEN), false, 'a script can read the token');
  await page.getByLabel('Search agents').fill('weat');
  await page.getByRole('status').getByText('1 of 5 agents').waitFor();
  assert.match(page.url(), /q=weat/);
  await page.getByLabel('Search agents').fill('nothing like it');
  await page.getByText('No agent matches').waitFor();
  await page.getByLabel('Search agents').fill('');
  await page.getByRole('button', { name: 'Not serving' }).click();
  await page.getByRole('status').getByText('1 of 5 agents').waitFor();
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await page.getByRole('button', { name: 'Agent', exact: true }).click();
  assert.equal(await page.getByRole('columnheader', { name: 'Agent' }).getAttribute('aria-sort'), 'descending');

  await page.getByRole('link', { name: 'billing' }).click();
  await page.getByText('The agent serves the card that is in force.').waitFor();
  await page.getByRole('cell', { name: 'summarize', exact: true }).waitFor();
  await look(page, 'agent');
  await page.goto(`${CONSOLE}/ui/agents/absent`);
  await page.getByText('No card is in force').waitFor();
  await look(page, 'agent-absent');
  await page.goto(`${CONSOLE}/ui/agents/never`);
  await page.getByText('there is no such agent').first().waitFor();

  // A card that changes waits, is compared and approved.
  await fetch(`${AGENT}/change`);
  await page.goto(`${CONSOLE}/ui/agents/fickle`);
  const approve = page.getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  await page.getByRole('region', { name: 'In force and Served by the agent' }).getByText('without asking').waitFor();
  await look(page, 'card-diff');
  await approve.click();
  await page.getByRole('dialog').getByText('audit log records').waitFor();
  await look(page, 'card-approve');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await approve.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await page.getByText('The agent serves the card that is in force.').waitFor();
  await page.getByRole('cell', { name: 'admin-token' }).waitFor();

  // Webhooks that were given up are tried again, and dropped.
  await page.getByRole('link', { name: 'Push' }).click();
  await page.getByRole('button', { name: /^Retry/ }).nth(1).waitFor();
  await look(page, 'push');
  await page.getByRole('button', { name: /^Drop/ }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click();
  await page.getByRole('status').getByText('1 shown').waitFor();
  const retried = page.waitForResponse((r) => r.url().endsWith('/retry'));
  await page.getByRole('button', { name: /^Retry/ }).click();
  assert.equal((await retried).status(), 200);
  await page.getByRole('button', { name: 'Pending' }).click();
  await look(page, 'push-waiting');

  await page.getByRole('link', { name: 'Captured content' }).click();
  await page.getByLabel('Subject').fill('alice');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing was captured').waitFor();
  await look(page, 'content');

  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('cell', { name: '/api/v1/agents', exact: true }).first().waitFor();
  await look(page, 'account');
  await page.getByRole('button', { name: 'Dark colours' }).click();
  for (const [name, path, text] of [['fleet', '/ui/fleet', 'Fleet'], ['agent', '/ui/agents/billing', 'billing'], ['push', '/ui/push', 'Push notifications']]) {
    await page.goto(CONSOLE + path);
    await heading(page, text);
    await page.getByRole('status').filter({ hasText: 'Loading' }).first().waitFor({ state: 'detached' }); // not one is there
    await look(page, `${name}-dark`);
  }
  await page.getByRole('button', { name: 'Light colours' }).click();
  await page.goto(`${CONSOLE}/ui/nowhere`);
  await page.getByText('Page not found').waitFor();

  // The keyboard alone: past the navigation, into the page.
  await page.goto(`${CONSOLE}/ui/fleet`);
  await heading(page, 'Fleet');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main', 'the link over the navigation leads nowhere');

  // Ten thousand agents are as many rows as are seen.
  const many = Array.from({ length: 10_000 }, (_, i) => ({ id: `agent-${String(i).padStart(5, '0')}`, origin: 'file', served: true, state: 'serving' }));
  await page.route('**/api/v1/agents?*', (route) => {
    const at = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    return route.fulfill({ json: { agents: many.slice(at, at + 1000), ...(at + 1000 < many.length && { next: String(at + 1000) }) } });
  });
  await page.reload();
  await page.getByRole('status').getByText('10,000 agents').waitFor();
  assert.ok((await page.getByRole('row').count()) < 80, 'every row is in the page');
  await page.getByRole('rowgroup', { name: 'Agents, rows' }).press('End');
  await page.getByRole('link', { name: 'agent-09999' }).waitFor();
  await page.getByLabel('Search agents').fill('agent-0777');
  await page.getByRole('status').getByText('10 of 10,000 agents').waitFor();
  if (shots) await page.screenshot({ path: `${shots}/fleet-10000.png` });
  await page.unroute('**/api/v1/agents?*');

  // What goes wrong is said, with what to do.
  await page.route('**/api/v1/push', (route) => {
    troubles++;
    return route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"status":503,"code":"STATE_UNAVAILABLE","detail":"the state cannot be reached"}' });
  });
  await page.goto(`${CONSOLE}/ui/push`);
  await page.getByText('The gateway cannot reach its store').waitFor();
  await look(page, 'trouble');
  await page.unroute('**/api/v1/push');

  const narrow = await open({ viewport: { width: 390, height: 780 }, storageState: await page.context().storageState() });
  await narrow.goto(`${CONSOLE}/ui/fleet`);
  await heading(narrow, 'Fleet');
  await look(narrow, 'fleet-narrow');
  await narrow.context().close();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();

  // At the identity provider, as somebody who may only look, and back where it began.
  const guest = await open();
  guest.context().provider = true;
  await guest.goto(`${CONSOLE}/ui/push`);
  await guest.getByRole('link', { name: 'Sign in with the identity provider' }).click();
  await guest.getByRole('link', { name: 'bob' }).click();
  await heading(guest, 'Push notifications');
  await guest.getByText('your role is viewer').waitFor();
  await guest.getByRole('status').filter({ hasText: 'Loading' }).first().waitFor({ state: 'detached' }); // not one is there
  assert.equal(await guest.getByRole('button', { name: /^(Retry|Drop)/ }).count(), 0, 'a viewer is offered changes');
  await look(guest, 'viewer');
} catch (e) {
  wrong.push(e.stack);
  for (const c of browser.contexts()) for (const p of c.pages()) {
    wrong.push(`${p.url()}: ${(await p.locator('body').innerText().catch(() => '')).slice(0, 1500)}`);
    if (shots) await p.screenshot({ path: `${shots}/wrong.png` }).catch(() => {});
  }
} finally {
  await browser.close();
}
if (wrong.length > 0) {
  console.error([...new Set(wrong)].join('\n'));
  process.exit(1);
}
