// Uses the screen Guards: what guards found, a text that they look at, and captured content that others look at.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, TOKEN, ALICE } = process.env;
const key = 'AKIAIOSFODNN7EXAMPLE';
const iban = 'DE89 3704 0044 0532 0130 00';

await play(async () => {
  // Who may only look sees the guards and what they found.
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/guards', VIEWER);
  await heading(page, 'Guards');
  await page.getByText('Nothing found').waitFor();
  const guards = page.getByRole('table', { name: 'Guards in force' });
  await guards.getByRole('row').filter({ hasText: 'bookings' }).filter({ hasText: 'shadow' }).getByText('agents: weather · subjects: bob').waitFor();
  await look(page, 'guards-nothing');
  assert.match((await send('billing', ALICE, `use ${key}`)).body, /CONTENT_REFUSED/);
  assert.equal((await send('billing', ALICE, `refund to ${iban}`)).status, 200);
  assert.equal((await send('billing', ALICE, 'refund to +49 30 123456')).status, 200);
  const kinds = page.getByRole('table', { name: 'By kind' });
  const counts = (table, name) => page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: name }).getByRole('cell').allInnerTexts();
  await kinds.getByRole('row').filter({ hasText: 'iban' }).waitFor();
  await kinds.getByRole('row').filter({ hasText: /^key/ }).waitFor();
  assert.deepEqual(await counts('By guard', 'no-keys'), ['no-keys', '1', '1', '–', '–']);
  assert.deepEqual(await counts('By guard', 'accounts'), ['accounts', '1', '–', '1', '–']);
  assert.deepEqual(await counts('By agent', 'billing'), ['billing', '2', '1', '1', '–']);
  assert.deepEqual(await counts('By caller', 'alice'), ['alice', '2', '1', '1', '–']);
  await look(page, 'guards');
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await look(page, 'guards-dark');
  await page.getByRole('button', { name: 'Light colours' }).click();

  // Each count leads to its records.
  for (const [table, name, asks, records] of [
    ['By guard', 'no-keys', /guard=no-keys/, 1],
    ['By kind', 'iban', /finding=iban/, 1],
    ['By agent', 'billing', /agent=billing&guard=/, 2],
    ['By caller', 'alice', /caller=alice&guard=/, 2],
  ]) {
    await page.getByRole('table', { name: table }).getByRole('link', { name, exact: true }).press('Enter');
    await heading(page, 'Audit');
    assert.match(page.url(), asks);
    assert.match(page.url(), /last=1h/);
    await page.getByRole('status').getByText(`${records} shown`, { exact: true }).waitFor();
    await page.goBack();
    await heading(page, 'Guards');
  }
  await page.getByRole('group', { name: 'Which time' }).getByRole('button', { name: '24 h' }).press('Enter');
  await page.waitForURL(/window=24h/);
  await page.goto(`${CONSOLE}/ui/guards?since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z`);
  await page.getByText('Nothing found').waitFor();
  await page.getByRole('button', { name: 'Try a text' }).click();
  await page.getByText('This takes the role operator').waitFor();
  await look(page, 'guards-viewer');

  // A text, and a message, that nobody sends.
  const operator = await open({ colorScheme: 'light' });
  await signIn(operator, '/ui/guards?view=try&agent=billing', TOKEN);
  await operator.getByText('Which text?').waitFor();
  await look(operator, 'guards-try');
  const text = operator.getByLabel('Text or message');
  const attempt = operator.getByRole('button', { name: 'Try', exact: true });
  const result = operator.getByRole('region', { name: 'Result' });
  await text.fill(`pay to ${iban}`);
  await attempt.click();
  await result.getByRole('heading', { name: 'Looked at by no-keys, accounts' }).waitFor();
  await result.getByRole('region', { name: 'What is passed on' }).getByText('pay to [redacted: iban]').waitFor();
  assert.deepEqual(await result.getByRole('table', { name: 'Findings' }).getByRole('row').nth(1).getByRole('cell').allInnerTexts(), ['accounts', 'iban', '0', '1', 'redacted']);
  await look(operator, 'guards-redacted');
  await operator.getByLabel('Below is').selectOption('message');
  await text.fill(`{"parts": [{"text": "hello"}, {"data": {"note": "${key}"}}]}`);
  await attempt.click();
  await result.getByText('CONTENT_REFUSED, 403: The content is not permitted: the message has key in part 1').waitFor();
  await look(operator, 'guards-refused');
  await text.fill('no JSON');
  await attempt.click();
  await operator.getByRole('alert').getByText('The message must be JSON').waitFor();
  await look(operator, 'guards-no-json');
  await operator.getByLabel('Below is').selectOption('text');
  await operator.getByLabel('In the call it is').selectOption('answer');
  await text.fill(`it is ${key}`);
  await attempt.click();
  await result.getByRole('heading', { name: 'No guard looks at it' }).waitFor();

  // Other guards look at what was captured: the refused call was not.
  await operator.getByRole('button', { name: 'Replay' }).first().click();
  const draft = operator.getByLabel('Guards, as the configuration has them');
  assert.match(await draft.inputValue(), /^guards:\n {2}- name: no-keys\n {4}use: secrets\n {4}on: \[request\]\n/);
  await look(operator, 'guards-replay-begin');
  const replay = operator.getByRole('form', { name: 'Draft' }).getByRole('button', { name: 'Replay' });
  const change = operator.getByRole('region', { name: 'What would change' });
  const tile = (label) => change.locator('.tile').filter({ hasText: label }).locator('strong');
  await replay.click();
  await change.getByRole('heading', { name: 'No call is known to have another outcome' }).waitFor();
  assert.equal(await tile('Content was not captured').innerText(), '1');
  assert.equal(await tile('Unchanged').innerText(), '1');
  assert.equal(await tile('Unknown').innerText(), '1');
  await change.getByText('what was redacted then is not in what was captured').waitFor();
  await draft.fill('- {name: phones, on: [request], use: pii, kinds: [phone]}\n');
  await change.getByText('The draft has changed since.').waitFor();
  await replay.focus();
  await operator.keyboard.press('Enter');
  await change.getByRole('heading', { name: 'One call would have another outcome' }).waitFor();
  await change.getByRole('table', { name: 'Calls that change' }).getByText('phones: phone').waitFor();
  await look(operator, 'guards-replay');
  await change.getByRole('table', { name: 'Calls that change' }).getByRole('link').click();
  await operator.waitForURL(/\/ui\/audit\/\d+$/);
  await operator.goBack();
  operator.allowed = /status of (400|401|404)/;
  await draft.fill('guards:\n  - {name: phones, use: pii, kinds: [phones]}\n');
  await replay.click();
  await operator.getByRole('alert').getByText('did you mean "phone"?').waitFor();
  await operator.getByRole('button', { name: 'Go to line 2' }).click();
  await look(operator, 'guards-replay-wrong');
  await operator.getByRole('button', { name: 'Back to the guards in force' }).click();
  await operator.goto(`${CONSOLE}/ui/audit?event=content.replayed`);
  await operator.getByRole('status').getByText(/shown/).waitFor();

  const narrow = await open({ viewport: { width: 390, height: 780 }, storageState: await operator.context().storageState() });
  await narrow.goto(`${CONSOLE}/ui/guards`);
  await narrow.getByRole('table', { name: 'By kind' }).waitFor();
  await look(narrow, 'guards-narrow');
});
