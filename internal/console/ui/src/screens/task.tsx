import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowLeftRight, Bell, Eye, Flag, Radio, Send } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { get, has, type Me, type OpenStream, type OpenStreams } from '../api/client';
import { count } from '../parts/amount';
import { Copy } from '../parts/copy';
import { agentOf, type AuditRecord, caller, Clock, Decision, milliseconds, RecordLink, what, why } from '../parts/record';
import { Empty, Loading, Trouble } from '../parts/state';
import { Watch } from '../parts/watch';
import { Words } from './task-words';

const route = getRouteApi('/tasks/$id');

type Page = { records: AuditRecord[]; next?: string };

interface Step {
  record: AuditRecord;
  kind: keyof typeof kinds;
  from: number; // when it began
  to: number;
}

const kinds = {
  call: { name: 'call', icon: ArrowLeftRight },
  stream: { name: 'stream', icon: Radio },
  notification: { name: 'from the agent', icon: Bell },
  webhook: { name: 'webhook', icon: Send },
  event: { name: 'event', icon: Flag },
};

function kindOf(r: AuditRecord): Step['kind'] {
  if (r.event === 'push.delivery') return 'webhook';
  if (r.type === 'event') return 'event';
  if (r.method === 'PushNotification') return 'notification';
  return r.streamed || (r.type === 'intent' && /Streaming|Subscribe/.test(what(r))) ? 'stream' : 'call';
}

function step(record: AuditRecord): Step {
  const to = Date.parse(record.time);
  const took = record.duration_ms ?? Number(record.attrs?.duration_ms ?? 0);
  return { record, kind: kindOf(record), from: record.start ? Date.parse(record.start) : to - took, to };
}

export function TaskScreen() {
  const { id } = route.useParams();
  const found = useInfiniteQuery({
    queryKey: ['timeline', id],
    queryFn: ({ pageParam }) => get<Page>(`/api/v1/tasks/${encodeURIComponent(id)}/timeline?limit=500${pageParam && `&cursor=${encodeURIComponent(pageParam)}`}`),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
  });
  // Calls about the task that have begun and not ended: the newest, of which there are few.
  const begun = useQuery({ queryKey: ['begun', id], queryFn: () => get<Page>(`/api/v1/audit/records?type=intent&task=${encodeURIComponent(id)}&limit=100`) });
  const steps = useMemo(() => {
    const ended = found.data?.pages.flatMap((p) => p.records) ?? [];
    const requests = new Set(ended.map((r) => r.request_id));
    const open = found.hasNextPage ? [] : (begun.data?.records ?? []).filter((r) => !requests.has(r.request_id));
    return [...ended, ...open].map(step).sort((a, b) => a.from - b.from || a.record.seq - b.record.seq);
  }, [found.data, found.hasNextPage, begun.data]);
  return (
    <>
      <p className="path">
        <Link to="/audit" search={{ task: id }}>
          Audit
        </Link>{' '}
        / <span>task</span>
      </p>
      <div className="head">
        <h1>
          Task <code>{id}</code>
        </h1>
        <Copy text={id} label="task" />
      </div>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {found.data && steps.length === 0 && <Empty title="No record of this task">Check its id. Retention (telemetry.audit.retention) may have removed its records.</Empty>}
      <Open task={id} />
      {steps.length > 0 && <Conversation steps={steps} />}
      {steps.length > 0 && <Words task={id} records={steps.map((s) => s.record)} />}
      {found.hasNextPage && (
        <button type="button" className="more" disabled={found.isFetching} onClick={() => void found.fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}

/** Open are the streams of the task that are open at this gateway, for who may watch them. */
function Open({ task }: { task: string }) {
  const who = useQueryClient().getQueryData<Me>(['me']);
  const [watched, watch] = useState<OpenStream | null>(null);
  const operates = who !== undefined && who !== null && has(who, 'operator');
  const found = useQuery({
    queryKey: ['streams', 'task', task],
    queryFn: () => get<OpenStreams>(`/api/v1/streams?limit=20&task=${encodeURIComponent(task)}`),
    enabled: operates,
    refetchInterval: 3_000,
  });
  const open = (found.data?.streams ?? []).filter((s) => s.id !== watched?.id);
  return (
    <>
      {open.map((s) => (
        <p key={s.id}>
          <button type="button" onClick={() => watch(s)}>
            <Eye size={14} aria-hidden /> Watch the open stream of {s.caller}
          </button>
        </p>
      ))}
      {watched && <Watch of={watched} onClose={() => watch(null)} />}
    </>
  );
}

function Conversation({ steps }: { steps: Step[] }) {
  const begin = Math.min(...steps.map((s) => s.from));
  const end = Math.max(...steps.map((s) => s.to));
  const all = Math.max(end - begin, 1);
  const distinct = (of: (r: AuditRecord) => string | undefined) => [...new Set(steps.map((s) => of(s.record)).filter((v): v is string => !!v))];
  const state = steps.filter((s) => s.record.task_state).sort((a, b) => a.record.seq - b.record.seq).at(-1)?.record.task_state;
  const contexts = distinct((r) => r.context_id);
  return (
    <>
      <dl className="facts">
        <Fact name="Callers">{distinct((r) => r.principal).join(', ') || '–'}</Fact>
        <Fact name="Agents">
          {distinct(agentOf).map((a) => (
            <Link key={a} to="/agents/$id" params={{ id: a }}>
              {a}{' '}
            </Link>
          ))}
        </Fact>
        <Fact name="Last state seen">{state ?? '–'}</Fact>
        <Fact name="Over">
          {milliseconds(all)}, from <Clock at={new Date(begin).toISOString()} />
        </Fact>
        <Fact name="Context">
          {contexts.length === 0 && '–'}
          {contexts.map((c) => (
            <Link key={c} to="/audit" search={{ context: c }}>
              <code>{c}</code>
            </Link>
          ))}
        </Fact>
      </dl>
      <ol className="timeline" aria-label="Conversation">
        {steps.map((s) => {
          const { name, icon: Icon } = kinds[s.kind];
          return (
            <li key={s.record.seq} className={s.kind}>
              <div className="at">
                <RecordLink of={s.record}>
                  <Clock at={new Date(s.from).toISOString()} />
                </RecordLink>
                <span className="faint">+{milliseconds(s.from - begin)}</span>
              </div>
              <span className="kind">
                <Icon size={14} aria-hidden /> {name}
              </span>
              <div className="said">
                <Said of={s} />
              </div>
              <div className="span" aria-hidden>
                <div style={{ marginLeft: `min(${((s.from - begin) / all) * 100}%, 100% - 3px)`, width: `${((s.to - s.from) / all) * 100}%` }} />
              </div>
            </li>
          );
        })}
      </ol>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const yes = (v: unknown, text: string) => (v ? text : '');

/** Said is who told whom what, and what came of it. */
function Said({ of: { record: r, kind } }: { of: Step }) {
  const a = r.attrs ?? {};
  if (kind === 'webhook')
    return (
      <>
        <span>
          gateway → {a.target_host} <Decision of={r} />
        </span>
        <span className="hint">{[`attempt ${a.attempt}`, a.status, a.why, a.duration_ms && `${a.duration_ms} ms`].filter(Boolean).join(' · ')}</span>
      </>
    );
  if (kind === 'event')
    return (
      <>
        <span>
          {r.event} <Decision of={r} />
        </span>
        <span className="hint">{[caller(r), why(r)].filter(Boolean).join(' · ')}</span>
      </>
    );
  const came = [
    r.type === 'intent' && 'under way',
    r.status,
    r.duration_ms !== undefined && milliseconds(r.duration_ms),
    r.task_state,
    kind === 'stream' && r.type === 'call' && count(r.events ?? 0, 'event'),
    r.end,
    yes(r.resumed, 'the client came back'),
    yes(r.replayed, `${count(Number(r.replayed), 'event')} replayed`),
    yes(r.regained, 'the agent’s stream was regained'),
    yes(r.gap, 'events were missed'),
    r.decision !== 'allow' && why(r),
  ];
  return (
    <>
      <span>
        {kind === 'notification' ? `${agentOf(r)} → gateway` : `${caller(r) || 'somebody'} → ${agentOf(r)}`} <strong>{what(r)}</strong> {r.skill && `(${r.skill})`} <Decision of={r} />
      </span>
      <span className="hint">{came.filter(Boolean).join(' · ')}</span>
    </>
  );
}
