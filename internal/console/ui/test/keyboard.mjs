// Uses the console by the keyboard alone, and its navigation where the window is a phone's.
import { assert, heading, look, open, play, signIn } from './stage.mjs';

const { CONSOLE, TOKEN } = process.env;

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/extensions', TOKEN);
  await heading(page, 'Extensions');
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '');
  const field = (label) => page.getByLabel(label, { exact: true });

  // What is searched or filtered has the focus; a letter that is typed there is a letter.
  await field('Search extensions').waitFor();
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement?.type === 'search');
  await page.keyboard.type('g?p/');
  assert.equal(await field('Search extensions').inputValue(), 'g?p/');
  assert.equal(await page.getByRole('dialog').count(), 0, 'a question mark that is typed opens the list');
  assert.match(page.url(), /\/extensions\?/, 'letters that are typed lead elsewhere');
  await page.keyboard.press('Tab');

  // Letters lead to every screen of the navigation, and the list says which.
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('?');
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await list.getByText('Search or filter the screen').waitFor();
  await look(page, 'shortcuts');
  const goes = await list.getByRole('term').evaluateAll((all) => all.map((t) => [t.textContent, t.nextElementSibling.textContent]).filter(([k]) => k.startsWith('g then')));
  const titles = await page.getByRole('navigation', { includeHidden: true }).locator('a').allTextContents();
  assert.deepEqual(goes.map(([, what]) => what.replace('Go to ', '')), titles.map((t) => t.trim()), 'the list is not the navigation');
  assert.equal(new Set(goes.map(([k]) => k)).size, goes.length, 'two screens have one letter');
  await page.keyboard.press('g'); // a dialog is open: it does nothing
  await page.keyboard.press('m');
  assert.match(page.url(), /\/extensions/);
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  for (const [keys, what] of goes) {
    await page.keyboard.press('g');
    await page.keyboard.press(keys.at(-1));
    await page.getByRole('link', { name: what.replace('Go to ', ''), exact: true }).and(page.locator('[aria-current=page]')).waitFor();
  }

  // With a modifier they are the browser's, and who wants none has none.
  await page.goto(`${CONSOLE}/ui/audit`);
  await heading(page, 'Audit');
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement?.closest('[role=search]') !== null);
  await page.keyboard.press('Tab');
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('Control+g');
  await page.keyboard.press('m');
  assert.match(page.url(), /\/audit/);
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).press('Enter');
  await list.getByRole('checkbox').uncheck();
  await list.getByRole('button', { name: 'Close' }).click();
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await page.keyboard.press('?');
  assert.equal(await page.getByRole('dialog').count(), 0, 'shortcuts are on, though they were switched off');
  assert.match(page.url(), /\/audit/);

  // On a phone the navigation is a menu.
  const phone = await open({ viewport: { width: 390, height: 844 }, storageState: await page.context().storageState() });
  await phone.goto(`${CONSOLE}/ui/policy`);
  await heading(phone, 'Policy');
  const menu = phone.getByRole('button', { name: /^Menu/ });
  assert.equal(await phone.getByRole('navigation').count(), 0, 'the navigation is open');
  assert.equal(await menu.getAttribute('aria-expanded'), 'false');
  await menu.press('Enter');
  assert.equal(await menu.getAttribute('aria-expanded'), 'true');
  await phone.getByRole('link', { name: 'Map' }).waitFor();
  await look(phone, 'menu');
  await phone.keyboard.press('Tab');
  await phone.keyboard.press('Escape');
  await phone.getByRole('navigation').waitFor({ state: 'detached' });
  assert.equal(await menu.getAttribute('aria-expanded'), 'false');
  assert.ok(await menu.evaluate((b) => b === document.activeElement), 'the button does not have the focus back');
  await menu.click();
  await phone.getByRole('link', { name: 'Map' }).click();
  await heading(phone, 'Map');
  assert.equal(await menu.getAttribute('aria-expanded'), 'false', 'the menu covers what it leads to');
  await phone.waitForFunction(() => document.activeElement?.id === 'main');
  assert.ok((await focused()) !== '');
});
