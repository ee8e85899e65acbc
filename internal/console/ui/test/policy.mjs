// Uses the screen Policy: rules with what they decided, and calls that are explained.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE, BOB } = process.env;

await play(async () => {
  assert.equal((await send('billing', ALICE, 'hello')).status, 200);
  assert.equal((await send('billing', BOB, 'hello')).status, 403);
  assert.equal((await send('weather', BOB, 'hello')).status, 200);

  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/policy', VIEWER);
  await heading(page, 'Policy');
  const rules = page.getByRole('table', { name: 'Rules' });
  const shadow = rules.getByRole('row').filter({ hasText: 'weather-only-for-alice' });
  await shadow.getByText('shadow', { exact: true }).waitFor();
  await page.getByRole('status').getByText('5 rules').waitFor();
  const counted = (row, column) => row.getByRole('cell').nth(column).filter({ hasText: /^1$/ }).waitFor();
  await counted(rules.getByRole('row').filter({ hasText: 'finance' }), 3); // it allowed one
  await counted(shadow, 5); // and the shadow would have denied one
  await look(page, 'policy');

  // What is asked for is in the address.
  await page.getByRole('group', { name: 'Which rules' }).getByRole('button', { name: 'In shadow' }).press('Enter');
  await page.getByRole('status').getByText('1 of 5 rules').waitFor();
  assert.match(page.url(), /show=shadow/);
  await page.getByRole('button', { name: 'Never decided' }).click();
  await page.getByLabel('Search rules').fill('GetTask');
  await page.getByRole('status').getByText('1 of 5 rules').waitFor();
  await page.getByLabel('Search rules').fill('nothing like it');
  await page.getByText('No rule matches').waitFor();
  await page.goto(`${CONSOLE}/ui/policy`);
  await shadow.getByRole('link').focus();
  await page.keyboard.press('Enter');
  const detail = page.getByRole('region', { name: 'Rule weather-only-for-alice' });
  await detail.getByText('One call would have matched').waitFor();
  await look(page, 'policy-rule');
  await page.goto(`${CONSOLE}/ui/policy?rule=never`);
  await page.getByText('There is no such rule').waitFor();

  // A call is explained, by the keyboard.
  await page.getByRole('button', { name: 'Explain a call' }).click();
  await page.getByText('Which call?').waitFor();
  await page.getByLabel('Agent', { exact: true }).fill('billing');
  // Fields are completed with what there is: agents, their skills, methods, issuers.
  const offers = (label) => page.getByLabel(label, { exact: true }).evaluate((field) => [...(field.list?.options ?? [])].map((o) => o.value));
  const offered = async (label, value) => {
    for (let n = 0; !(await offers(label)).includes(value); n++) {
      assert.ok(n < 100, `${label} does not offer ${value}, but ${await offers(label)}`);
      await page.waitForTimeout(100);
    }
  };
  await offered('Agent', 'billing');
  await offered('Skill', 'summarize');
  await offered('Method', 'SubscribeToTask');
  await page.getByLabel('Caller', { exact: true }).fill('bob');
  await page.keyboard.press('Enter');
  const decision = page.getByRole('region', { name: 'Decision' });
  await decision.getByText('denied', { exact: true }).waitFor();
  await decision.getByText('policy.default: no rule that would decide matches').waitFor();
  const steps = page.getByRole('region', { name: 'Rules evaluated' });
  await steps.getByRole('row', { name: /finance/ }).getByText('does not match').waitFor();
  await look(page, 'policy-denied');
  await page.getByLabel('Caller', { exact: true }).fill('alice');
  await page.getByLabel('Message').fill('{"parts": [{"text": "hello"}]}');
  await page.getByRole('button', { name: 'Explain', exact: true }).click();
  await decision.getByText('allowed', { exact: true }).waitFor();
  await decision.getByRole('link', { name: 'finance' }).waitFor();
  await look(page, 'policy-allowed');
  assert.equal(new URL(page.url()).searchParams.get('message'), null, 'the message is in the address');
  assert.equal((await send('billing', ALICE, 'hello')).status, 200); // which is what was said

  // What is wrong with a question is said, by the page or by the gateway.
  await page.getByLabel('Claims').fill('{"level": ');
  await page.getByRole('button', { name: 'Explain', exact: true }).click();
  await page.getByRole('alert').getByText('Claims must be JSON').waitFor();
  await page.getByLabel('Claims').fill('');
  page.allowed = /status of (400|401|404)/;
  await page.getByLabel('Agent', { exact: true }).fill('bilingual');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('agent: there is no agent "bilingual"').waitFor();
  await look(page, 'policy-wrong');

  // A link to a question asks it.
  await page.goto(`${CONSOLE}/ui/policy?view=explain&agent=weather&subject=bob`);
  await decision.getByText('allowed', { exact: true }).waitFor();
  await decision.getByText('weather-only-for-alice').waitFor();

  await page.getByRole('button', { name: 'Dark colours' }).click();
  await look(page, 'policy-explain-dark');
  await page.goto(`${CONSOLE}/ui/policy?rule=finance`);
  await page.getByRole('region', { name: 'Rule finance' }).getByText(/config\.yaml:\d+$/).waitFor();
  await look(page, 'policy-dark');

  // However many rules there are, as many rows as are seen.
  const many = Array.from({ length: 10_000 }, (_, i) => ({ name: `rule-${String(i).padStart(5, '0')}`, effect: 'allow', agents: [`agent-${i}`] }));
  await page.route('**/api/v1/policy/rules?*', (route) => {
    const at = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    return route.fulfill({ json: { default: 'deny', rules: many.slice(at, at + 1000), ...(at + 1000 < many.length && { next: String(at + 1000) }) } });
  });
  await page.goto(`${CONSOLE}/ui/policy`);
  await page.getByRole('status').getByText('10,000 rules').waitFor();
  assert.ok((await rules.getByRole('row').count()) < 80, 'every row is in the page');
  await page.unroute('**/api/v1/policy/rules?*');
  await page.route('**/api/v1/policy/rules?*', (route) => route.fulfill({ json: { default: 'allow', rules: [] } }));
  await page.goto(`${CONSOLE}/ui/policy`);
  await page.getByText('There are no rules').waitFor();
  await look(page, 'policy-empty');
  await page.unroute('**/api/v1/policy/rules?*');

  // Limits, and who met one.
  await page.goto(`${CONSOLE}/ui/policy`);
  await page.getByRole('button', { name: 'Limits' }).press('Enter');
  await page.waitForURL(/view=limits/);
  const may = page.getByRole('region', { name: 'Rate limits and quotas' });
  await may.getByRole('row', { name: /parcels-an-hour 1 per hour, burst of 1 principal agents: courier/ }).waitFor();
  await page.getByText('refused no call for a limit').waitFor();
  assert.equal((await send('courier', ALICE, 'a parcel')).status, 200);
  for (let i = 0; i < 2; i++) assert.equal((await send('courier', ALICE, 'a parcel')).status, 429);
  const met = page.getByRole('region', { name: 'Refused callers' });
  await met.getByRole('row', { name: /parcels-an-hour alice of api-keys courier 2 / }).waitFor();
  await may.getByRole('row').filter({ hasText: 'parcels-an-hour' }).getByText('2', { exact: true }).waitFor();
  await look(page, 'policy-limits');
  await met.getByRole('link', { name: 'Records of refusals of alice for parcels-an-hour' }).click();
  await page.waitForURL(/reason=RATE_LIMITED/);
  await page.getByRole('row').nth(2).waitFor();
  assert.equal(await page.getByRole('table', { name: 'Audit records' }).getByRole('row').count(), 3, 'the head and two calls');

  const narrow = await open({ viewport: { width: 390, height: 780 }, storageState: await page.context().storageState() });
  await narrow.goto(`${CONSOLE}/ui/policy?view=explain&agent=billing&subject=alice`);
  await narrow.getByRole('region', { name: 'Decision' }).getByText('allowed', { exact: true }).waitFor();
  await look(narrow, 'policy-narrow');
});
