// Uses the screens of calls that wait for approval: one is approved, one rejected.
import { assert, heading, look, open, play, signIn } from './stage.mjs';

const { CONSOLE, GATEWAY, TOKEN, VIEWER, ALICE } = process.env;

const amount = '12345678901234567890.50'; // that no number of JavaScript is

/** rpc calls billing as alice, and is the result. */
async function rpc(method, params, version = '1.0') {
  const answer = await fetch(`${GATEWAY}/agents/billing`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': version, 'X-Api-Key': ALICE },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }).replace(`"${amount}"`, amount),
  });
  assert.equal(answer.status, 200);
  return (await answer.json()).result;
}

/** waits sends a message that has to be approved, and is the task that its caller gets. */
async function waits(message, method = 'SendMessage', version = '1.0') {
  const result = await rpc(method, { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message } }, version);
  const task = result.task ?? result;
  assert.match(task.status.state, /^(TASK_STATE_AUTH_REQUIRED|auth-required)$/);
  return task.id;
}

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/approvals');
  await heading(page, 'Approvals');
  await page.getByText('No call waits for approval').waitFor();
  await look(page, 'approvals-none');

  const said = 'refund \u202eINV-7\u202c <img src=x onerror="document.title=1">';
  const first = await waits({
    parts: [{ text: said }, { data: { amount } }, { raw: 'JVBERi0xLjQ=', filename: 'invoice.pdf', mediaType: 'application/pdf' }, { url: 'https://files.example/scan.png', mediaType: 'image/png' }],
  });
  const second = await waits({ parts: [{ text: 'refund INV-8' }] });
  const row = (id) => page.getByRole('row').filter({ has: page.locator(`a[href$="${id}"]`) });
  await row(second).waitFor(); // it is asked for again and again
  await page.getByRole('status').getByText('2 calls', { exact: true }).waitFor();
  for (const text of ['waiting', 'billing', 'alice of api-keys', 'one of admin-token, 0 of 1 agreed', 'yes']) await row(first).getByText(text).first().waitFor();
  await look(page, 'approvals');
  await page.getByRole('button', { name: 'You may decide', exact: true }).first().click();
  assert.match(page.url(), /show=mine/);
  await page.getByLabel('Search calls').fill('nothing like it');
  await page.getByText('No call matches').waitFor();
  await page.getByLabel('Search calls').fill('refunds');
  await page.getByRole('status').getByText('2 calls', { exact: true }).waitFor();

  // One is read, and approved.
  await row(first).getByRole('link').click();
  await heading(page, 'SendMessage to billing');
  const message = page.getByRole('region', { name: 'Message', exact: true });
  await message.getByText('refund \\u202eINV-7\\u202c <img src=x onerror="document.title=1">', { exact: true }).waitFor();
  assert.match(await message.getByRole('region', { name: 'Part 2, data' }).innerText(), /"amount": 12345678901234567890\.50/);
  await message.getByText('invoice.pdf · application/pdf · 8 B').waitFor();
  await message.getByText('https://files.example/scan.png').waitFor();
  assert.equal(await message.getByRole('link').count(), 0, 'what a caller wrote is a link');
  assert.match(await page.getByRole('region', { name: 'Parameters as JSON' }).innerText(), /"filename": "invoice\.pdf"/);
  await page.getByText('Nobody has agreed.').waitFor();
  await look(page, 'approval');
  await page.getByRole('button', { name: 'Approve' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('You cannot undo this').waitFor();
  await look(page, 'approval-approve');
  const sent = page.waitForRequest((r) => r.url().endsWith(`/${first}/approve`));
  await dialog.getByRole('button', { name: 'Approve' }).click();
  assert.match((await sent).postDataJSON().digest, /^[0-9a-f]{64}$/);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('status').getByText('sent', { exact: true }).waitFor();
  await page.getByRole('cell', { name: 'admin-token', exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^(Approve|Reject)$/ }).count(), 0, 'what was decided is offered again');
  await look(page, 'approval-sent');
  const of = page.getByRole('term').filter({ hasText: 'Task of the agent' }).locator('..').getByRole('link');
  const id = await of.innerText();
  await of.click();
  await heading(page, `Task ${id}`);

  // The other is rejected, for a reason that its caller reads; on a phone.
  const phone = await open({ viewport: { width: 390, height: 844 }, storageState: await page.context().storageState() });
  await phone.goto(`${CONSOLE}/ui/approvals`);
  await phone.getByRole('status').getByText('1 call', { exact: true }).waitFor();
  await look(phone, 'approvals-phone');
  await phone.getByRole('link', { name: second.slice('approval-'.length).slice(0, 8) }).click();
  await phone.getByText('refund INV-8', { exact: true }).waitFor();
  await look(phone, 'approval-phone');
  await phone.getByRole('button', { name: 'Reject' }).click();
  const asks = phone.getByRole('dialog', { name: 'Reject this call?' });
  await asks.getByLabel('Reason').fill('é'.repeat(251));
  await asks.getByText('502 of 500 bytes').waitFor();
  assert.ok(await asks.getByRole('button', { name: 'Reject' }).isDisabled());
  await asks.getByLabel('Reason').fill('INV-8 was paid back in May');
  await look(phone, 'approval-reject-phone');
  await asks.getByRole('button', { name: 'Reject' }).click();
  await phone.getByRole('status').getByText('rejected', { exact: true }).waitFor();
  await phone.getByText('INV-8 was paid back in May').waitFor();
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the phone');
  const told = await rpc('GetTask', { id: second });
  assert.equal(told.status.state, 'TASK_STATE_REJECTED');
  assert.match(told.status.message.parts[0].text, /INV-8 was paid back in May/);

  // Whoever is no approver sees neither the message nor a button.
  const old = [{ kind: 'text', text: 'refund INV-9' }, { kind: 'file', file: { name: 'old.pdf', mimeType: 'application/pdf', bytes: 'JVBERi0xLjQ=' } }];
  const third = await waits({ kind: 'message', role: 'user', parts: old }, 'message/send', '0.3');
  const guest = await open();
  await signIn(guest, `/ui/approvals/${third}`, VIEWER);
  await heading(guest, 'SendMessage to billing');
  await guest.getByText('You may not decide about this call: you are none of approvers.subjects').waitFor();
  await guest.getByText('You may not see the message').waitFor();
  assert.equal(await guest.getByText('INV-9').count(), 0);
  assert.equal(await guest.getByRole('button', { name: /^(Approve|Reject)$/ }).count(), 0);
  await look(guest, 'approval-guest');

  // What somebody else decides meanwhile is said.
  await page.goto(`${CONSOLE}/ui/approvals/${third}`);
  await page.getByText('refund INV-9', { exact: true }).waitFor();
  await page.getByText('old.pdf · application/pdf · 8 B').waitFor();
  await page.getByRole('button', { name: 'Reject' }).click();
  page.allowed = /status of (4\d\d)/;
  const { digest } = await (await fetch(`${CONSOLE}/api/v1/approvals/${third}`, { headers: { Authorization: `Bearer ${TOKEN}` } })).json();
  const other = await fetch(`${CONSOLE}/api/v1/approvals/${third}/reject`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ digest }),
  });
  assert.equal(other.status, 200);
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('the call waits no more: it is rejected').waitFor();
  await page.goto(`${CONSOLE}/ui/approvals/none`);
  await page.getByText('There is no such call').waitFor();
});
