import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, Search } from 'lucide-react';
import { useMemo } from 'react';
import { type Adoption, every, get, type Registry } from '../api/client';
import { count, counted } from '../parts/amount';
import { Copy } from '../parts/copy';
import { Badge, Empty, Loading, Tile, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { Standings, tones } from '../parts/standings';
import { When } from '../parts/time';
import './extensions.css';

const route = getRouteApi('/extensions');

export interface ExtensionsSearch {
  view?: 'agents';
  q?: string;
  uri?: string;
  standing?: string;
  agent?: string;
  from?: number;
}

const text = (v: unknown) => (typeof v === 'string' ? v : typeof v === 'number' ? String(v) : '');

export function extensionsSearch(s: Record<string, unknown>): ExtensionsSearch {
  return {
    ...(s.view === 'agents' && { view: 'agents' as const }),
    ...(text(s.q) && { q: text(s.q) }),
    ...(text(s.uri) && { uri: text(s.uri) }),
    ...(text(s.standing) && { standing: text(s.standing) }),
    ...(text(s.agent) && { agent: text(s.agent) }),
    ...(typeof s.from === 'number' && s.from > 0 && { from: Math.floor(s.from) }),
  };
}

type Registered = Registry['extensions'][number];
type Adopted = Adoption['extensions'][number];

interface Row {
  uri: string;
  known?: Registered | undefined;
  declared: number;
  required: number;
  blocked: number;
  violations: number;
}

const statuses: Record<string, 'good' | 'warn' | 'bad' | 'calm'> = { allowed: 'good', deprecated: 'warn', blocked: 'bad', unregistered: 'warn' };

/** sums are the rows of the registry that are no extension: they count what calls had beside. */
const sums: Record<string, string> = { other: 'all others that calls asked for', none: 'none: files that calls had' };
const summed = (r: Row) => r.known?.status === 'other' && r.uri in sums;
const statusOf = (r: Row) => (summed(r) ? '' : r.known && r.known.status !== 'other' ? r.known.status : 'unregistered');

/** brief is what of a URI tells it from others in little room: its end. */
function brief(uri: string): string {
  const parts = uri.replace(/\/+$/, '').split('/');
  const end = parts.slice(-2).join('/');
  return parts.length <= 2 ? uri : end;
}

/** host is whose an extension is, where its URI says so. */
const host = (uri: string) => (uri.includes('://') ? uri.split('/')[2] : '');

const many = (n: number | undefined) => (n ? n.toLocaleString('en') : <span className="faint">–</span>);

function useAdoption() {
  const registry = useQuery({ queryKey: ['extensions'], queryFn: () => get<Registry>('/api/v1/extensions') });
  const agents = useQuery({
    queryKey: ['adoption'],
    queryFn: () => every<'agents', Adoption>('/api/v1/extensions/agents', 'agents'),
    refetchInterval: 60_000,
  });
  const rows = useMemo(() => {
    if (!registry.data || !agents.data) return undefined;
    const of = new Map<string, Row>();
    const at = (uri: string) => {
      let r = of.get(uri);
      if (!r) of.set(uri, (r = { uri, declared: 0, required: 0, blocked: 0, violations: 0 }));
      return r;
    };
    for (const known of registry.data.extensions) Object.assign(at(known.uri), { known, violations: known.violations.reduce((n, v) => n + v.count, 0) });
    for (const a of agents.data)
      for (const x of a.extensions) {
        const r = at(x.uri);
        if (x.declared) r.declared++;
        if (x.standing === 'required') r.required++;
        if (x.standing === 'denied') r.blocked++;
      }
    return [...of.values()];
  }, [registry.data, agents.data]);
  return { registry, agents, rows };
}

export function Extensions() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const { registry, agents, rows } = useAdoption();
  if (rows === undefined)
    return (
      <>
        <h1>Extensions</h1>
        {registry.isError || agents.isError ? <Trouble error={registry.error ?? agents.error} again={() => void Promise.all([registry.refetch(), agents.refetch()])} /> : <Loading />}
      </>
    );
  const named = rows.filter((r) => !summed(r));
  const unregistered = named.filter((r) => statusOf(r) === 'unregistered').length;
  const violations = rows.reduce((n, r) => n + r.violations, 0);
  const views = { '': 'Extensions', agents: 'By agent' } as const;
  return (
    <>
      <h1>Extensions</h1>
      {(registry.isError || agents.isError) && <Trouble error={registry.error ?? agents.error} />}
      <div className="tiles">
        <Tile label="Registered" value={named.length - unregistered} />
        <Tile label="Not registered" value={unregistered} tone={unregistered > 0 ? 'warn' : undefined} />
        <Tile label="Declared by agents" value={rows.filter((r) => r.declared > 0).length} />
        <Tile label="Agents that require one" value={agents.data?.filter((a) => a.extensions.some((x) => x.standing === 'required')).length} />
        <Tile label="Violations" value={violations} tone={violations > 0 ? 'warn' : undefined} />
      </div>
      <div className="bar">
        <div className="tabs" role="group" aria-label="View">
          {Object.entries(views).map(([k, label]) => (
            <button key={k} type="button" aria-pressed={(search.view ?? '') === k} onClick={() => void go({ search: k === 'agents' ? { view: 'agents' } : {} })}>
              {label}
            </button>
          ))}
        </div>
        <span className="hint">
          Calls are counted by this gateway, since <When at={registry.data?.since} />.
        </span>
      </div>
      {search.view === 'agents' ? <Matrix rows={rows} agents={agents.data ?? []} /> : <List rows={rows} />}
    </>
  );
}

const columns: Column<Row>[] = [
  {
    id: 'uri',
    title: 'Extension',
    width: 'minmax(260px, 2fr)',
    sort: (r) => r.uri,
    cell: (r) => (
      <Link from="/extensions" to="/extensions" search={(s) => ({ ...s, uri: r.uri })} className="strong" title={r.uri}>
        {summed(r) ? sums[r.uri] : brief(r.uri)} <span className="faint">{host(r.uri)}</span>
      </Link>
    ),
  },
  {
    id: 'status',
    title: 'Registry',
    width: '110px',
    sort: (r) => statusOf(r),
    cell: (r) => (statusOf(r) ? <Badge tone={statuses[statusOf(r)] ?? 'calm'}>{statusOf(r)}</Badge> : <span className="faint">–</span>),
  },
  { id: 'declared', title: 'Declared', width: '80px', end: true, sort: (r) => r.declared, cell: (r) => many(r.declared) },
  { id: 'required', title: 'Required', width: '80px', end: true, sort: (r) => r.required, cell: (r) => many(r.required) },
  { id: 'blocked', title: 'Denied', width: '70px', end: true, sort: (r) => r.blocked, cell: (r) => many(r.blocked) },
  { id: 'activated', title: 'Active', width: '70px', end: true, sort: (r) => active(r), cell: (r) => many(active(r)) },
  { id: 'inactive', title: 'Inactive', width: '85px', end: true, sort: (r) => r.known?.calls.inactive ?? 0, cell: (r) => many(r.known?.calls.inactive) },
  { id: 'refused', title: 'Refused', width: '75px', end: true, sort: (r) => r.known?.calls.refused ?? 0, cell: (r) => many(r.known?.calls.refused) },
  { id: 'violations', title: 'Violations', width: '85px', end: true, sort: (r) => r.violations, cell: (r) => many(r.violations) },
];

const active = (r: Row) => (r.known ? r.known.calls.activated + r.known.calls.injected + r.known.calls.provided : 0);

function List({ rows }: { rows: Row[] }) {
  const search = route.useSearch();
  const go = route.useNavigate();
  const q = (search.q ?? '').toLowerCase();
  const shown = useMemo(() => rows.filter((r) => q === '' || `${r.uri} ${r.known?.description ?? ''} ${statusOf(r)}`.toLowerCase().includes(q)), [rows, q]);
  const chosen = rows.find((r) => r.uri === search.uri);
  return (
    <>
      <div className="bar">
        <Find label="Search extensions" hint="Search by URI, text, status" value={search.q ?? ''} onFind={(v) => void go({ search: v ? { q: v } : {}, replace: true })} />
        <span className="count" role="status">
          {counted(shown.length, rows.length, 'extension')}
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty title="No extensions yet">
          No agent card declares one, and the configuration registers none. Add entries below <code>extensions</code>, as in <code>config.example.yaml</code>, and reload.
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No extension matches">Clear the search to see all of them.</Empty>
      ) : (
        <Table label="Extensions" rows={shown} columns={columns} name={(r) => r.uri} height={chosen ? 330 : 620} />
      )}
      {search.uri && (chosen ? <Detail of={chosen} /> : <Empty title="There is no such extension">No agent card declares {search.uri}, and the configuration does not register it.</Empty>)}
    </>
  );
}

function Detail({ of: r }: { of: Row }) {
  const k = r.known;
  const facts: [string, React.ReactNode][] = [
    ['Kind', k?.kind !== 'other' && k?.kind],
    ['Specification', k?.specification],
    ['Replaced by', k?.replacement],
    ['Sunset', k?.sunset],
    ['Validation', k?.validation],
    ['Methods', k?.methods?.join(', ')],
    ['Hooks', k?.hooks || undefined],
  ];
  const calls: [string, number][] = k
    ? [
        ['Requested and activated', k.calls.activated],
        ['Requested, not activated', k.calls.inactive],
        ['Requested and refused', k.calls.refused],
        ['Added by the gateway', k.calls.injected],
        ['Provided by the gateway', k.calls.provided],
      ]
    : [];
  return (
    <section aria-label={`Extension ${r.uri}`} className="below">
      <div className="head">
        <h2>
          <code>{r.uri}</code> <Copy text={r.uri} label="URI" />
        </h2>
        <span className="actions">
          <Link to="/extensions" search={{ view: 'agents', uri: r.uri }} className="button">
            Agents
          </Link>
          <Link from="/extensions" to="/extensions" search={(s) => (s.q ? { q: s.q } : {})} className="button">
            Close
          </Link>
        </span>
      </div>
      {k?.description && <p>{k.description}</p>}
      <dl className="facts bare">
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
        {calls.map(([name, n]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {count(n, 'call')}
            </dd>
          </div>
        ))}
      </dl>
      {statusOf(r) === 'unregistered' && <Unregistered of={r} />}
      <h3>Violations</h3>
      {k && k.violations.length > 0 ? (
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Violation</th>
              <th scope="col">Outcome</th>
              <th scope="col">Count</th>
            </tr>
          </thead>
          <tbody>
            {k.violations.map((v) => (
              <tr key={v.fault + v.enforced}>
                <td>{v.fault}</td>
                <td>{v.enforced ? 'refused or removed' : 'recorded only'}</td>
                <td>{v.count.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p className="hint">{k ? 'No message violated it.' : 'The gateway validates registered extensions only.'}</p>
      )}
    </section>
  );
}

/** Unregistered says what to write for the gateway to know an extension. */
function Unregistered({ of: r }: { of: Row }) {
  const entry = `extensions:\n  - uri: ${JSON.stringify(r.uri)}\n    description: What it does, for this screen.\n`;
  return (
    <>
      <p>
        {r.declared > 0 ? `${count(r.declared, 'agent card declares', 'agent cards declare')} this extension` : 'The configuration of an agent names this extension'}, and the gateway’s configuration does not
        register it. The gateway negotiates it and does not validate or count it. To register it, add this entry and reload:
      </p>
      <div className="raw">
        <Copy text={entry} label="entry" />
        <pre tabIndex={0} role="region" aria-label="Entry of the configuration">
          {entry}
        </pre>
      </div>
    </>
  );
}

function Find({ label, hint, value, onFind }: { label: string; hint: string; value: string; onFind: (v: string) => void }) {
  return (
    <label className="search">
      <Search size={14} aria-hidden />
      <span className="unseen">{label}</span>
      <input type="search" placeholder={hint} value={value} onChange={(e) => onFind(e.target.value)} />
    </label>
  );
}

const wide = 5; // extensions beside each other

interface Line extends Adoption {
  of: Map<string, Adopted>;
}

/** Matrix has agents down, extensions across: as many rows as are seen, and a few columns at a time. */
function Matrix({ rows, agents }: { rows: Row[]; agents: Adoption[] }) {
  const search = route.useSearch();
  const go = route.useNavigate();
  const named = useMemo(() => {
    const used = new Set(agents.flatMap((a) => a.extensions.map((x) => x.uri)));
    const weight = (r: Row) => r.declared + r.required + r.blocked;
    return rows.filter((r) => used.has(r.uri)).sort((a, b) => weight(b) - weight(a) || (a.uri < b.uri ? -1 : 1)).map((r) => r.uri);
  }, [rows, agents]);
  const wanted = search.uri ? named.filter((u) => u === search.uri) : named;
  const from = Math.min(search.from ?? 0, Math.max(0, wanted.length - 1));
  const across = wanted.slice(from, from + wide);
  const lines = useMemo(() => agents.map((a): Line => ({ ...a, of: new Map(a.extensions.map((x) => [x.uri, x])) })), [agents]);
  const q = (search.q ?? '').toLowerCase();
  const shown = useMemo(
    () =>
      lines.filter(
        (l) =>
          (q === '' || l.agent.toLowerCase().includes(q)) &&
          (!search.uri || l.of.has(search.uri)) &&
          (!search.standing || l.extensions.some((x) => x.standing === search.standing && (!search.uri || x.uri === search.uri))),
      ),
    [lines, q, search.uri, search.standing],
  );
  const cols: Column<Line>[] = [
    {
      id: 'agent',
      title: 'Agent',
      width: 'minmax(150px, 1fr)',
      sort: (l) => l.agent,
      cell: (l) => (
        <Link from="/extensions" to="/extensions" search={(s) => ({ ...s, agent: l.agent })} className="strong">
          {l.agent}
        </Link>
      ),
    },
    ...across.map(
      (uri): Column<Line> => ({
        id: uri,
        title: brief(uri),
        width: 'minmax(160px, 1fr)',
        sort: (l) => l.of.get(uri)?.standing ?? '~',
        cell: (l) => <Cell of={l.of.get(uri)} uri={uri} />,
      }),
    ),
    { id: 'all', title: 'Total', width: '60px', end: true, sort: (l) => l.extensions.length, cell: (l) => (l.card ? many(l.extensions.length) : <span className="faint" title="the gateway has no card of it">?</span>) },
  ];
  const set = (more: Partial<ExtensionsSearch>) => void go({ search: extensionsSearch({ ...search, agent: undefined, ...more }), replace: true });
  return (
    <>
      <div className="bar">
        <Find label="Search agents" hint="Search by id" value={search.q ?? ''} onFind={(v) => set({ q: v })} />
        <label className="pick">
          Extension{' '}
          <select value={search.uri ?? ''} onChange={(e) => set({ uri: e.target.value, from: 0 })}>
            <option value="">all</option>
            {named.map((u) => (
              <option key={u} value={u}>
                {u}
              </option>
            ))}
          </select>
        </label>
        <label className="pick">
          Standing{' '}
          <select value={search.standing ?? ''} onChange={(e) => set({ standing: e.target.value })}>
            <option value="">any</option>
            {Object.keys(tones).map((s) => (
              <option key={s}>{s}</option>
            ))}
          </select>
        </label>
        {wanted.length > wide && (
          <span className="actions" role="group" aria-label="Extensions across">
            <button type="button" aria-label="Extensions before" disabled={from === 0} onClick={() => set({ from: Math.max(0, from - wide) })}>
              <ChevronLeft size={14} aria-hidden />
            </button>
            <button type="button" aria-label="Further extensions" disabled={from + wide >= wanted.length} onClick={() => set({ from: from + wide })}>
              <ChevronRight size={14} aria-hidden />
            </button>
            <span className="hint">
              {from + 1} to {from + across.length} of {wanted.length} extensions
            </span>
          </span>
        )}
        <span className="count" role="status">
          {counted(shown.length, lines.length, 'agent')}
        </span>
      </div>
      {lines.length === 0 ? (
        <Empty title="No agents yet">
          Add one below <code>agents</code> in the configuration, or register one with <code>a2a-gateway agents add</code>.
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No agent matches">Clear the search, or choose another extension or standing.</Empty>
      ) : (
        <Table key={across.join(' ')} label="Extensions by agent" rows={shown} columns={cols} name={(l) => l.agent} height={search.agent ? 330 : 620} />
      )}
      {search.agent && <Why agent={search.agent} />}
    </>
  );
}

function Cell({ of: x, uri }: { of: Adopted | undefined; uri: string }) {
  if (!x) return <span className="faint">–</span>;
  const card = x.declared ? (x.required ? 'the card declares it, as required' : 'the card declares it') : 'the card does not declare it';
  return (
    <span title={`${uri}: ${x.standing}; ${card}`}>
      <Badge tone={tones[x.standing] ?? 'calm'}>{x.standing}</Badge>
      {!x.declared && <span className="faint"> not in card</span>}
    </span>
  );
}

/** Why says of one agent why its extensions are what they are. */
function Why({ agent }: { agent: string }) {
  return (
    <section aria-label={`Extensions of ${agent}`} className="below">
      <div className="head">
        <h2>
          Extensions of <Link to="/agents/$id" params={{ id: agent }}>{agent}</Link>
        </h2>
        <span className="actions">
          <Link from="/extensions" to="/extensions" search={(s) => extensionsSearch({ ...s, agent: undefined })} className="button">
            Close
          </Link>
        </span>
      </div>
      <Standings agent={agent} />
    </section>
  );
}
