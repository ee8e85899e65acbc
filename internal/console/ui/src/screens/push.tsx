import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { RotateCw, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { ask, type Delivery, type Depth, get, type Me, may } from '../api/client';
import { whole } from '../parts/amount';
import { Confirm } from '../parts/confirm';
import { Empty, Loading, Tile, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { When } from '../parts/time';

const route = getRouteApi('/push');

/** owner takes the key of a caller apart: issuer and subject, each behind its length in bytes. */
function owner(key: string): { subject: string; issuer: string } {
  const bytes = new TextEncoder().encode(key);
  const cut = (from: number): [string, number] => {
    const colon = bytes.indexOf(0x3a, from);
    const end = colon + 1 + Number(new TextDecoder().decode(bytes.slice(from, colon)));
    return colon < 0 || !(end <= bytes.length) ? ['', -1] : [new TextDecoder().decode(bytes.slice(colon + 1, end)), end];
  };
  const [issuer, next] = cut(0);
  const [subject, end] = next < 0 ? ['', -1] : cut(next);
  return end === bytes.length ? { subject, issuer } : { subject: key, issuer: '' };
}

function Owner({ of }: { of?: string | undefined }) {
  if (!of) return null;
  const { subject, issuer } = owner(of);
  return (
    <span className="cut" title={issuer ? `${subject} of ${issuer}` : subject}>
      {subject}
      {issuer && issuer !== subject && <span className="faint"> of {issuer}</span>}
    </span>
  );
}

type Page = { deliveries: Delivery[]; next?: string };

export function Push() {
  const state = route.useSearch().state ?? 'dead';
  const go = route.useNavigate();
  const queries = useQueryClient();
  const who = queries.getQueryData<Me>(['me']);
  const [dropped, setDropped] = useState<Delivery | null>(null);
  const depth = useQuery({ queryKey: ['push'], queryFn: () => get<Depth>('/api/v1/push'), refetchInterval: 5_000 });
  const list = useInfiniteQuery({
    queryKey: ['push', 'deliveries', state],
    queryFn: ({ pageParam }) => get<Page>(`/api/v1/push/deliveries?state=${state}&limit=500${pageParam && `&cursor=${encodeURIComponent(pageParam)}`}`),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
  });
  const settle = () => queries.invalidateQueries({ queryKey: ['push'] });
  const retry = useMutation({ mutationFn: (id: string) => ask('POST', `/api/v1/push/deliveries/${encodeURIComponent(id)}/retry`), onSettled: settle });
  const drop = useMutation({
    mutationFn: (id: string) => ask('DELETE', `/api/v1/push/deliveries/${encodeURIComponent(id)}`),
    onSuccess: () => setDropped(null),
    onSettled: settle,
  });
  const rows = useMemo(() => list.data?.pages.flatMap((p) => p.deliveries) ?? [], [list.data]);
  const operates = who !== undefined && may(who, 'operator');
  const columns: Column<Delivery>[] = [
    { id: 'agent', title: 'Agent', width: 'minmax(110px, 1fr)', sort: (d) => d.agent ?? '', cell: (d) => d.agent },
    { id: 'task', title: 'Task', width: 'minmax(110px, 1fr)', sort: (d) => d.task ?? '', cell: (d) => <code className="cut">{d.task}</code> },
    { id: 'target', title: 'Receiver', width: 'minmax(170px, 1.4fr)', sort: (d) => d.target ?? '', cell: (d) => <span className="cut">{d.target}</span> },
    { id: 'owner', title: 'Owner', width: 'minmax(90px, 1fr)', sort: (d) => d.owner ?? '', cell: (d) => <Owner of={d.owner} /> },
    { id: 'attempts', title: 'Attempts', width: '90px', end: true, sort: (d) => d.attempts, cell: (d) => d.attempts },
    { id: 'created', title: 'Since', width: '110px', sort: (d) => d.created, cell: (d) => <When at={d.created} /> },
    ...(state === 'waiting' ? [{ id: 'due', title: 'Next attempt', width: '110px', sort: (d: Delivery) => d.due ?? '', cell: (d: Delivery) => <When at={d.due} /> }] : []),
    {
      id: 'failure',
      title: 'Last failure',
      width: 'minmax(160px, 1.6fr)',
      cell: (d) => {
        const why = d.sealed ? 'encrypted with a key that the gateway no longer has: it cannot be delivered' : (d.failure ?? '');
        return (
          <span className="cut" title={why}>
            {why || <span className="faint">none</span>}
          </span>
        );
      },
    },
  ];
  if (operates)
    columns.push({
      id: 'do',
      title: '',
      width: '72px',
      cell: (d) => (
        <span className="actions">
          {state === 'dead' && !d.sealed && (
            <button type="button" className="icon" aria-label={`Retry ${d.id}`} title="Retry" disabled={retry.isPending} onClick={() => retry.mutate(d.id)}>
              <RotateCw size={13} aria-hidden />
            </button>
          )}
          <button type="button" className="icon" aria-label={`Drop ${d.id}`} title="Drop" onClick={() => setDropped(d)}>
            <Trash2 size={13} aria-hidden />
          </button>
        </span>
      ),
    });
  return (
    <>
      <h1>Push notifications</h1>
      {depth.isError && <Trouble error={depth.error} again={() => void depth.refetch()} />}
      {depth.data && (
        <div className="tiles">
          <Tile label="Pending" value={whole(depth.data.waiting)} />
          <Tile label="Failed for good" value={whole(depth.data.dead)} tone={depth.data.dead > 0 ? 'bad' : undefined} />
          <Tile label="Oldest pending" value={<When at={depth.data.oldest} />} />
        </div>
      )}
      <div className="bar">
        <div className="tabs" role="group" aria-label="Which deliveries">
          <button type="button" aria-pressed={state === 'dead'} onClick={() => void go({ search: {} })}>
            Failed for good
          </button>
          <button type="button" aria-pressed={state === 'waiting'} onClick={() => void go({ search: { state: 'waiting' } })}>
            Pending
          </button>
        </div>
        <span className="count" role="status">
          {rows.length} shown
        </span>
      </div>
      {retry.isError && <Trouble error={retry.error} />}
      {list.isError && <Trouble error={list.error} again={() => void list.refetch()} />}
      {list.isPending ? (
        <Loading />
      ) : rows.length === 0 ? (
        !list.isError && (
          <Empty title={state === 'dead' ? 'No notification has failed for good' : 'No notification is pending'}>
            {state === 'dead' ? (
              <>
                A notification that its receiver does not accept is listed here after its last attempt (<code>push.attempts</code>). You can then retry or drop it.
              </>
            ) : (
              <>Notifications are listed here until their receiver accepts them or the last attempt fails. Callers subscribe with <code>CreateTaskPushNotificationConfig</code>.</>
            )}
          </Empty>
        )
      ) : (
        <Table label="Deliveries" rows={rows} columns={columns} name={(d) => d.id} initial="created" />
      )}
      {list.hasNextPage && (
        <button type="button" disabled={list.isFetching} onClick={() => void list.fetchNextPage()}>
          Show more
        </button>
      )}
      {dropped && (
        <Confirm title="Drop this notification?" action="Drop" danger busy={drop.isPending} onDo={() => drop.mutate(dropped.id)} onClose={() => setDropped(null)}>
          <p>
            {dropped.target} will not be notified about task <code>{dropped.task}</code>. You cannot undo this. The audit log records that you did it.
          </p>
          {drop.isError && <Trouble error={drop.error} />}
        </Confirm>
      )}
    </>
  );
}
