import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useMemo } from 'react';
import { type Agent, type CardSummary, every } from '../api/client';
import { Digest } from '../parts/copy';
import { Badge, Empty, Loading, Tile, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { Donut } from '../parts/donut';
import { When } from '../parts/time';
import { decides, tones } from '../parts/trust';

interface Row extends Agent {
  card?: CardSummary | undefined;
  health: 'serving' | 'no card' | 'not served';
}

const columns: Column<Row>[] = [
  {
    id: 'health',
    title: 'Health',
    width: '110px',
    sort: (r) => r.health,
    cell: (r) => (
      <span className={`dot ${r.health === 'serving' ? 'good' : r.health === 'no card' ? 'warn' : 'bad'}`} title={r.failure}>
        {r.health}
      </span>
    ),
  },
  {
    id: 'id',
    title: 'Agent',
    width: 'minmax(150px, 1fr)',
    sort: (r) => r.id,
    cell: (r) => (
      <Link to="/agents/$id" params={{ id: r.id }} className="strong">
        {r.id}
      </Link>
    ),
  },
  { id: 'origin', title: 'From', width: '90px', sort: (r) => r.origin, cell: (r) => <span title={r.source}>{r.origin}</span> },
  {
    id: 'card',
    title: 'Card',
    width: '120px',
    sort: (r) => r.card?.state ?? '',
    cell: (r) => (r.card ? <Badge tone={tones[r.card.state]}>{r.card.state}</Badge> : <span className="faint">–</span>),
  },
  { id: 'digest', title: 'Serves', width: '125px', cell: (r) => <Digest of={r.card?.digest} /> },
  { id: 'score', title: 'Findings', width: '80px', end: true, sort: (r) => r.card?.score ?? 0, cell: (r) => r.card?.score ?? '–' },
  { id: 'seen', title: 'Card seen', width: '110px', sort: (r) => r.card?.seen ?? '', cell: (r) => <When at={r.card?.seen} /> },
  {
    id: 'why',
    title: 'What is wrong',
    width: 'minmax(240px, 2fr)',
    cell: (r) => {
      const why = r.failure ?? r.card?.failure ?? r.card?.why ?? '';
      return (
        <span className="cut" title={why}>
          {why || <span className="faint">nothing</span>}
        </span>
      );
    },
  },
];

const route = getRouteApi('/');

const kinds: Record<string, { label: string; is: (r: Row) => boolean }> = {
  failing: { label: 'Failing', is: (r) => r.health !== 'serving' },
  waiting: { label: 'Card waits', is: (r) => r.card !== undefined && decides(r.card.state) },
};

export function Fleet() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const agents = useQuery({ queryKey: ['agents'], queryFn: () => every<'agents', Agent>('/api/v1/agents', 'agents') });
  const cards = useQuery({ queryKey: ['cards'], queryFn: () => every<'cards', CardSummary>('/api/v1/cards', 'cards') });
  const rows = useMemo(() => {
    const of = new Map(cards.data?.map((c) => [c.agent, c]));
    return agents.data?.map(
      (a): Row => ({ ...a, card: of.get(a.id), health: !a.served ? 'not served' : a.failure ? 'no card' : 'serving' }),
    );
  }, [agents.data, cards.data]);
  const q = search.q ?? '';
  const shown = useMemo(() => {
    const wanted = q.toLowerCase();
    return (rows ?? []).filter(
      (r) => (kinds[search.show ?? '']?.is(r) ?? true) && (wanted === '' || `${r.id} ${r.origin} ${r.source ?? ''} ${r.card?.state ?? ''}`.toLowerCase().includes(wanted)),
    );
  }, [rows, q, search.show]);
  if (rows === undefined)
    return (
      <>
        <h1>Fleet</h1>
        {agents.isError ? <Trouble error={agents.error} again={() => void agents.refetch()} /> : <Loading />}
      </>
    );
  const count = (health: Row['health']) => rows.filter((r) => r.health === health).length;
  const waiting = rows.filter((r) => kinds.waiting?.is(r)).length;
  return (
    <>
      <h1>Fleet</h1>
      {(agents.isError || cards.isError) && <Trouble error={agents.error ?? cards.error} />}
      <div className="tiles">
        <Donut
          label="Agents"
          parts={[
            { name: 'serving', value: count('serving'), tone: 'good' },
            { name: 'no card', value: count('no card'), tone: 'warn' },
            { name: 'not served', value: count('not served'), tone: 'bad' },
          ]}
        />
        <Tile label="Failing" value={rows.length - count('serving')} tone={rows.length > count('serving') ? 'bad' : undefined} />
        <Tile label="Cards that wait" value={waiting} tone={waiting > 0 ? 'warn' : undefined} />
        <Tile label="Registered here" value={rows.filter((r) => r.origin === 'api').length} />
      </div>
      <div className="bar">
        <label className="search">
          <Search size={14} aria-hidden />
          <span className="unseen">Search agents</span>
          <input
            type="search"
            placeholder="Search by id, origin, card state"
            value={q}
            onChange={(e) => void go({ search: { ...(search.show && { show: search.show }), ...(e.target.value && { q: e.target.value }) }, replace: true })}
          />
        </label>
        <div className="tabs" role="group" aria-label="Which agents">
          {[['', 'All'] as const, ...Object.entries(kinds).map(([k, v]) => [k, v.label] as const)].map(([k, label]) => (
            <button
              key={k}
              type="button"
              aria-pressed={(search.show ?? '') === k}
              onClick={() => void go({ search: { ...(q && { q }), ...(k && { show: k }) } })}
            >
              {label}
            </button>
          ))}
        </div>
        <span className="count" role="status">
          {shown.length === rows.length ? `${rows.length} agents` : `${shown.length} of ${rows.length} agents`}
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty title="No agents yet">
          Add one below <code>agents</code> in the configuration, or register one: <code>a2a-gateway agents add</code>.
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No agent is like that">Clear the search, or show all.</Empty>
      ) : (
        <Table label="Agents" rows={shown} columns={columns} name={(r) => r.id} initial="id" />
      )}
    </>
  );
}
