import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Eye, Unplug } from 'lucide-react';
import { useMemo, useState } from 'react';
import { ask, get, has, type Me, may, type OpenStream, type OpenStreams } from '../api/client';
import { Confirm } from '../parts/confirm';
import { Filters, type Known, queryOf, wildcards } from '../parts/filters';
import { near, useAgents } from '../parts/known';
import { Cut } from '../parts/record';
import { Empty, Loading, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { When } from '../parts/time';
import { Watch } from '../parts/watch';

const route = getRouteApi('/streams');

const whole = (n: number) => n.toLocaleString('en');

const columns: Column<OpenStream>[] = [
  { id: 'began', title: 'Open since', width: '110px', sort: (s) => s.began, cell: (s) => <When at={s.began} /> },
  {
    id: 'caller',
    title: 'Caller',
    width: 'minmax(120px, 1.2fr)',
    sort: (s) => s.caller,
    cell: (s) => (
      <span className="cut" title={`${s.caller} of ${s.issuer}`}>
        {s.caller} <span className="faint">of {s.issuer}</span>
      </span>
    ),
  },
  {
    id: 'agent',
    title: 'Agent',
    width: 'minmax(100px, 1fr)',
    sort: (s) => s.agent,
    cell: (s) => (
      <Link to="/agents/$id" params={{ id: s.agent }} className="cut">
        {s.agent}
      </Link>
    ),
  },
  { id: 'skill', title: 'Skill', width: 'minmax(80px, .7fr)', sort: (s) => s.skill ?? '', cell: (s) => <Cut text={s.skill ?? ''} /> },
  { id: 'method', title: 'Method', width: 'minmax(150px, 1fr)', sort: (s) => s.method, cell: (s) => <Cut text={s.method} /> },
  {
    id: 'task',
    title: 'Task',
    width: 'minmax(100px, 1fr)',
    sort: (s) => s.task ?? '',
    cell: (s) =>
      s.task ? (
        <Link to="/tasks/$id" params={{ id: s.task }} className="cut" title={s.task}>
          <code>{s.task}</code>
        </Link>
      ) : (
        <span className="faint">none yet</span>
      ),
  },
  { id: 'form', title: 'Protocol', width: '120px', sort: (s) => `${s.binding} ${s.version}`, cell: (s) => <Cut text={`${s.binding} ${s.version}`} /> },
  { id: 'address', title: 'From', width: 'minmax(100px, .8fr)', sort: (s) => s.address ?? '', cell: (s) => <code className="cut">{s.address}</code> },
  { id: 'events', title: 'Events', width: '76px', end: true, sort: (s) => s.events, cell: (s) => whole(s.events) },
];

/** Streams are the event streams that are open, with whose they are, and how to end one. */
export function Streams() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const query = queryOf(wildcards(search));
  const queries = useQueryClient();
  const who = queries.getQueryData<Me>(['me']);
  const [chosen, choose] = useState<OpenStream | null>(null);
  const [watched, watch] = useState<OpenStream | null>(null);
  const found = useInfiniteQuery({
    queryKey: ['streams', query],
    queryFn: ({ pageParam }) => get<OpenStreams>(`/api/v1/streams?limit=1000${query && `&${query}`}${pageParam && `&cursor=${encodeURIComponent(pageParam)}`}`),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    refetchInterval: 3_000,
  });
  const end = useMutation({
    mutationFn: (id: string) => ask('DELETE', `/api/v1/streams/${encodeURIComponent(id)}`),
    onSuccess: () => choose(null),
    onSettled: () => queries.invalidateQueries({ queryKey: ['streams'] }),
  });
  const rows = useMemo(() => {
    // One that ends while pages are fetched moves others to the page before.
    const by = new Map((found.data?.pages ?? []).flatMap((p) => p.streams).map((s) => [s.id, s]));
    return [...by.values()];
  }, [found.data]);
  const last = found.data?.pages.at(-1);
  const agents = useAgents();
  const known = useMemo<Known>(() => ({
    caller: near(rows.map((s) => s.caller), ''), agent: near([...rows.map((s) => s.agent), ...agents], ''),
    task: near(rows.flatMap((s) => (s.task ? [s.task] : [])), ''),
  }), [rows, agents]);
  const all: Column<OpenStream>[] =
    who && has(who, 'operator')
      ? [
          ...columns,
          {
            id: 'do',
            title: '',
            width: '78px',
            cell: (s) => (
              <span className="icons">
                <button type="button" className="icon" aria-label={`Watch the stream of ${s.caller} at ${s.agent}`} title="Watch" onClick={() => watch(s)}>
                  <Eye size={13} aria-hidden />
                </button>
                {may(who, 'operator') && (
                  <button type="button" className="icon" aria-label={`End the stream of ${s.caller} at ${s.agent}`} title="End" onClick={() => choose(s)}>
                    <Unplug size={13} aria-hidden />
                  </button>
                )}
              </span>
            ),
          },
        ]
      : columns;
  return (
    <>
      <div className="head">
        <h1>Open streams</h1>
        <span className="count" role="status">
          {last && (last.found === last.open ? `${whole(last.open)} open` : `${whole(last.found)} of ${whole(last.open)} open`)}
        </span>
        <div className="actions">
          <Link to="/live" search={search} className="button">
            Live
          </Link>
        </div>
      </div>
      <Filters of={search} fields={['caller', 'agent', 'task']} label="Which streams" plain known={known} onAsk={({ caller, agent, task }) => void go({ search: { ...(caller && { caller }), ...(agent && { agent }), ...(task && { task }) } })} />
      {watched && <Watch of={watched} onClose={() => watch(null)} />}
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending ? (
        <Loading />
      ) : rows.length === 0 ? (
        !found.isError && (
          <Empty title="No stream is open">
            {query ? 'No open stream matches these filters. Clear them to see all.' : 'Streams are listed while they are open. Callers open one with SendStreamingMessage or SubscribeToTask.'}
          </Empty>
        )
      ) : (
        <Table label="Open streams" rows={rows} columns={all} name={(s) => s.id} initial="began" height={640} />
      )}
      {found.hasNextPage && (
        <button type="button" disabled={found.isFetching} onClick={() => void found.fetchNextPage()}>
          Show more
        </button>
      )}
      {chosen && (
        <Confirm title="End this stream?" action="End" danger busy={end.isPending} onDo={() => end.mutate(chosen.id)} onClose={() => choose(null)}>
          <p>
            {chosen.caller} is told to subscribe again. The task at {chosen.agent} continues. The audit log records that you did it. To block the caller, revoke their key or change the rules.
          </p>
          {end.isError && <Trouble error={end.error} />}
        </Confirm>
      )}
    </>
  );
}
