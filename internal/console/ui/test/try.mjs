// Uses the screen Try it: calls to agents of both versions, refusals, streams.
import { assert, heading, look, open, play, signIn } from './stage.mjs';

const { CONSOLE, VIEWER, ALICE } = process.env;
const centre = 'https://billing.example/extensions/cost-centre/v1';

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/try');
  await heading(page, 'Try it');
  await look(page, 'try');
  const seen = page.getByRole('region', { name: 'What came of it' });
  const shown = (name) => seen.getByRole('region', { name, exact: true });
  const send = () => page.getByRole('button', { name: 'Send', exact: true }).click();

  // As nobody, and then as alice, by the keyboard.
  await page.getByLabel('Agent', { exact: true }).fill('billing');
  await page.keyboard.press('Enter');
  await seen.getByText('HTTP 401').waitFor();
  await page.getByLabel('Credential', { exact: true }).fill(ALICE);
  await page.getByLabel('Extensions', { exact: true }).fill(centre);
  await page.getByLabel('Parameters').fill('{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hello there"}]}}');
  await send();
  await seen.getByText('HTTP 200').waitFor();
  await shown('Body').getByText('"jsonrpc": "2.0"').waitFor();
  await seen.getByText('active', { exact: true }).waitFor();
  assert.match(page.url(), /agent=billing/);
  await look(page, 'try-answer');

  await seen.getByRole('button', { name: 'On the wire' }).press('Enter');
  await shown('Sent').getByText('POST /agents/billing/ HTTP/1.1').waitFor();
  await shown('Sent').getByText('X-Api-Key: [redacted]').waitFor();
  await shown('Received').getByText('HTTP/1.1 200 OK').waitFor();
  await shown('For a shell').getByText('"X-Api-Key: $CREDENTIAL"').waitFor();
  assert.ok(!(await page.content()).includes(ALICE), 'the page shows the key');
  await look(page, 'try-wire');

  await seen.getByRole('button', { name: 'In other versions' }).click();
  const older = seen.getByRole('region', { name: 'A2A 0.3, JSONRPC' });
  await older.getByText('"method": "message/send"').waitFor();
  await older.getByText('"role": "user"').waitFor();
  await seen.getByRole('region', { name: 'A2A 1.0, HTTP+JSON' }).getByText('the agent has it').waitFor();
  await seen.getByRole('region', { name: 'A2A 1.0, JSONRPC' }).getByText('sent so').waitFor();
  await look(page, 'try-forms');

  // A stream in the older version over the other binding.
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByLabel('Version').selectOption('0.3');
  await page.getByLabel('Binding').selectOption('HTTP+JSON');
  await page.getByLabel('Method').selectOption('SendStreamingMessage');
  assert.match(await page.getByLabel('Parameters').inputValue(), /"kind": "text"/);
  await page.getByLabel('Parameters').fill((await page.getByLabel('Parameters').inputValue()).replace('hello', 'summarize March'));
  await send();
  await seen.getByRole('listitem').nth(1).waitFor();
  await look(page, 'try-stream');
  await seen.getByRole('button', { name: 'In other versions' }).click();
  await seen.getByRole('region', { name: 'A2A 1.0, JSONRPC' }).getByRole('heading', { name: 'Event 2', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await look(page, 'try-stream-dark');

  // A stream over gRPC: its messages in JSON, and what went over the wire without the key.
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByLabel('Version').selectOption('1.0');
  await page.getByLabel('Binding').selectOption('GRPC');
  await page.getByLabel('Parameters').fill((await page.getByLabel('Parameters').inputValue()).replace('hello', 'summarize March'));
  await send();
  await seen.getByRole('listitem').nth(1).getByText('"statusUpdate"').or(seen.getByRole('listitem').nth(1).getByText('"artifactUpdate"')).waitFor();
  await look(page, 'try-grpc');
  await seen.getByRole('button', { name: 'On the wire' }).click();
  await shown('Sent').getByText('x-api-key: [redacted]').waitFor();
  await shown('Received').getByText('grpc-status: 0').waitFor();
  assert.ok(!(await page.content()).includes(ALICE), 'the page shows the key');
  await seen.getByRole('button', { name: 'In other versions' }).click();
  await seen.getByRole('region', { name: 'A2A 1.0, GRPC' }).getByText('"tenant": "billing"').waitFor();
  await seen.getByRole('region', { name: 'A2A 0.3, JSONRPC' }).getByRole('heading', { name: 'Event 2', exact: true }).waitFor();
  await look(page, 'try-grpc-forms');
  await page.getByLabel('Credential', { exact: true }).fill('nobody-has-this-key');
  await send();
  await seen.getByText('gRPC 16', { exact: true }).waitFor();
  await look(page, 'try-grpc-refused');
  await page.getByLabel('Credential', { exact: true }).fill(ALICE);

  // A stream that takes its time, in each binding: its events are there while it is open.
  const running = page.getByRole('button', { name: 'Cancel' });
  for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByLabel('Binding').selectOption(binding);
    await page.getByLabel('Parameters').fill((await page.getByLabel('Parameters').inputValue()).replace('hello', 'audit 60000'));
    await send();
    await seen.getByRole('listitem').first().getByText(/^(task|status) (submitted|working)/).waitFor();
    await seen.getByText('HTTP 200').waitFor();
    assert.ok(await running.isVisible(), `${binding}: the call has ended`);
    await seen.getByRole('status').getByText(/The answer is coming\. \d+ events?, the last after/).waitFor();
    if (binding === 'JSONRPC') await look(page, 'try-running');
    await seen.getByRole('button', { name: 'On the wire' }).click();
    await shown('Sent').getByText('[redacted]').waitFor();
    await shown(binding === 'GRPC' ? 'Messages so far, in JSON' : 'Body so far').getByText('TASK_STATE_').first().waitFor();
    await seen.getByRole('button', { name: 'Answer' }).click();
    await running.press('Enter');
    await seen.getByRole('status').getByText('You cancelled the call after').waitFor();
    await seen.getByRole('listitem').first().waitFor(); // what came is still there
    assert.equal(await running.count(), 0);
    assert.ok(await page.getByRole('button', { name: 'Send', exact: true }).evaluate((b) => b === document.activeElement), 'the focus is lost');
    assert.ok(!(await page.content()).includes(ALICE), 'the page shows the key');
  }
  await look(page, 'try-cancelled');

  // The skills of an agent are suggested.
  assert.ok((await page.locator('#skills option').count()) > 0, 'no skill is suggested');

  // The oldest version, whose caller names the task.
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByLabel('Binding').selectOption('JSONRPC');
  await page.getByLabel('Version').selectOption('0.1');
  await page.getByLabel('Method').selectOption('SendMessage');
  assert.match(await page.getByLabel('Parameters').inputValue(), /"type": "text"/);
  await page.getByLabel('Extensions', { exact: true }).fill('');
  await send();
  await seen.getByText('HTTP 200').waitFor();
  await seen.getByRole('button', { name: 'In other versions' }).click();
  await seen.getByRole('region', { name: 'A2A 0.1, JSONRPC' }).getByText('"method": "tasks/send"').waitFor();
  await seen.getByRole('region', { name: 'A2A 1.0, JSONRPC' }).getByText('"method": "SendMessage"').waitFor();
  await look(page, 'try-oldest');
  await page.getByLabel('Version').selectOption('1.0');
  await page.getByLabel('Binding').selectOption('HTTP+JSON');

  // What is wrong is said by the page, or by the gateway.
  await page.getByLabel('Parameters').fill('{"message": ');
  await send();
  await page.getByRole('alert').getByText('Parameters must be JSON').waitFor();
  await page.getByLabel('Parameters').fill('{"message": 7}');
  page.allowed = /status of (400|401|404)/;
  await send();
  await page.getByRole('alert').getByText('params: they make no request').waitFor();
  await look(page, 'try-wrong');

  // A link says what to try. Viewers try nothing.
  await page.goto(`${CONSOLE}/ui/try?agent=courier&version=0.3&method=GetTask`);
  assert.equal(await page.getByLabel('Version').inputValue(), '0.3');
  assert.equal(await page.getByLabel('Method').inputValue(), 'GetTask');
  const narrow = await open({ viewport: { width: 390, height: 780 }, storageState: await page.context().storageState() });
  await narrow.goto(`${CONSOLE}/ui/try?agent=weather`);
  await narrow.getByRole('button', { name: 'Send', exact: true }).click();
  await narrow.getByText('HTTP 401').waitFor();
  await look(narrow, 'try-narrow');
  await narrow.getByLabel('Method').selectOption('SendStreamingMessage');
  await narrow.getByLabel('Agent', { exact: true }).fill('billing');
  await narrow.getByLabel('Credential', { exact: true }).fill(ALICE);
  await narrow.getByLabel('Parameters').fill((await narrow.getByLabel('Parameters').inputValue()).replace('hello', 'summarize March'));
  await narrow.getByRole('button', { name: 'Send', exact: true }).click();
  await narrow.getByRole('list', { name: 'Events' }).getByRole('listitem').nth(1).waitFor();
  assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page scrolls sideways');
  await look(narrow, 'try-stream-narrow');
  const viewer = await open();
  await signIn(viewer, '/ui/try', VIEWER);
  await viewer.getByText('Operators only').waitFor();
  assert.equal(await viewer.getByRole('link', { name: 'Try it' }).count(), 0, 'a viewer is led to where nothing can be done');
});
