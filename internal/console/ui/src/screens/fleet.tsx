import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useMemo } from 'react';
import { type Agent, type CardSummary, every, get, type Trends } from '../api/client';
import { counted } from '../parts/amount';
import { Badge, Empty, Loading, Tile, Trouble } from '../parts/state';
import { milliseconds } from '../parts/record';
import { type Column, Table } from '../parts/table';
import { Donut } from '../parts/donut';
import { Sparkline } from '../parts/sparkline';
import { health, reached, reason, tally, toneOf, words } from '../parts/health';
import { decides, tones } from '../parts/trust';

interface Row extends Agent {
  card?: CardSummary | undefined;
  steps?: number[] | undefined; // of its traffic
  every: number;
  calls: number;
  took?: number | undefined; // mean seconds until it answers
  health: string; // a word for it
}

/** spoken is the versions and bindings of an agent, in few words. */
function spoken(a: Agent): string {
  const of = new Map<string, string[]>();
  for (const i of a.interfaces ?? []) of.set(i.version, [...(of.get(i.version) ?? []), short[i.binding] ?? i.binding]);
  return [...of].map(([v, b]) => `${v} ${b.join(', ')}`).join(' · ');
}

const short: Record<string, string> = { JSONRPC: 'RPC', 'HTTP+JSON': 'HTTP', GRPC: 'gRPC' };

/** ailing says which instances of an agent get no calls or are slow: it may serve none the less. */
function ailing(a: Agent): string {
  const found = tally(a.instances ?? [], ['unhealthy', 'slow']);
  return found && `instances: ${found}`;
}

const columns: Column<Row>[] = [
  {
    id: 'health',
    title: 'Health',
    width: '110px',
    sort: (r) => words.indexOf(r.health),
    cell: (r) => (
      <span className={`dot ${toneOf(r.health)}`} title={r.failure}>
        {r.health}
      </span>
    ),
  },
  {
    id: 'id',
    title: 'Agent',
    width: 'minmax(130px, 1.6fr)',
    sort: (r) => r.id,
    cell: (r) => (
      <Link to="/agents/$id" params={{ id: r.id }} className="strong">
        {r.id}
      </Link>
    ),
  },
  {
    id: 'speaks',
    title: 'Protocol',
    width: '112px',
    sort: (r) => spoken(r),
    cell: (r) => {
      const text = spoken(r);
      return (
        <span className="cut" title={r.interfaces?.map((i) => `A2A ${i.version}, ${i.binding}`).join('\n')}>
          {text || <span className="faint">–</span>}
        </span>
      );
    },
  },
  { id: 'version', title: 'Version', width: '70px', sort: (r) => r.version ?? '', cell: (r) => <span className="cut">{r.version ?? <span className="faint">–</span>}</span> },
  {
    id: 'skills',
    title: 'Skills',
    width: '60px',
    end: true,
    sort: (r) => r.skills?.length ?? 0,
    cell: (r) => <span title={r.skills?.join('\n')}>{r.skills?.length ?? <span className="faint">–</span>}</span>,
  },
  { id: 'traffic', title: 'Last 5 minutes', width: '118px', sort: (r) => r.calls, cell: (r) => <Sparkline of={r.steps} every={r.every} /> },
  {
    id: 'took',
    title: 'Response',
    width: '70px',
    end: true,
    sort: (r) => r.took ?? -1,
    cell: (r) => (r.took === undefined ? <span className="faint">–</span> : <span title="Mean time to answer in the last 5 minutes">{milliseconds(r.took * 1000)}</span>),
  },
  {
    id: 'card',
    title: 'Card',
    width: '105px',
    sort: (r) => r.card?.state ?? '',
    cell: (r) => (r.card ? <Badge tone={tones[r.card.state]}>{r.card.state}</Badge> : <span className="faint">–</span>),
  },
  { id: 'score', title: 'Findings', width: '68px', end: true, sort: (r) => r.card?.score ?? 0, cell: (r) => r.card?.score ?? '–' },
  { id: 'origin', title: 'Source', width: '60px', sort: (r) => r.origin, cell: (r) => <span title={r.source}>{r.origin}</span> },
  {
    id: 'why',
    title: 'Problem',
    width: 'minmax(112px, 2fr)',
    cell: (r) => {
      const why = [reason(r) ?? r.card?.failure ?? r.card?.why, ailing(r)].filter(Boolean).join('; ');
      return (
        <span className="cut" title={why}>
          {why || <span className="faint">none</span>}
        </span>
      );
    },
  },
];

const route = getRouteApi('/fleet');

const kinds: Record<string, { label: string; is: (r: Row) => boolean }> = {
  failing: { label: 'Not serving', is: (r) => !reached(r) },
  waiting: { label: 'Card pending', is: (r) => r.card !== undefined && decides(r.card.state) },
};

export function Fleet() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const agents = useQuery({ queryKey: ['agents'], queryFn: () => every<'agents', Agent>('/api/v1/agents', 'agents') });
  const cards = useQuery({ queryKey: ['cards'], queryFn: () => every<'cards', CardSummary>('/api/v1/cards', 'cards') });
  const trends = useQuery({ queryKey: ['trends'], queryFn: () => get<Trends>('/api/v1/trends'), refetchInterval: 10_000 });
  const rows = useMemo(() => {
    const every = trends.data?.every ?? 10;
    const of = new Map(cards.data?.map((c) => [c.agent, c]));
    return agents.data?.map(
      (a): Row => {
        const steps = trends.data?.agents[a.id];
        return {
          ...a,
          card: of.get(a.id),
          health: health(a),
          steps,
          every,
          took: trends.data?.took[a.id],
          calls: steps?.reduce((sum, n) => sum + n, 0) ?? 0,
        };
      },
    );
  }, [agents.data, cards.data, trends.data]);
  const q = search.q ?? '';
  const shown = useMemo(() => {
    const wanted = q.toLowerCase();
    return (rows ?? []).filter(
      (r) => (kinds[search.show ?? '']?.is(r) ?? true) && (wanted === '' || `${r.id} ${r.health} ${r.origin} ${r.source ?? ''} ${r.card?.state ?? ''} ${spoken(r)} ${r.skills?.join(' ') ?? ''}`.toLowerCase().includes(wanted)),
    );
  }, [rows, q, search.show]);
  if (rows === undefined)
    return (
      <>
        <h1>Fleet</h1>
        {agents.isError ? <Trouble error={agents.error} again={() => void agents.refetch()} /> : <Loading />}
      </>
    );
  const count = (word: string) => rows.filter((r) => r.health === word).length;
  const silent = rows.filter((r) => kinds.failing?.is(r)).length;
  const waiting = rows.filter((r) => kinds.waiting?.is(r)).length;
  return (
    <>
      <h1>Fleet</h1>
      {(agents.isError || cards.isError) && <Trouble error={agents.error ?? cards.error} />}
      <div className="tiles">
        <Donut
          label="Agents"
          parts={words.flatMap((name) => (name === 'serving' || count(name) > 0 ? [{ name, value: count(name), tone: toneOf(name) }] : [])).reverse()}
        />
        <Tile label="Not serving" value={silent} tone={silent > 0 ? 'bad' : undefined} />
        <Tile label="Cards pending approval" value={waiting} tone={waiting > 0 ? 'warn' : undefined} />
        <Tile label="Registered at run time" value={rows.filter((r) => r.origin === 'api').length} />
      </div>
      <div className="bar">
        <label className="search">
          <Search size={14} aria-hidden />
          <span className="unseen">Search agents</span>
          <input
            type="search"
            placeholder="Search by id, skill, version, card state"
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
          {counted(shown.length, rows.length, 'agent')}
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty title="No agents yet">
          Add one below <code>agents</code> in the configuration, or register one with <code>a2a-gateway agents add</code>.
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No agent matches">Clear the search, or show all agents.</Empty>
      ) : (
        <Table label="Agents" rows={shown} columns={columns} name={(r) => r.id} initial="id" />
      )}
    </>
  );
}
