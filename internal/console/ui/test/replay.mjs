// Uses the view Replay of the screen Policy: recorded calls are put to a draft of the rules.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE, BOB } = process.env;

await play(async () => {
  assert.equal((await send('billing', ALICE, 'hello')).status, 200);
  assert.equal((await send('billing', BOB, 'hello')).status, 403);
  assert.equal((await send('weather', BOB, 'hello')).status, 200);

  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/audit?method=SendMessage', VIEWER);
  await heading(page, 'Audit');
  for (;;) {
    // The log is written behind the answers.
    const shown = await page.getByRole('status').filter({ hasText: /shown/ }).innerText();
    if (Number.parseInt(shown, 10) >= 3) break;
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.waitForTimeout(100);
  }
  await page.goto(`${CONSOLE}/ui/policy`);
  await page.getByRole('button', { name: 'Replay' }).press('Enter');
  await page.getByText('What would change?').waitFor();
  const draft = page.getByLabel('Rules, as the configuration has them');
  const inForce = await draft.inputValue();
  assert.match(inForce, /^rules:\n {2}- name: \S+\n/);
  assert.match(inForce, /- name: weather-only-for-alice\n {4}effect: deny\n/);
  await look(page, 'replay-begin');

  // The rules in force decide as they did.
  const replay = page.getByRole('form', { name: 'Draft' }).getByRole('button', { name: 'Replay' });
  const change = page.getByRole('region', { name: 'What would change' });
  const tile = (label) => change.locator('.tile').filter({ hasText: label }).locator('strong');
  await replay.click();
  await change.getByRole('heading', { name: 'No call would be decided differently' }).waitFor();
  assert.equal(await tile('Unchanged').innerText(), '3');
  await look(page, 'replay-same');

  // Other rules do not; the draft has what shadows would do.
  const next = inForce.replace('    mode: shadow\n', '').concat('  - name: bob-too\n    effect: allow\n    agents: [billing]\n    subjects: [bob]\n');
  await page.getByText('The draft is valid: 5 rules.').waitFor();
  await draft.fill(next);
  await page.getByText('The draft is valid: 6 rules.').waitFor();
  await page.getByText('What the draft changes').press('Enter');
  const difference = await page.getByRole('region', { name: 'Difference' }).innerText();
  assert.match(difference, /^--- rules in force\n\+\+\+ draft\n@@ -\d+,\d+ \+\d+,\d+ @@\n/);
  assert.match(difference, /\n-    mode: shadow\n/);
  assert.match(difference, /\n\+  - name: bob-too\n\+    effect: allow\n/);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  assert.equal((await saved).suggestedFilename(), 'rules.diff');
  await look(page, 'replay-difference');
  await change.getByText('The draft has changed since.').waitFor();
  await replay.focus();
  await page.keyboard.press('Enter');
  await change.getByRole('heading', { name: '2 calls would be decided differently' }).waitFor();
  for (const [label, n] of [['Unchanged', '1'], ['Newly allowed', '1'], ['Newly denied', '1'], ['By another rule', '0'], ['Unknown', '0']])
    assert.equal(await tile(label).innerText(), n, label);
  const rows = page.getByRole('table', { name: 'Calls that change' }).getByRole('row');
  await rows.filter({ hasText: 'newly allowed' }).filter({ hasText: 'deny by default' }).filter({ hasText: 'allow by bob-too' }).waitFor();
  const denied = rows.filter({ hasText: 'newly denied' }).filter({ hasText: 'weather' }).filter({ hasText: 'deny by weather-only-for-alice' });
  await denied.waitFor();
  const whom = (kind, name) => page.getByRole('table', { name: `${kind} whose calls change` }).getByRole('row').filter({ hasText: name });
  assert.deepEqual((await whom('Callers', 'bob').getByRole('cell').allInnerTexts()).slice(1, 3), ['1', '1']);
  assert.deepEqual((await whom('Agents', 'weather').getByRole('cell').allInnerTexts()).slice(1, 3), ['0', '1']);
  await look(page, 'replay-changes');
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await look(page, 'replay-changes-dark');

  // A row leads to its record, and the draft is there again on the way back.
  const seq = await denied.getByRole('link').innerText();
  await denied.getByRole('link').focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/ui/audit/${seq}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByText('bob').first().waitFor();
  await page.goBack();
  await draft.waitFor();
  assert.equal(await draft.inputValue(), next);

  // The newest alone, and times, are in the address.
  await page.getByLabel('At most').fill('1');
  await replay.click();
  await change.getByText('there are older ones').waitFor();
  assert.match(page.url(), /records=1/);
  await page.getByLabel('Time range').selectOption('15m');
  assert.match(page.url(), /last=15m/);
  await page.goto(`${CONSOLE}/ui/policy?view=replay&until=2020-01-01T00:00:00Z`);
  await replay.click();
  await change.getByText('No call was recorded at that time.').waitFor();
  await look(page, 'replay-none');

  // What records do not have cannot be told.
  await page.goto(`${CONSOLE}/ui/policy?view=replay`);
  await draft.fill('rules:\n  - {name: talk, effect: allow, content: {parts: [text]}}\n');
  await replay.click();
  await page.getByRole('table', { name: 'Reasons' }).getByText('message: asked for by talk').waitFor();
  await change.getByRole('heading', { name: 'No call is known to be decided differently' }).waitFor();
  await look(page, 'replay-untold');

  // What is wrong with a draft is said with its line.
  page.allowed = /status of (400|401|404)/;
  await draft.fill('rules:\n  - name: talk\n    effect: maybe\n');
  await page.getByText('One mistake: these rules could not be put in force.').waitFor();
  await page.getByRole('list', { name: 'Mistakes' }).getByRole('button', { name: 'Line 3, column' }).press('Enter');
  assert.equal(await page.evaluate(() => window.getSelection()?.toString()), '    effect: maybe');
  await replay.click();
  await page.getByRole('alert').getByText('draft:3:').waitFor();
  await look(page, 'replay-wrong');
  await page.getByRole('button', { name: 'Go to line 3' }).click();
  assert.equal(await page.evaluate(() => window.getSelection()?.toString()), '    effect: maybe');
  await page.getByRole('button', { name: 'Back to the rules in force' }).click();
  assert.equal(await draft.inputValue(), inForce);

  // A limit is named.
  await page.getByLabel('At most').fill('100001');
  await replay.click();
  await page.getByRole('alert').getByText('admin.replay.records').waitFor();
  await look(page, 'replay-limit-dark');

  const narrow = await open({ viewport: { width: 390, height: 780 }, storageState: await page.context().storageState() });
  await narrow.goto(`${CONSOLE}/ui/policy?view=replay`);
  await narrow.getByLabel('Rules, as the configuration has them').fill('rules: []');
  await narrow.getByRole('form', { name: 'Draft' }).getByRole('button', { name: 'Replay' }).click();
  await narrow.getByRole('heading', { name: '2 calls would be decided differently' }).waitFor();
  await look(narrow, 'replay-narrow');
});
