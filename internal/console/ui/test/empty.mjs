// Opens every screen of a gateway that has neither agents nor calls: what is empty says what to do.
import { assert, heading, look, open, play, signIn } from './stage.mjs';

const { CONSOLE } = process.env;

// What an empty screen has to name: a command, a setting, or a way on.
const says = {
  '/ui/map': [/Try it/],
  '/ui/live?caller=nobody': [/Clear them/],
  '/ui/streams': [/SendStreamingMessage/],
  '/ui/audit?caller=nobody': [/Clear some/],
  '/ui/policy': [/policy\.rules/],
  '/ui/policy?view=limits': [/policy\.limits\.each/],
  '/ui/guards': [/policy\.guards/, /No guard found anything/],
  '/ui/guards?view=try': [/Enter an agent and a text/],
  '/ui/extensions': [/config\.example\.yaml/],
  '/ui/extensions?view=agents': [/a2a-gateway agents add/],
  '/ui/approvals': [/effect: approve/],
  '/ui/approvals/none': [/policy\.approvals\.keep/],
  '/ui/push': [/push\.attempts/],
  '/ui/push?state=waiting': [/CreateTaskPushNotificationConfig/],
  '/ui/content': [/Enter the subject/],
  '/ui/content?subject=alice': [/telemetry\.audit\.content/],
  '/ui/identities': [/authn\.oidc/, /authn\.apiKeys/, /authn\.mtls/, /server\.tls\.clientCA/],
  '/ui/gateway': [/telemetry\.audit\.sinks/, /state\.driver/, /server\.tls/, /Choose All/],
  '/ui/tasks/none': [/telemetry\.audit\.retention/],
  '/ui/nowhere': [/Go to the overview/],
};

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/fleet', process.env.TOKEN);
  await page.getByText('a2a-gateway agents add').first().waitFor();
  for (const [path, all] of Object.entries(says)) {
    await page.goto(CONSOLE + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const one of all) await page.getByRole('main').getByText(one).first().waitFor();
    await look(page, `empty${path.replaceAll(/[^a-z]+/g, '-')}`);
  }
  await page.goto(`${CONSOLE}/ui/extensions`);
  await heading(page, 'Extensions');
  await page.getByRole('status').getByText(/^0 extensions$/).waitFor();
  assert.equal(await page.getByText('NaN').count(), 0);
});
