// What scripts in a browser have in common: pages in which nothing may be wrong, and calls
// through the gateway.
import { AxeBuilder } from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const { CONSOLE, TOKEN, GATEWAY, CHROMIUM, A2A_GATEWAY_TEST_SCREENSHOTS: shots } = process.env;
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const wrong = [];
if (shots) mkdirSync(shots, { recursive: true });

/** open is a page that is watched: no error of a script, no violation of the policy, no request to elsewhere. */
export async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a machine may be busy
  page.allowed = /status of (401|404)/; // answers that Chromium shows as errors, and pages in words
  page.on('pageerror', (e) => wrong.push(`${page.url()}: ${e.message}`));
  page.on('console', (m) => {
    if (['error', 'warning'].includes(m.type()) && !page.allowed.test(m.text())) wrong.push(`${page.url()}: ${m.text()}`);
  });
  page.on('request', (r) => {
    if (!r.url().startsWith(CONSOLE) && !r.url().startsWith('data:')) wrong.push(`asks ${r.url()}`);
  });
  return page;
}

/** look has axe look at a page, and keeps a picture of it. */
export async function look(page, name) {
  const found = await new AxeBuilder({ page }).analyze();
  for (const v of found.violations)
    wrong.push(`${name}: ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' ')}`);
  if (shots) await page.screenshot({ path: `${shots}/${name}.png` });
  console.log('seen', name);
}

export const heading = (page, name) => page.getByRole('heading', { name, level: 1 }).waitFor();

export async function signIn(page, path, token = TOKEN) {
  await page.goto(CONSOLE + path);
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.keyboard.press('Enter');
}

/** send sends a message to an agent as whoever has the key, and is the answer. */
export async function send(agent, key, text, method = 'SendMessage', { signal, headers, ...more } = {}, configuration) {
  const answer = await fetch(`${GATEWAY}/agents/${agent}`, {
    method: 'POST',
    signal,
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...(key && { 'X-Api-Key': key }), ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more }, ...(configuration && { configuration }) } }),
  });
  return { status: answer.status, body: await answer.text() };
}

/** play runs a script, and fails when anything was wrong. */
export async function play(script) {
  try {
    await script();
  } catch (e) {
    wrong.push(e.stack);
    for (const c of browser.contexts())
      for (const p of c.pages()) {
        wrong.push(`${p.url()}: ${(await p.locator('body').innerText().catch(() => '')).slice(0, 6000)}`);
        if (shots) await p.screenshot({ path: `${shots}/wrong.png` }).catch(() => {});
      }
  } finally {
    await browser.close();
  }
  if (wrong.length === 0) return;
  console.error([...new Set(wrong)].join('\n'));
  process.exit(1);
}

export { assert };
