// Edits agents as drafts: one that is registered is changed, and one of a file ends as a diff.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, TOKEN, VIEWER, ALICE } = process.env;

/** admin asks the admin API, as a second operator does. */
async function admin(method, path, body, headers = {}) {
  const answer = await fetch(`${CONSOLE}/api/v1/agents${path}`, { method, headers: { Authorization: `Bearer ${TOKEN}`, ...headers }, ...(body && { body }) });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

await play(async () => {
  const card = /^card: '?([^'\n]+)/m.exec((await admin('GET', '/billing/draft')).text)?.[1];
  const json = { 'Content-Type': 'application/json' };
  await admin('POST', '', JSON.stringify({ id: 'desk', card, credentials: [{ header: 'X-Key', value: 'canary-secret' }] }), json);
  assert.equal((await send('billing', ALICE, 'hello')).status, 200);

  const page = await open({ colorScheme: 'light' });
  page.allowed = /status of (400|401|404|412)/;
  const answers = [];
  page.on('response', async (r) => answers.push(await r.text().catch(() => '')));
  await signIn(page, '/ui/agents/desk');
  await heading(page, 'desk');
  await page.getByText('by admin-token').waitFor();
  const part = page.getByRole('region', { name: 'Configuration' });
  await part.getByRole('button', { name: 'Edit as a draft' }).press('Enter');
  const draft = part.getByLabel('The agent, as an entry of agents has it');
  const begun = await draft.inputValue();
  assert.match(begun, /^id: desk\ncard: http/);
  assert.match(begun, /value: '<kept: credentials\[0\]\.value>'\n/);
  const apply = part.getByRole('button', { name: 'Apply' });
  assert.ok(await apply.isDisabled(), 'nothing has changed');
  await look(page, 'draft-begin');

  // What is wrong is said with its line; a secret goes nowhere else.
  await draft.fill(`${begun}modes: never\n`);
  await part.getByText('One mistake: this agent could not be put in force.').waitFor();
  await part.getByRole('list', { name: 'Mistakes' }).getByRole('button', { name: /^Line \d+, column 8$/ }).press('Enter');
  assert.equal(await page.evaluate(() => window.getSelection()?.toString()), 'modes: never');
  await draft.fill(`${begun}endpoints: [http://127.0.0.1:1/]\n`);
  await part.getByText('endpoints[0] has changed, which decides where calls go').waitFor();
  await look(page, 'draft-wrong');

  // A draft is compared and applied.
  const next = `${begun}connections: 7\n`;
  await draft.fill(next);
  await part.getByText('The draft is valid.').waitFor();
  await part.getByText('What the draft changes').press('Enter');
  assert.match(await part.getByRole('region', { name: 'Difference' }).innerText(), /^--- registered\n\+\+\+ draft\n[^]*\n\+connections: 7\n/);
  await look(page, 'draft-difference');
  await apply.click();
  await page.getByRole('dialog').getByText('The audit log records who applied it.').waitFor();
  await look(page, 'draft-apply');
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await part.getByText('Applied: the agent is served so.').waitFor();
  assert.equal((await admin('GET', '/desk')).agent.connections, 7);

  // Somebody else changes it meanwhile: that is said, and nothing is overwritten.
  const now = await draft.inputValue();
  await admin('PUT', '/desk', now.replace('connections: 7', 'connections: 8'), { 'Content-Type': 'application/yaml' });
  await draft.fill(now.replace('connections: 7', 'connections: 9'));
  await part.getByText('The draft is valid.').waitFor();
  await apply.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await part.getByRole('alert').getByText('admin-token has changed this agent meanwhile').waitFor();
  assert.equal((await admin('GET', '/desk')).agent.connections, 8);
  await look(page, 'draft-conflict');
  await part.getByRole('button', { name: 'Compare with the newer' }).click();
  await part.getByRole('alert').waitFor({ state: 'detached' });
  await part.getByText('What the draft changes').press('Enter');
  assert.match(await part.getByRole('region', { name: 'Difference' }).innerText(), /\n-connections: 8\n\+connections: 9\n/);
  await admin('PUT', '/desk', now.replace('connections: 7', 'connections: 10'), { 'Content-Type': 'application/yaml' });
  await apply.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await part.getByRole('button', { name: 'Load the newer' }).press('Enter');
  await part.getByRole('alert').waitFor({ state: 'detached' });
  assert.equal(await draft.inputValue(), now.replace('connections: 7', 'connections: 10'));
  assert.equal(answers.some((a) => a.includes('canary-secret')), false, 'the secret was sent to the browser');

  // An agent of a file ends as a diff, and its calls are tried.
  await page.goto(`${CONSOLE}/ui/agents/billing`);
  await heading(page, 'billing');
  await part.getByRole('button', { name: 'Edit as a draft' }).click();
  await part.getByText('config.yaml:').waitFor();
  assert.equal(await apply.count(), 0, 'a file is written');
  await draft.fill(`${await draft.inputValue()}connections: 7\n`);
  await part.getByText('The draft is valid.').waitFor();
  await part.getByText('What the draft changes').press('Enter');
  const saved = page.waitForEvent('download');
  await part.getByRole('button', { name: 'Download' }).click();
  assert.equal((await saved).suggestedFilename(), 'billing.diff');
  await part.getByRole('button', { name: 'Replay its calls' }).click();
  await part.getByRole('heading', { name: 'No call would be decided differently' }).waitFor();
  await look(page, 'draft-of-a-file');
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await look(page, 'draft-dark');
  await page.setViewportSize({ width: 390, height: 844 });
  await draft.scrollIntoViewIfNeeded();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} wide on a telephone`);

  // Who may only look is offered no draft.
  const guest = await open();
  await signIn(guest, '/ui/agents/desk', VIEWER);
  await heading(guest, 'desk');
  await guest.getByRole('region', { name: 'As registered' }).waitFor();
  assert.equal(await guest.getByRole('button', { name: 'Edit as a draft' }).count(), 0);
});
