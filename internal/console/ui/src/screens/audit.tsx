import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Download, RotateCw, ShieldCheck } from 'lucide-react';
import { type FormEvent, useMemo } from 'react';
import { ask, get, has, type Me, type Verification } from '../api/client';
import { count } from '../parts/amount';
import { Copy } from '../parts/copy';
import { asked, Filters, queryOf, wildcards } from '../parts/filters';
import { type Range, ranged, RangeFields, times } from '../parts/range';
import { agentOf, type AuditRecord, caller, cause, Clock, decider, Decision, milliseconds, Pick, RecordLink, stageOf, statusOf, taskOf, what } from '../parts/record';
import { Refusal } from '../parts/refusal';
import { Badge, Empty, Loading, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { When } from '../parts/time';

const route = getRouteApi('/audit');

type Page = { records: AuditRecord[]; next?: string };

const columns: Column<AuditRecord>[] = [
  { id: 'time', title: 'Time', width: '96px', cell: (r) => <RecordLink of={r}><Clock at={r.time} /></RecordLink> },
  { id: 'decision', title: 'Decision', width: '66px', cell: (r) => (r.decision ? <Pick by="decision" text={r.decision}><Decision of={r} /></Pick> : <Decision of={r} />) },
  { id: 'caller', title: 'Caller', width: 'minmax(80px, .8fr)', cell: (r) => <Pick by="caller" text={caller(r)} /> },
  { id: 'agent', title: 'Agent', width: 'minmax(68px, .8fr)', cell: (r) => <Pick by="agent" text={agentOf(r)} /> },
  { id: 'skill', title: 'Skill', width: 'minmax(60px, .6fr)', cell: (r) => <Pick by="skill" text={skillOf(r)} /> },
  { id: 'what', title: 'Method or event', width: 'minmax(126px, 1fr)', cell: (r) => <Pick by={r.method ? 'method' : 'event'} text={what(r)} /> },
  { id: 'status', title: 'Status', width: '92px', end: true, cell: (r) => statusOf(r) },
  { id: 'stage', title: 'Refused by', width: '96px', cell: (r) => <Pick by="stage" text={stageOf(r)} /> },
  { id: 'rule', title: 'Rule or limit', width: 'minmax(98px, .7fr)', cell: (r) => <Pick by="rule" text={decider(r)}><span className="breaks">{decider(r)}</span></Pick> },
  { id: 'why', title: 'Why', width: 'minmax(190px, 1.8fr)', cell: (r) => <span className={cause(r) ? 'breaks' : 'faint'}>{cause(r) || '–'}</span> },
  { id: 'duration', title: 'Took', width: '64px', end: true, cell: (r) => r.duration_ms !== undefined && milliseconds(r.duration_ms) },
  {
    id: 'task',
    title: 'Task',
    width: 'minmax(64px, .5fr)',
    cell: (r) =>
      taskOf(r) ? (
        <Link to="/tasks/$id" params={{ id: taskOf(r) }} title={`Timeline of task ${taskOf(r)}`} className="cut">
          <code>{taskOf(r)}</code>
        </Link>
      ) : null,
  },
];

const skillOf = (r: AuditRecord) => r.skill ?? r.attrs?.skill ?? '';

/** columnsOf are those that any of the rows has something in, so that the reasons have room. Days are wider than times of today. */
function columnsOf(rows: AuditRecord[]): Column<AuditRecord>[] {
  const today = new Date().toDateString();
  const dated = rows.some((r) => new Date(r.time).toDateString() !== today);
  const empty = new Set([...(rows.some(skillOf) ? [] : ['skill']), ...(rows.some(taskOf) ? [] : ['task'])]);
  return columns.filter((c) => !empty.has(c.id)).map((c) => (c.id === 'time' && dated ? { ...c, width: '178px' } : c));
}

export function Audit() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const queries = useQueryClient();
  const who = queries.getQueryData<Me>(['me']);
  const [which, range] = [asked({ ...search }), ranged({ ...search })];
  const found = useInfiniteQuery({
    queryKey: ['records', queryOf(search)],
    queryFn: ({ pageParam }) => get<Page>(`/api/v1/audit/records?${queryOf({ ...wildcards(which), ...times(range), limit: '100', ...(pageParam && { cursor: pageParam }) })}`),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    refetchInterval: false,
    refetchOnWindowFocus: false,
  });
  const rows = useMemo(() => found.data?.pages.flatMap((p) => p.records) ?? [], [found.data]);
  const shown = useMemo(() => columnsOf(rows), [rows]);
  const operates = who !== undefined && has(who, 'operator');
  const download = (format: string) => `/api/v1/audit/export?${queryOf({ ...wildcards(which), ...times(range), format })}`;
  return (
    <>
      <div className="head">
        <h1>Audit</h1>
        <span className="count" role="status">
          {found.isPending ? '' : `${rows.length} shown${found.hasNextPage ? ', and there are more' : ''}`}
        </span>
        <div className="actions">
          {operates && (
            <>
              <a className="button" href={download('jsonl')} download="audit.jsonl">
                <Download size={14} aria-hidden /> Export JSONL
              </a>
              <a className="button" href={download('ocsf')} download="audit-ocsf.jsonl">
                <Download size={14} aria-hidden /> Export OCSF
              </a>
            </>
          )}
          <Link to="/live" search={which} className="button">
            Follow live
          </Link>
          <button type="button" disabled={found.isFetching} onClick={() => void found.refetch()}>
            <RotateCw size={14} aria-hidden /> Refresh
          </button>
        </div>
      </div>
      <Filters of={which} fields={['caller', 'issuer', 'agent', 'skill', 'method', 'reason', 'rule', 'task']} label="Which records" onAsk={(a) => void go({ search: { ...a, ...range } })}>
        <RangeFields of={range} onAsk={(r: Range) => void go({ search: { ...which, ...r } })} />
        {which.task && (
          <Link to="/tasks/$id" params={{ id: which.task }} className="button">
            Timeline of the task
          </Link>
        )}
      </Filters>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending ? (
        <Loading />
      ) : rows.length === 0 ? (
        !found.isError && <Empty title="No record matches">No call or event in the audit log matches these filters. Clear some, or choose another time. A filter compares the whole text; ~text finds what contains text.</Empty>
      ) : (
        <Table label="Audit records" rows={rows} columns={shown} name={(r) => String(r.seq)} height={560} wraps details={(r) => <Details of={r} operates={operates} />} />
      )}
      {found.hasNextPage && (
        <button type="button" className="more" disabled={found.isFetching} onClick={() => void found.fetchNextPage()}>
          {found.isFetchingNextPage ? 'Loading…' : 'Show more'}
        </button>
      )}
      {operates && <Integrity />}
    </>
  );
}

/** Details are what a row shows below itself: why the call was refused, and the record. */
function Details({ of: r, operates }: { of: AuditRecord; operates: boolean }) {
  return (
    <>
      {stageOf(r) && <Refusal of={r} operates={operates} />}
      <div className="raw">
        <Copy text={JSON.stringify(r, null, 2)} label={`record ${r.seq}`} />
        <pre tabIndex={0} role="region" aria-label={`Record ${r.seq}`}>
          {JSON.stringify(r, null, 2)}
        </pre>
      </div>
    </>
  );
}

// What findings mean (docs/audit.md#verifying).
const meanings: Record<string, string> = {
  changed: 'A record, or its hash, is not what was written.',
  missing: 'Records are missing.',
  'missing segment': 'A whole file is missing.',
  truncated: 'Records were removed from the end of a file or of the log.',
  reordered: 'Records are not in the order in which they were written.',
  duplicated: 'Records occur twice.',
  inserted: 'The file has something that was never a record.',
  renamed: 'A file has the name of another.',
  signature: 'A signature is not by a key of this gateway, or of other records.',
  unsigned: 'A valid signature is missing.',
  'missing content': 'Captured content that a record names is missing, and nobody erased it.',
  'changed content': 'Captured content is not what was captured.',
};

/** Integrity has the log verified. */
function Integrity() {
  const verify = useMutation({ mutationFn: (days: string) => ask<Verification>('POST', `/api/v1/audit/verify?${days}`) });
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const days = [...new FormData(e.currentTarget)].filter(([, v]) => v !== '').map(([k, v]) => [k, String(v)] as [string, string]);
    verify.mutate(new URLSearchParams(days).toString());
  };
  const v = verify.data;
  return (
    <section aria-label="Integrity" className="integrity">
      <div className="head">
        <h2>Verify the audit log</h2>
      </div>
      <form className="bar filters" onSubmit={submit}>
        <label>
          From day <input type="date" name="from" className="time" />
        </label>
        <label>
          to <input type="date" name="to" className="time" />
        </label>
        <button type="submit" disabled={verify.isPending}>
          <ShieldCheck size={14} aria-hidden /> {verify.isPending ? 'Verifying…' : 'Verify'}
        </button>
        <span className="hint">Days are those of files, in UTC. Without days, the whole log is verified.</span>
      </form>
      {verify.isError && <Trouble error={verify.error} />}
      {v && (
        <div role="status">
          <p>
            {!(v.empty && v.intact) && <Badge tone={v.intact ? 'good' : 'bad'}>{v.intact ? 'intact' : count(v.findings.length, 'finding')}</Badge>}{' '}
            {v.empty ? 'There are no records of these days.' : v.records === 0 ? 'There are no records.' : `${count(v.records, 'record')} in ${count(v.segments, 'file')}, numbers ${v.from} to ${v.to}.`}{' '}
            {v.signed > 0 ? (
              <>
                Signed up to number {v.signed}, <When at={v.signedAt} />
                {v.unsigned > 0 && `; ${v.unsigned} since then await the next signature`}.
              </>
            ) : (
              !v.empty && 'Nothing is signed yet.'
            )}{' '}
            {v.keys.length > 0 && !v.trusted && 'The keys that signed are not this gateway’s own.'} {v.removed ? `Retention removed what was before number ${v.removed + 1}.` : ''}
          </p>
          {v.findings.length > 0 && (
            <table className="plain" aria-label="Findings">
              <thead>
                <tr>
                  <th scope="col">Kind</th>
                  <th scope="col">File</th>
                  <th scope="col">Line</th>
                  <th scope="col">Finding</th>
                </tr>
              </thead>
              <tbody>
                {v.findings.map((f, i) => (
                  <tr key={i}>
                    <td>
                      <Badge tone="bad">{f.kind}</Badge>
                    </td>
                    <td>
                      <code>{f.segment ?? '–'}</code>
                    </td>
                    <td>{f.line || '–'}</td>
                    <td>
                      {f.text}
                      <div className="hint">{meanings[f.kind]}</div>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
      )}
    </section>
  );
}
