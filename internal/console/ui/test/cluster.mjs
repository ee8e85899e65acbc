// Looks at the gateways that share a state.
import { heading, look, open, play, signIn } from './stage.mjs';

await play(async () => {
  const page = await open({ colorScheme: 'light' });
  await signIn(page, '/ui/gateway');
  await heading(page, 'Config and health');
  const all = page.getByRole('region', { name: 'Replicas', exact: true });
  const row = (text) => all.getByRole('row').filter({ hasText: text });
  await row('gateway-1').getByText('this one').waitFor();
  await row('gateway-1').getByText('ready', { exact: true }).waitFor();
  await row('gateway-2').getByText('ready', { exact: true }).waitFor();
  await row('has other keys').getByText('keys.dir').waitFor();
  await all.getByText('Not all replicas have the same configuration').waitFor();
  await all.scrollIntoViewIfNeeded();
  await look(page, 'cluster');
});
