// Uses the screen of an agent: how calls went, who may use which skill, and the card that a
// caller gets.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE, BOB } = process.env;

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/agents/billing', VIEWER);
  await heading(page, 'billing');

  // What is called while somebody looks is drawn, as what became of it.
  for (let i = 0; i < 5; i++) assert.equal((await send('billing', ALICE, 'hello')).status, 200);
  for (let i = 0; i < 3; i++) assert.equal((await send('billing', BOB, 'hello')).status, 403);
  const course = page.getByRole('region', { name: 'Calls over time' });
  await course.getByText('8, 3 denied, 0 failed').waitFor();
  await course.getByRole('img', { name: /^Calls 8, 3 denied/ }).waitFor();
  const ticks = await course.getByRole('img', { name: /^Calls 8, 3 denied/ }).locator('text').allTextContents();
  assert.ok(ticks.slice(0, 3).every((t) => /^[0-9,]+$/.test(t)), `half a call on the axis: ${ticks}`);
  await course.getByRole('img', { name: /^Response time without streams, at most .* at p99$/ }).waitFor();
  await course.getByText('Calls as a table').click();
  const steps = course.getByRole('region', { name: 'Calls, step by step' });
  const said = await steps.getByRole('cell').allInnerTexts(); // all of them at one moment
  const sum = (column) => said.reduce((n, text, i) => (i % 4 === column ? n + Number(text) : n), 0);
  assert.deepEqual([1, 2, 3].map(sum), [5, 0, 3]);
  await course.getByRole('row').filter({ hasText: 'denied' }).getByRole('link', { name: /^Records of calls denied/ }).click();
  await page.waitForURL(/\/ui\/audit\?.*agent=billing/);
  await page.goBack();
  await course.getByLabel('in the').selectOption('24h');
  await course.getByText('8, 3 denied, 0 failed').waitFor();
  await course.getByLabel('in the').selectOption('5m');
  await course.getByText('8, 3 denied, 0 failed').waitFor();
  await look(page, 'agent');

  // Skills: the rules about each; and for a caller, what becomes of a call.
  const skills = page.getByRole('region', { name: 'Skills and who may use them' });
  await skills.getByRole('link', { name: /^finance allows$/ }).first().waitFor();
  assert.equal(await skills.getByRole('link', { name: /everybody/ }).count(), 0, 'a rule about another agent');
  await skills.getByLabel('Caller', { exact: true }).fill('alice');
  await page.keyboard.press('Enter');
  await skills.getByRole('columnheader', { name: 'alice', exact: true }).waitFor();
  await skills.getByText('allowed').first().waitFor();
  const seen = skills.getByRole('region', { name: 'The agent’s own and What alice gets, side by side' });
  await skills.getByText('Form 1.0: the members of A2A 1.0 alone').waitFor();
  await seen.getByText(/http:\/\/gateway\.example:\d+\/agents\/billing/).first().waitFor();
  await skills.scrollIntoViewIfNeeded();
  await look(page, 'agent-as-alice');
  await skills.getByLabel('Caller', { exact: true }).fill('bob');
  await skills.getByRole('button', { name: 'See as this caller' }).click();
  await skills.getByText('denied').first().waitFor();
  await skills.getByRole('heading', { name: 'The card as bob gets it' }).waitFor();
  await skills.getByRole('link', { name: /^Why .* is denied$/ }).first().click();
  await page.waitForURL(/\/ui\/policy\?.*subject=bob/);
  await page.getByRole('region', { name: 'Decision' }).getByText('denied').waitFor();
  await page.goBack();

  // One that nobody calls says so; one that there is not, too.
  await page.goto(`${CONSOLE}/ui/agents/courier`);
  await course.getByText('No calls in this time').waitFor();
  await look(page, 'agent-quiet');
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await page.goto(`${CONSOLE}/ui/agents/billing`);
  await course.getByText('8, 3 denied, 0 failed').waitFor();
  await skills.getByRole('button', { name: 'See as this caller' }).click(); // nobody in particular
  await skills.getByRole('heading', { name: 'The card as a caller without a credential gets it' }).waitFor();
  await skills.getByText('none: calls need a credential').first().waitFor();
  await look(page, 'agent-dark');
  await page.setViewportSize({ width: 390, height: 844 });
  await course.scrollIntoViewIfNeeded();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} wide on a telephone`);
  await look(page, 'agent-telephone');
});
