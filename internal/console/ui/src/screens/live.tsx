import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { most, type Row, type Seen, Tail } from '../api/tail';
import { Filters, queryOf, wildcards } from '../parts/filters';
import { agentOf, caller, Clock, Cut, Decision, milliseconds, RecordLink, taskOf, what, why } from '../parts/record';
import { Badge, Empty, Loading, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';

const route = getRouteApi('/live');

const columns: Column<Row>[] = [
  { id: 'time', title: 'Time', width: '108px', cell: ({ record: r }) => r && <RecordLink of={r}><Clock at={r.time} /></RecordLink> },
  { id: 'decision', title: 'Decision', width: '84px', cell: ({ record: r }) => (r ? <Decision of={r} /> : <Badge tone="warn">gap</Badge>) },
  { id: 'caller', title: 'Caller', width: 'minmax(100px, 1fr)', cell: ({ record: r }) => r && <Cut text={caller(r)} /> },
  { id: 'agent', title: 'Agent', width: 'minmax(90px, .8fr)', cell: ({ record: r }) => r && <Cut text={agentOf(r)} /> },
  { id: 'skill', title: 'Skill', width: 'minmax(70px, .6fr)', cell: ({ record: r }) => r && <Cut text={r.skill ?? r.attrs?.skill ?? ''} /> },
  { id: 'what', title: 'Method or event', width: 'minmax(170px, 1.2fr)', cell: ({ record: r, gap }) => (r ? <Cut text={what(r)} /> : <Cut text={gap ?? ''} />) },
  {
    id: 'task',
    title: 'Task',
    width: 'minmax(80px, .8fr)',
    cell: ({ record: r }) =>
      r && taskOf(r) ? (
        <Link to="/live" search={(s) => ({ ...s, task: taskOf(r) })} title={`Follow task ${taskOf(r)}`} className="cut">
          <code>{taskOf(r)}</code>
        </Link>
      ) : null,
  },
  { id: 'status', title: 'Status', width: '60px', end: true, cell: ({ record: r }) => r?.status },
  { id: 'duration', title: 'Took', width: '76px', end: true, cell: ({ record: r }) => r?.duration_ms !== undefined && milliseconds(r.duration_ms) },
  { id: 'events', title: 'Events', width: '58px', end: true, cell: ({ record: r }) => r?.events },
  { id: 'why', title: 'Why', width: 'minmax(120px, 1.2fr)', cell: ({ record: r }) => r && <Cut text={why(r)} /> },
];

export function Live() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const query = queryOf(wildcards(search));
  const tail = useMemo(() => new Tail(query), [query]);
  const now = useSyncExternalStore(tail.listen, tail.shown);
  const [held, hold] = useState<Seen | null>(null); // what is shown while it is paused
  const queries = useQueryClient();
  useEffect(() => hold(null), [tail]);
  useEffect(() => {
    if (now.error?.status === 401) queries.setQueryData(['me'], null);
  }, [now.error, queries]);
  const shown = held ?? now;
  return (
    <>
      <div className="head">
        <h1>Live</h1>
        <span className={`dot ${now.state === 'live' ? (held ? 'warn' : 'good') : 'bad'}`} role="status">
          {now.state === 'connecting' ? 'connecting' : now.state === 'waiting' ? 'connecting again' : held ? `paused, ${now.seen - held.seen} more since` : 'live'}
        </span>
        <span className="count">{shown.rows.length === most ? `the last ${most} of ${shown.seen} records` : `${shown.rows.length} shown`}</span>
        <div className="actions">
          <Link to="/audit" search={search} className="button">
            Search the log
          </Link>
          <button type="button" aria-pressed={held !== null} onClick={() => hold(held ? null : now)}>
            {held ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />} {held ? 'Resume' : 'Pause'}
          </button>
        </div>
      </div>
      <Filters of={search} fields={['caller', 'agent', 'skill', 'method']} label="Which records" onAsk={(a) => void go({ search: a })} />
      {now.error && <Trouble error={now.error} />}
      {shown.rows.length > 0 ? (
        <Table label="Records as they are made" rows={shown.rows} columns={columns} name={(r) => r.key} height={680} />
      ) : now.state === 'live' ? (
        <Empty title="Nothing yet">
          {query ? 'No record matches these filters yet. Clear them to see every record.' : 'Calls and events of the gateway appear here as they are recorded. To make a call, use Try it or a2a-gateway call.'}
        </Empty>
      ) : (
        !now.error && <Loading />
      )}
    </>
  );
}
