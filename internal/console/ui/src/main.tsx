import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Failure } from './api/client';
import { TaskScreen } from './screens/task';
import { asked } from './parts/filters';
import { ranged } from './parts/range';
import { dress } from './theme';
import { Account } from './screens/account';
import { AgentScreen } from './screens/agent';
import { ApprovalScreen } from './screens/approval';
import { Approvals } from './screens/approvals';
import { Audit } from './screens/audit';
import { Content } from './screens/content';
import { Extensions, extensionsSearch } from './screens/extensions';
import { Fleet } from './screens/fleet';
import { GatewayScreen } from './screens/gateway';
import { Guards, guardsSearch } from './screens/guards';
import { IdentitiesScreen } from './screens/identities';
import { Live } from './screens/live';
import { MapScreen, mapSearch } from './screens/map';
import { Nowhere } from './screens/nowhere';
import { Overview, overviewSearch } from './screens/overview';
import { Policy, policySearch } from './screens/policy';
import { Push } from './screens/push';
import { RecordScreen } from './screens/record';
import { Shell } from './screens/shell';
import { Streams } from './screens/streams';
import { Try, trySearch } from './screens/try';
import './style.css';

const root = createRootRoute({ component: Shell, notFoundComponent: Nowhere });
const text = (v: unknown) => (typeof v === 'string' ? v : '');
const overview = createRoute({ getParentRoute: () => root, path: '/', validateSearch: overviewSearch, component: Overview });
const fleet = createRoute({
  getParentRoute: () => root,
  path: '/fleet',
  validateSearch: (s: Record<string, unknown>): { q?: string; show?: string } => ({
    ...(text(s.q) && { q: text(s.q) }),
    ...(text(s.show) && { show: text(s.show) }),
  }),
  component: Fleet,
});
const agent = createRoute({ getParentRoute: () => root, path: '/agents/$id', component: AgentScreen });
const extensions = createRoute({ getParentRoute: () => root, path: '/extensions', validateSearch: extensionsSearch, component: Extensions });
const map = createRoute({ getParentRoute: () => root, path: '/map', validateSearch: mapSearch, component: MapScreen });
const policy = createRoute({ getParentRoute: () => root, path: '/policy', validateSearch: policySearch, component: Policy });
const guards = createRoute({ getParentRoute: () => root, path: '/guards', validateSearch: guardsSearch, component: Guards });
const push = createRoute({
  getParentRoute: () => root,
  path: '/push',
  validateSearch: (s: Record<string, unknown>): { state?: 'waiting' } => (s.state === 'waiting' ? { state: 'waiting' } : {}),
  component: Push,
});
const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  validateSearch: (s: Record<string, unknown>): { q?: string; show?: 'mine' } => ({
    ...(text(s.q) && { q: text(s.q) }),
    ...(s.show === 'mine' && { show: 'mine' }),
  }),
  component: Approvals,
});
const approval = createRoute({ getParentRoute: () => root, path: '/approvals/$id', component: ApprovalScreen });
const content = createRoute({
  getParentRoute: () => root,
  path: '/content',
  validateSearch: (s: Record<string, unknown>): { subject?: string; issuer?: string } => ({
    ...(text(s.subject) && { subject: text(s.subject) }),
    ...(text(s.issuer) && { issuer: text(s.issuer) }),
  }),
  component: Content,
});
const live = createRoute({ getParentRoute: () => root, path: '/live', validateSearch: asked, component: Live });
const streams = createRoute({
  getParentRoute: () => root,
  path: '/streams',
  validateSearch: (s: Record<string, unknown>): { caller?: string; agent?: string; task?: string } => {
    const { caller, agent, task } = asked(s);
    return { ...(caller && { caller }), ...(agent && { agent }), ...(task && { task }) };
  },
  component: Streams,
});
const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: (s: Record<string, unknown>) => ({ ...asked(s), ...ranged(s) }),
  component: Audit,
});
const task = createRoute({ getParentRoute: () => root, path: '/tasks/$id', component: TaskScreen });
const record = createRoute({ getParentRoute: () => root, path: '/audit/$seq', component: RecordScreen });
const identities = createRoute({
  getParentRoute: () => root,
  path: '/identities',
  validateSearch: (s: Record<string, unknown>): { q?: string } => (text(s.q) ? { q: text(s.q) } : {}),
  component: IdentitiesScreen,
});
const gateway = createRoute({
  getParentRoute: () => root,
  path: '/gateway',
  validateSearch: (s: Record<string, unknown>): { checks?: 'all' } => (s.checks === 'all' ? { checks: 'all' } : {}),
  component: GatewayScreen,
});
const attempt = createRoute({ getParentRoute: () => root, path: '/try', validateSearch: trySearch, component: Try });
const account = createRoute({ getParentRoute: () => root, path: '/account', component: Account });

const router = createRouter({ routeTree: root.addChildren([overview, fleet, agent, map, live, streams, audit, record, task, policy, guards, extensions, approvals, approval, push, content, attempt, identities, gateway, account]), basepath: '/ui' });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

// Whoever's session has ended signs in again, at the place where they were.
const ended = (e: unknown) => {
  if (e instanceof Failure && e.status === 401) queries.setQueryData(['me'], null);
};
const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: ended }),
  mutationCache: new MutationCache({ onError: ended }),
  defaultOptions: {
    queries: {
      refetchInterval: 10_000,
      networkMode: 'always',
      retry: (n, e) => n < 2 && !(e instanceof Failure && e.status >= 400 && e.status < 500),
    },
    mutations: { networkMode: 'always' },
  },
});

dress();
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
