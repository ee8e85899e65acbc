// Uses the screen Identities: issuers and their keys, and the life of an API key.
import { assert, heading, look, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, ISSUER, VIEWER } = process.env;

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/identities');
  await heading(page, 'Identities');
  const region = (name) => page.getByRole('region', { name, exact: true });
  await page.getByText('A call carries exactly one credential. The gateway refuses callers without one.').waitFor();
  const issuer = region('Token issuers').getByRole('row').filter({ hasText: ISSUER });
  await issuer.getByText('fetched').waitFor();
  await issuer.getByText('header Authorization, audience a2a-gateway').waitFor();
  await region('Client certificates').getByText('does not identify callers by certificate').waitFor();
  const keys = region('API keys');
  const row = (id) => keys.getByRole('row').filter({ has: page.locator('code').getByText(id, { exact: true }) });
  await row('alice').getByText('active').waitFor();
  await look(page, 'identities');

  // A key that is made is shown once, and lets its holder in.
  await keys.getByRole('button', { name: 'Create a key' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Id random').fill('robot');
  await dialog.getByLabel('Owner').fill('ops');
  await dialog.getByLabel('Groups').fill('finance, robots');
  await look(page, 'identities-make');
  await dialog.getByLabel('Expires after').fill('soon');
  page.allowed = /status of (400|401|404)/;
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('alert').getByText('ttl: want more than 0').waitFor();
  await dialog.getByLabel('Expires after').fill('30d');
  await page.keyboard.press('Enter');
  const made = page.getByRole('dialog', { name: 'Key robot' });
  const key = (await made.getByRole('region', { name: 'Text of the key' }).innerText()).trim();
  assert.match(key, /^a2a_robot_.{43}$/);
  await look(page, 'identities-made');
  await made.getByRole('button', { name: 'I have it' }).click();
  await made.waitFor({ state: 'detached' });
  assert.ok(!(await page.content()).includes(key), 'the page has the key still');
  await row('robot').getByText('groups finance, robots').waitFor();
  const until = async (status, text) => {
    for (let i = 0; ; i++) {
      const got = (await send('billing', text, 'hello')).status;
      if (got === status) return;
      assert.ok(i < 600, `answered ${got}, want ${status}`);
      await page.waitForTimeout(100);
    }
  };
  await until(200, key);

  // One that is rotated goes on for as long as is said; what replaces it is another.
  await keys.getByRole('button', { name: 'Rotate robot', exact: true }).click();
  await dialog.getByLabel('The old one stays valid for').fill('2');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  const next = page.getByRole('dialog', { name: 'Key robot.2' });
  const other = (await next.getByRole('region', { name: 'Text of the key' }).innerText()).trim();
  await next.getByRole('button', { name: 'I have it' }).click();
  await row('robot').getByText('rotating').waitFor();
  await until(200, other);
  await until(200, key);

  // What is looked for is in the address.
  await keys.getByLabel('Find API keys').fill('ops');
  await page.waitForURL(/q=ops/);
  await row('alice').waitFor({ state: 'detached' });
  await row('robot.2').waitFor();
  await page.reload();
  await row('robot.2').waitFor();

  // One that is revoked lets nobody in.
  await keys.getByRole('button', { name: 'Revoke robot', exact: true }).click();
  await dialog.getByText('cannot undo this').waitFor();
  await look(page, 'identities-revoke');
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await until(401, key);
  await row('robot').waitFor({ state: 'detached' });
  await until(200, other);
  await page.goto(`${CONSOLE}/ui/audit`);
  for (const event of ['key.created', 'key.rotated', 'key.revoked']) await page.getByText(event).first().waitFor();
  await page.goto(`${CONSOLE}/ui/identities`);
  await row('alice').waitFor();
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await look(page, 'identities-dark');
  await page.setViewportSize({ width: 390, height: 844 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} wide on a telephone`);
  await look(page, 'identities-telephone');

  // A viewer sees all of it and changes nothing.
  const onlooker = await open({ colorScheme: 'light' });
  await signIn(onlooker, '/ui/identities', VIEWER);
  await onlooker.getByRole('region', { name: 'API keys', exact: true }).getByText('alice', { exact: true }).first().waitFor();
  assert.equal(await onlooker.getByRole('button', { name: /^(Create a key|Rotate|Revoke)/ }).count(), 0, 'a viewer can change keys');
});
