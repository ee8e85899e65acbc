import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, Search } from 'lucide-react';
import { useMemo } from 'react';
import { type Adoption, every, get, type Registry } from '../api/client';
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

const statuses: Record<string, 'good' | 'warn' | 'bad' | 'calm'> = { allowed: 'good', deprecated: 'warn', blocked: 'bad' };

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
  const violations = rows.reduce((n, r) => n + r.violations, 0);
  const views = { '': 'Extensions', agents: 'By agent' } as const;
  return (
    <>
      <h1>Extensions</h1>
      {(registry.isError || agents.isError) && <Trouble error={registry.error ?? agents.error} />}
      <div className="tiles">
        <Tile label="In the registry" value={registry.data?.extensions.filter((e) => e.status !== 'other').length} />
        <Tile label="That agents have, or should" value={rows.filter((r) => r.declared + r.required > 0).length} />
        <Tile label="Agents that require any" value={agents.data?.filter((a) => a.extensions.some((x) => x.standing === 'required')).length} />
        <Tile label="Violations" value={violations} tone={violations > 0 ? 'warn' : undefined} />
      </div>
      <div className="bar">
        <div className="tabs" role="group" aria-label="What to look at">
          {Object.entries(views).map(([k, label]) => (
            <button key={k} type="button" aria-pressed={(search.view ?? '') === k} onClick={() => void go({ search: k === 'agents' ? { view: 'agents' } : {} })}>
              {label}
            </button>
          ))}
        </div>
        <span className="hint">
          Counts are those of this gateway since <When at={registry.data?.since} />.
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
        {brief(r.uri)} <span className="faint">{host(r.uri)}</span>
      </Link>
    ),
  },
  {
    id: 'status',
    title: 'Registry',
    width: '110px',
    sort: (r) => r.known?.status ?? '',
    cell: (r) => (r.known && r.known.status !== 'other' ? <Badge tone={statuses[r.known.status] ?? 'calm'}>{r.known.status}</Badge> : <span className="faint">not known</span>),
  },
  { id: 'declared', title: 'Declared', width: '80px', end: true, sort: (r) => r.declared, cell: (r) => many(r.declared) },
  { id: 'required', title: 'Required', width: '80px', end: true, sort: (r) => r.required, cell: (r) => many(r.required) },
  { id: 'blocked', title: 'Denied', width: '70px', end: true, sort: (r) => r.blocked, cell: (r) => many(r.blocked) },
  { id: 'activated', title: 'Active', width: '70px', end: true, sort: (r) => active(r), cell: (r) => many(active(r)) },
  { id: 'inactive', title: 'Not active', width: '85px', end: true, sort: (r) => r.known?.calls.inactive ?? 0, cell: (r) => many(r.known?.calls.inactive) },
  { id: 'refused', title: 'Refused', width: '75px', end: true, sort: (r) => r.known?.calls.refused ?? 0, cell: (r) => many(r.known?.calls.refused) },
  { id: 'violations', title: 'Violations', width: '85px', end: true, sort: (r) => r.violations, cell: (r) => many(r.violations) },
];

const active = (r: Row) => (r.known ? r.known.calls.activated + r.known.calls.injected + r.known.calls.provided : 0);

function List({ rows }: { rows: Row[] }) {
  const search = route.useSearch();
  const go = route.useNavigate();
  const q = (search.q ?? '').toLowerCase();
  const shown = useMemo(() => rows.filter((r) => q === '' || `${r.uri} ${r.known?.description ?? ''} ${r.known?.status ?? ''}`.toLowerCase().includes(q)), [rows, q]);
  const chosen = rows.find((r) => r.uri === search.uri);
  return (
    <>
      <div className="bar">
        <Find label="Search extensions" hint="Search by URI, text, status" value={search.q ?? ''} onFind={(v) => void go({ search: v ? { q: v } : {}, replace: true })} />
        <span className="count" role="status">
          {shown.length === rows.length ? `${rows.length} extensions` : `${shown.length} of ${rows.length} extensions`}
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty title="No extensions yet">
          No agent’s card declares one, and <code>extensions</code> in the configuration lists none.
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No extension is like that">Clear the search.</Empty>
      ) : (
        <Table label="Extensions" rows={shown} columns={columns} name={(r) => r.uri} height={chosen ? 330 : 620} />
      )}
      {search.uri && (chosen ? <Detail of={chosen} /> : <Empty title="There is no such extension">Nobody names {search.uri}: no agent, and not the registry.</Empty>)}
    </>
  );
}

function Detail({ of: r }: { of: Row }) {
  const k = r.known;
  const facts: [string, React.ReactNode][] = [
    ['Kind', k?.kind !== 'other' && k?.kind],
    ['Specification', k?.specification],
    ['Replaced by', k?.replacement],
    ['Last day', k?.sunset],
    ['Schemas and states', k?.validation],
    ['Methods', k?.methods?.join(', ')],
    ['Hooks', k?.hooks || undefined],
  ];
  const calls: [string, number][] = k
    ? [
        ['Asked for, and active', k.calls.activated],
        ['Asked for, and not active', k.calls.inactive],
        ['Asked for, and not permitted', k.calls.refused],
        ['Asked for by the gateway alone', k.calls.injected],
        ['Done by the gateway', k.calls.provided],
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
              {n.toLocaleString('en')} {n === 1 ? 'call' : 'calls'}
            </dd>
          </div>
        ))}
      </dl>
      <h3>Violations</h3>
      {k && k.violations.length > 0 ? (
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">What is wrong</th>
              <th scope="col">What became of it</th>
              <th scope="col">How often</th>
            </tr>
          </thead>
          <tbody>
            {k.violations.map((v) => (
              <tr key={v.fault + v.enforced}>
                <td>{v.fault}</td>
                <td>{v.enforced ? 'refused, or taken out' : 'recorded only'}</td>
                <td>{v.count.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p className="hint">Nothing was held against it{k ? '' : ': the registry does not know it'}.</p>
      )}
    </section>
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
    { id: 'all', title: 'In all', width: '60px', end: true, sort: (l) => l.extensions.length, cell: (l) => (l.card ? many(l.extensions.length) : <span className="faint" title="its card is not known">?</span>) },
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
          Which is{' '}
          <select value={search.standing ?? ''} onChange={(e) => set({ standing: e.target.value })}>
            <option value="">anything</option>
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
          {shown.length === lines.length ? `${lines.length} agents` : `${shown.length} of ${lines.length} agents`}
        </span>
      </div>
      {lines.length === 0 ? (
        <Empty title="No agents yet">Extensions are shown by agent as soon as there is one.</Empty>
      ) : shown.length === 0 ? (
        <Empty title="No agent is like that">Clear the search, or ask for anything.</Empty>
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
