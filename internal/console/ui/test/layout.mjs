// Opens every screen of the navigation, and what those lead to, at three widths and in both themes.
import { AxeBuilder } from '@axe-core/playwright';
import { assert, open, play, send, signIn } from './stage.mjs';

const { CONSOLE, GATEWAY, TOKEN, LONG, AGENT, ALI: ALICE, BOB, REC: BATCH, A2A_GATEWAY_TEST_SCREENSHOTS: shots, LAYOUT_ONLY } = process.env;
const centre = 'https://billing.example/extensions/cost-centre/v1';
const widths = { phone: [390, 844], tablet: [768, 1024], desktop: [1440, 900] };

/** happen is what there is to be seen: calls of every outcome, two tasks, a stream that stays open. */
async function happen(stop) {
  const booked = (key, to, agent = 'billing') => send(agent, key, 'hello', 'SendMessage', { headers: { 'A2A-Extensions': centre }, metadata: { [centre]: to } });
  for (let i = 0; i < 6; i++) await Promise.all([booked(ALICE, 'cc-42'), send('billing', ALICE, 'summarize'), send('billing', BATCH, 'hello')]);
  await booked(ALICE, '42');
  await booked(BATCH, 'cc-7', LONG);
  await send(LONG, ALICE, 'hello');
  await send('billing', BOB, 'hello');
  for (let i = 0; i < 4; i++) await send('weather', BOB, 'forecast Oslo');
  await send('absent', ALICE, 'hello');
  const { task } = JSON.parse((await send('billing', ALICE, 'refund INV-7')).body).result;
  await send('billing', ALICE, 'yes', 'SendStreamingMessage', { taskId: task.id, contextId: task.contextId });
  void send('billing', ALICE, 'count 600', 'SendStreamingMessage', { signal: stop }).catch(() => {});
  assert.equal((await fetch(`${AGENT}/change`)).status, 200); // its card says something else now
  const parcel = await send('courier', ALICE, '', 'SendMessage', {
    parts: [{ text: 'Send the parcels of order 1018 to the new address. The customer says that the old one is no longer theirs.' }, { data: { order: 1018, address: { city: 'Oslo' } } }, { raw: 'aGVsbG8=', filename: 'label-for-the-parcels-of-order-1018-of-the-customer-in-oslo.pdf', mediaType: 'application/pdf' }, { url: 'https://files.example/a-long-path/that-goes-on/and-on/and-on/until-it-ends/at-last/scan.png', mediaType: 'image/png' }],
  });
  return [task.id, JSON.parse(parcel.body).result.task.id];
}

/** admin asks the API for something. */
async function admin(path) {
  const answer = await fetch(`${CONSOLE}/api/v1/${path}`, { headers: { Authorization: `Bearer ${TOKEN}` } });
  assert.equal(answer.status, 200, path);
  return answer.json();
}

/** until waits for what the API says. */
async function until(path, is) {
  for (let i = 0; i < 600; i++) {
    if (is(await admin(path))) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail(`${path} never says so`);
}

/** measured is what is wrong with a page as it is laid out; it runs in the page. */
function measured() {
  const wrong = [];
  const room = document.documentElement;
  if (room.scrollWidth > innerWidth) {
    const of = [...document.querySelectorAll('main *, header *')].filter((e) => {
      let up = e.parentElement;
      for (; up && getComputedStyle(up).overflowX === 'visible'; up = up.parentElement);
      return !up && e.getBoundingClientRect().right > innerWidth + 1;
    });
    wrong.push(`the page is ${room.scrollWidth} wide in ${innerWidth}: ${of.slice(0, 3).map((e) => `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`).join(' | ')}`);
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    const e = node.parentElement;
    if (node.data.trim() === '' || !e.checkVisibility({ visibilityProperty: true }) || e.closest('.unseen, .skip, script, style, option, svg, pre')) continue;
    const range = document.createRange();
    // What hides the end of a text says all of it in a title, unless it scrolls.
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    for (let up = e; up && up !== document.body; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (/auto|scroll/.test(style.overflowX) || style.clipPath !== 'none') break; // what is clipped is for screen readers
      if (!/hidden|clip/.test(style.overflowX)) continue;
      const seen = up.getBoundingClientRect();
      if (box.right > seen.right + 1.5 || box.left < seen.left - 1.5) {
        let said = false;
        for (let t = e; t; t = t.parentElement) said ||= t.title !== '' && t.title !== undefined;
        if (!said && !up.querySelector('[title]')) wrong.push(`cut, without a title: ${e.tagName}.${e.className} ${node.data.slice(0, 60)}`);
      }
      break;
    }
    // A word stands on one line: in prose always, and of what is no word as much as fits.
    for (const word of node.data.matchAll(/[\p{L}’]{2,24}/gu)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
      const long = /\S{25,}/.test(node.data); // an address or a digest breaks where it must
      if (lines.size > 1 && !(long && e.closest('code, h1, h2, dd, td, th, .cut, .breaks'))) wrong.push(`broken: ${word[0]} in ${e.tagName}.${e.className} ${node.data.trim().slice(0, 60)}`);
    }
  }
  return [...new Set(wrong)].slice(0, 12);
}

await play(async () => {
  const stop = new AbortController();
  const [task, approval] = await happen(stop.signal);
  await until('cards?limit=100', (c) => c.cards.some((x) => x.agent === 'fickle' && x.state === 'quarantined'));
  await until('push', (p) => p.dead >= 1);
  const found = (await admin(`audit/records?limit=100&caller=alice`)).records;
  const denied = found.find((r) => r.decision === 'deny') ?? found[0];

  const page = await open({ colorScheme: 'light', viewport: { width: 1440, height: 900 } });
  page.allowed = /status of (4\d\d|503)/;
  const problems = [];
  const see = async (name) => {
    for (const [size, [width, height]] of Object.entries(widths)) {
      await page.setViewportSize({ width, height });
      for (const scheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        const at = `${name}-${size}-${scheme}`;
        if (scheme === 'light') problems.push(...(await page.evaluate(measured)).map((w) => `${at}: ${w}`));
        // Contrast differs by theme and what scrolls by width: two looks see both, four all pairs of them.
        if (shots ? size !== 'tablet' : (size === 'phone') === (scheme === 'light') && size !== 'tablet')
          for (const v of (await new AxeBuilder({ page }).analyze()).violations) problems.push(`${at}: axe ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' ').slice(0, 300)}`);
        if (shots) await page.screenshot({ path: `${shots}/${at}.png`, fullPage: true });
      }
    }
    console.log('seen', name);
  };
  const visit = async (name, path, ready) => {
    if (LAYOUT_ONLY && !name.match(LAYOUT_ONLY)) return;
    await page.goto(CONSOLE + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('status').filter({ hasText: 'Loading' }).first().waitFor({ state: 'detached' });
    if (ready) await ready();
    await see(name);
  };

  await visit('signin', '/ui/');
  await page.setViewportSize({ width: 1440, height: 900 });
  await signIn(page, '/ui/');
  await page.getByRole('navigation').getByRole('link').first().waitFor();
  const screens = await page.getByRole('navigation').getByRole('link').evaluateAll((all) => all.map((a) => new URL(a.href).pathname));
  assert.ok(screens.length > 10, `the navigation leads to ${screens}`);
  for (const path of screens) await visit(path.replace(/^\/ui\/?/, '').replaceAll('/', '-') || 'home', path, path.endsWith('/live') ? () => page.getByRole('row').nth(2).waitFor() : undefined);

  // What the screens lead to.
  const uri = encodeURIComponent(centre);
  for (const [name, path] of [
    ['agent', '/ui/agents/billing'],
    ['agent-long', `/ui/agents/${LONG}`],
    ['agent-card', '/ui/agents/fickle'],
    ['agent-absent', '/ui/agents/absent'],
    ['policy-explain', '/ui/policy?view=explain&agent=billing'],
    ['policy-limits', '/ui/policy?view=limits'],
    ['policy-replay', '/ui/policy?view=replay'],
    ['guards-try', '/ui/guards?view=try&agent=billing'],
    ['guards-replay', '/ui/guards?view=replay'],
    ['extension', `/ui/extensions?uri=${uri}`],
    ['extensions-agents', '/ui/extensions?view=agents'],
    ['extensions-why', '/ui/extensions?view=agents&agent=billing'],
    ['push-waiting', '/ui/push?state=waiting'],
    ['content-of', '/ui/content?subject=bob'],
    ['task', `/ui/tasks/${task}`],
    ['approval', `/ui/approvals/${approval}`],
    ['record', `/ui/audit/${denied.seq}`],
    ['audit-filtered', '/ui/audit?caller=alice&since=2026-01-01T00:00:00Z'],
    ['gateway-checks', '/ui/gateway?checks=all'],
    ['nowhere', '/ui/nowhere'],
  ])
    await visit(name, path);

  // An agent's card declares an extension that nobody registered: it counts, and says how to register it.
  await page.setViewportSize({ width: 1440, height: 900 });
  await visit('extension-unregistered', `/ui/extensions?uri=${encodeURIComponent('https://fickle.example/ext/v1')}`, async () => {
    await page.locator('.tile', { hasText: 'Not registered' }).getByText('1', { exact: true }).waitFor();
    await page.getByRole('row').filter({ hasText: 'fickle.example' }).getByText('unregistered', { exact: true }).waitFor();
    await page.getByText('1 agent card declares this extension').waitFor();
    await page.getByRole('region', { name: 'Entry of the configuration' }).getByText('- uri: "https://fickle.example/ext/v1"').waitFor();
  });

  // Dialogs.
  const dialog = async (name, path, button) => {
    if (LAYOUT_ONLY && !name.match(LAYOUT_ONLY)) return;
    await page.goto(CONSOLE + path);
    await page.getByRole('button', { name: button }).first().click();
    await page.getByRole('dialog').waitFor();
    await see(name);
    await page.keyboard.press('Escape');
  };
  await page.setViewportSize({ width: 1440, height: 900 });
  await dialog('dialog-key', '/ui/identities', /^(Make|Create) a key/);
  await page.setViewportSize({ width: 1440, height: 900 });
  await dialog('dialog-reload', '/ui/gateway', /^Reload/);
  await page.setViewportSize({ width: 1440, height: 900 });
  await dialog('dialog-approve', `/ui/approvals/${approval}`, /^Approve/);
  await page.setViewportSize({ width: 1440, height: 900 });
  await dialog('dialog-reject', `/ui/approvals/${approval}`, /^Reject/);
  stop.abort();
  assert.ok(problems.length === 0, `${problems.length} problems:\n${problems.join('\n')}`);
});
