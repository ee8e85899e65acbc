import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Search, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { get, type Traffic } from '../api/client';
import { count } from '../parts/amount';
import { queryOf } from '../parts/filters';
import { type Flow, nameOf, type Node, type NodeProps, Sankey, short } from '../parts/sankey';
import { Empty, Loading, Trouble } from '../parts/state';
import { When } from '../parts/time';
import './map.css';

const route = getRouteApi('/map');

export interface MapSearch {
  window?: string;
  q?: string;
  caller?: string;
  agent?: string;
}

const windows: Record<string, string> = { '5m': 'last 5 minutes', '15m': 'last 15 minutes', '1h': 'last hour', '24h': 'last 24 hours' };
const usual = '15m';
const text = (v: unknown) => (typeof v === 'string' ? v : typeof v === 'number' ? String(v) : '');

export function mapSearch(s: Record<string, unknown>): MapSearch {
  return {
    ...(text(s.window) in windows && text(s.window) !== usual && { window: text(s.window) }),
    ...(text(s.q) && { q: text(s.q) }),
    ...(text(s.caller) && { caller: text(s.caller) }),
    ...(text(s.agent) && { agent: text(s.agent) }),
  };
}

export function MapScreen() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const set = (change: MapSearch) => void go({ search: (now) => mapSearch({ ...now, ...change }), replace: true });
  const window = search.window ?? usual;
  const traffic = useQuery({
    queryKey: ['map', search],
    queryFn: () => get<Traffic>(`/api/v1/map?${queryOf({ ...search, window })}`),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000, // while the page is seen
  });
  const of = traffic.data;
  const narrowed = search.q !== undefined || search.caller !== undefined || search.agent !== undefined;
  return (
    <>
      <h1>Map</h1>
      <div className="bar">
        <div className="search">
          <Search size={15} aria-hidden />
          <input type="search" aria-label="Search callers, agents and extensions" placeholder="Caller, agent or extension" value={search.q ?? ''} onChange={(e) => set({ q: e.target.value })} />
        </div>
        <label className="hint">
          Calls of the{' '}
          <select value={window} onChange={(e) => set({ window: e.target.value })}>
            {Object.entries(windows).map(([v, label]) => (
              <option key={v} value={v}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {(['caller', 'agent'] as const).map(
          (k) =>
            search[k] && (
              <button key={k} type="button" onClick={() => set({ [k]: '' })} aria-label={`Show every ${k}, not ${search[k]} only`}>
                {k} {short(search[k], 30)} <X size={13} aria-hidden />
              </button>
            ),
        )}
        {of && (
          <span className="count" role="status">
            {count(of.counted, 'call')}
          </span>
        )}
      </div>
      {traffic.isError && <Trouble error={traffic.error} again={() => void traffic.refetch()} />}
      {!of && !traffic.isError && <Loading />}
      {of && of.more && (
        <p className="hint">
          More calls were made than this screen counts (<code>admin.map.records</code>). It counts the newest, since <When at={of.since} />.
        </p>
      )}
      {of && of.counted === 0 && (
        <Empty title={narrowed ? 'No call matches' : 'No calls in this time'}>
          {narrowed ? 'Clear the search or choose a longer time.' : <>Calls appear here when they have ended. Choose a longer time, or make one: <Link to="/try">Try it</Link> sends a message to an agent.</>}
        </Empty>
      )}
      {of && of.counted > 0 && (
        <>
          <section className="map" aria-label="Drawing" tabIndex={0}>
            <Sankey of={of} label="Map of callers, agents and extensions; the tables below say the same" open={open} />
            <ul className="legend">
              <li>succeeded</li>
              <li className="denied">denied</li>
              <li className="failed">failed</li>
            </ul>
          </section>
          <div className="columns">
            <Flows of={of} from="caller" title="Calls by caller and agent" />
            <Flows of={of} from="agent" title="Extensions by agent" />
          </div>
        </>
      )}
    </>
  );
}

/** open leads from a node to the screen about it. */
function open(n: Node, inner: ReactNode, props: NodeProps): ReactNode {
  if (n.rest || n.name === '')
    return (
      <g key={n.id} role="img" {...props}>
        {inner}
      </g>
    );
  if (n.kind === 'agent')
    return (
      <Link key={n.id} to="/agents/$id" params={{ id: n.name }} {...props}>
        {inner}
      </Link>
    );
  if (n.kind === 'extension')
    return (
      <Link key={n.id} to="/extensions" search={{ uri: n.name }} {...props}>
        {inner}
      </Link>
    );
  return (
    <Link key={n.id} to="/audit" search={{ caller: n.name, type: 'call' }} {...props}>
      {inner}
    </Link>
  );
}

const many = (n: number, tone: string) => (n > 0 ? <span className={tone}>{n.toLocaleString('en')}</span> : <span className="faint">–</span>);

/** Flows says in words what is drawn. */
function Flows({ of, from, title }: { of: Traffic; from: 'caller' | 'agent'; title: string }) {
  const nodes = new Map(of.nodes.map((n) => [n.id, n]));
  const rows = of.links.map((l) => ({ l, a: nodes.get(l.from), b: nodes.get(l.to) })).filter((r): r is { l: Flow; a: Node; b: Node } => r.a?.kind === from && r.b !== undefined);
  return (
    <section className="flows" aria-label={title} tabIndex={0}>
      <h2>{title}</h2>
      <table className="plain" aria-label={title}>
        <thead>
          <tr>
            <th>{from === 'caller' ? 'Caller' : 'Agent'}</th>
            <th>{from === 'caller' ? 'Agent' : 'Extension'}</th>
            <th className="end">Calls</th>
            <th className="end">Denied</th>
            <th className="end">Failed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ l, a, b }) => (
            <tr key={`${l.from} ${l.to}`}>
              <td>
                <Name of={a} />
              </td>
              <td>
                <Name of={b} />
              </td>
              <td className="end">
                {a.kind === 'caller' && a.name && b.name ? (
                  <Link to="/audit" search={{ caller: a.name, agent: b.name, type: 'call' }} aria-label={`${count(l.calls, 'call')} of ${a.name} to ${b.name}, in the audit log`}>
                    {l.calls.toLocaleString('en')}
                  </Link>
                ) : (
                  l.calls.toLocaleString('en')
                )}
              </td>
              <td className="end">{many(l.denied, 'bad')}</td>
              <td className="end">{many(l.failed, 'warn')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Name narrows the map to what it names. */
function Name({ of: n }: { of: Node }) {
  if (n.rest || n.name === '') return <span className="faint">{nameOf(n)}</span>;
  const only = n.kind === 'caller' ? { caller: n.name } : n.kind === 'agent' ? { agent: n.name } : { q: n.name };
  return (
    <Link from="/map" to="/map" search={(now) => ({ ...now, ...only })} title={n.name} aria-label={`Only ${n.kind} ${n.name}`}>
      {short(n.name, 36)}
    </Link>
  );
}
