// Looks at the instances of an agent: one that answers every call with a plain 500, one that
// is slow and gets calls still, and as many as the API says of one agent.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, GOOD, BAD } = process.env;

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/agents/billing');
  await heading(page, 'billing');
  const instances = page.getByRole('region', { name: 'Instances', exact: true });
  const row = (address) => instances.getByRole('row').filter({ has: page.getByRole('rowheader', { name: address, exact: true }) });

  // Before there are calls both are well, and have not answered.
  await instances.getByRole('status').getByText('2 healthy').waitFor();
  await row(BAD).getByText('no response yet').waitFor();

  // Calls go to the one that is broken as well, until it is ejected.
  for (let i = 0; i < 60; i++) await send('billing', '', 'hello');
  await row(BAD).getByText('it failed calls and is ejected for').waitFor();
  await row(BAD).getByText('unhealthy', { exact: true }).waitFor();
  await row(BAD).getByText('ejected once').waitFor();
  await row(GOOD).getByText('healthy', { exact: true }).waitFor();
  await instances.getByRole('status').getByText('1 unhealthy, 1 healthy').waitFor();
  assert.match(await instances.getByRole('rowheader').first().innerText(), new RegExp(BAD), 'the broken one is not the first');
  await look(page, 'instances');

  // The agent serves all the same, and the fleet says what is the matter.
  await page.getByRole('definition').getByText('serving', { exact: true }).waitFor();
  await page.goto(`${CONSOLE}/ui/fleet`);
  await page.getByRole('cell', { name: 'instances: 1 unhealthy' }).waitFor();

  // A slow one is seen while it gets calls, and as many as there may be stay in their place.
  const of = (list, more) => (route) => route.fulfill({ json: { id: 'billing', origin: 'file', served: true, state: 'serving', instances: list, ...more } });
  const one = (n, more) => ({ address: `10.0.0.${n}:9001`, healthy: true, latency: 0.02, calls: 1, ejections: 0, ...more });
  await page.route('**/api/v1/agents/billing', of([one(7, { latency: 4.2, calls: 11 }), one(8, { latency: 0.05 }), one(9), one(10)]));
  await page.goto(`${CONSOLE}/ui/agents/billing`);
  await instances.getByRole('status').getByText('1 slow, 3 healthy').waitFor();
  await row('10.0.0.7:9001').getByText('210 times slower than the fastest').waitFor();
  await row('10.0.0.7:9001').getByText('4.2 s').waitFor();
  await look(page, 'instances-slow');

  const many = [
    one(0, { address: '[2001:db8:85a3:1234:5678:8a2e:370:7334]:9001', healthy: false, why: 'its checks fail', latency: undefined, calls: 0, ejections: 3 }),
    one(1, { healthy: false, why: 'it failed calls and is ejected for 27s', latency: 0.004, calls: 0, ejections: 1 }),
    one(2, { healthy: false, why: 'its circuit is open', calls: 0 }),
    one(3, { latency: 2.75, calls: 1234 }),
    ...Array.from({ length: 28 }, (_, i) => one(i + 4, { latency: 0.06 - i / 1000 })),
  ];
  await page.unroute('**/api/v1/agents/billing');
  await page.route('**/api/v1/agents/billing', of(many, { state: 'failing', failure: 'failing: one call after the other fails' }));
  await page.reload();
  await instances.getByRole('status').getByText('3 unhealthy, 1 slow, 28 healthy').waitFor();
  await instances.getByText('the first 32 are shown').waitFor();
  await page.getByText('See the agent’s log.').waitFor();
  await page.getByRole('definition').getByText('failing', { exact: true }).waitFor();
  const box = page.getByRole('region', { name: 'All instances shown' });
  assert.ok((await box.boundingBox()).height < 500, 'all of them are in the page, one below the other');
  await box.press('End');
  await row('10.0.0.31:9001').waitFor();
  await instances.getByText('ejected 3 times').waitFor();
  await page.setViewportSize({ width: 1400, height: 900 });
  await look(page, 'instances-many');
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await look(page, 'instances-dark');

  // A telephone has them whole: nothing is beside the screen.
  await page.setViewportSize({ width: 400, height: 844 });
  await instances.scrollIntoViewIfNeeded();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 400, `${wide} wide on a telephone`);
  const [inner, outer] = await box.evaluate((e) => [e.scrollWidth, e.clientWidth]);
  assert.ok(inner <= outer, `the table is ${inner} wide, of ${outer}`);
  await look(page, 'instances-telephone');
});
