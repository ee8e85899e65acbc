import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Failure, get, has, type Me, type RecordContent } from '../api/client';
import { count } from '../parts/amount';
import { agentOf, type AuditRecord, caller, Clock, RecordLink, what } from '../parts/record';
import { Said } from '../parts/said';
import { Empty, Loading, Trouble } from '../parts/state';

const most = 50; // calls that are opened at once

/** Words is what was said about a task, as far as it was captured and may be shown, or which setting would show it. */
export function Words({ task, records }: { task: string; records: AuditRecord[] }) {
  const who = useQueryClient().getQueryData<Me>(['me']);
  const [asked, ask] = useState(false);
  useEffect(() => ask(false), [task]);
  if (!who) return null;
  const captured = records.filter((r) => r.content !== undefined);
  return (
    <section aria-label="Messages">
      <div className="head">
        <h2>Messages</h2>
        {asked && <span className="count">{count(captured.length, 'call')} captured</span>}
      </div>
      {!who.content ? (
        <p className="hint">
          Messages are not shown: <code>admin.content</code> is false.{' '}
          {captured.length > 0 ? (
            <>
              {count(captured.length, 'call')} of this task {captured.length === 1 ? 'was' : 'were'} captured; <code>a2a-gateway audit content</code> shows them.
            </>
          ) : (
            <>
              No rule of <code>telemetry.audit.content.rules</code> captured these calls either.
            </>
          )}
        </p>
      ) : captured.length === 0 ? (
        <p className="hint">
          Nothing was captured of these calls. A rule of <code>telemetry.audit.content.rules</code> with <code>capture: both</code> keeps the messages of later ones.
        </p>
      ) : !has(who, 'operator') ? (
        <p className="hint">The role operator may see what was captured of {count(captured.length, 'call')}.</p>
      ) : !asked ? (
        <>
          <p className="hint">The audit log records that you are shown what was captured of {count(Math.min(captured.length, most), 'call')}.</p>
          <button type="button" onClick={() => ask(true)}>
            Show messages
          </button>
        </>
      ) : (
        <>
          {captured.length > most && <p className="hint">The first {most} calls are shown; the page of each later record has its own.</p>}
          {captured.slice(0, most).map((r) => (
            <Call key={r.seq} record={r} />
          ))}
        </>
      )}
    </section>
  );
}

const gone = /^(NOT_CAPTURED|CONTENT_(LOST|ERASED|EXPIRED|OFF))$/;

/** Call is what was captured of one call. It is fetched once, as each time is put on record. */
function Call({ record }: { record: AuditRecord }) {
  const found = useQuery({
    queryKey: ['content', record.seq],
    queryFn: () => get<RecordContent>(`/api/v1/audit/records/${record.seq}/content`),
    refetchInterval: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: Infinity,
  });
  const c = found.data;
  return (
    <article aria-label={`${what(record)} of ${caller(record)}`}>
      <h3>
        <RecordLink of={record}>
          <Clock at={record.start ?? record.time} />
        </RecordLink>{' '}
        {caller(record)} → {agentOf(record)} {what(record)} {c && <span className="hint">{c.label}{c.until && `, kept until ${c.until}`}</span>}
      </h3>
      {found.isPending && <Loading />}
      {found.error instanceof Failure && gone.test(found.error.code) ? (
        <Empty title="There is nothing to show">{found.error.message}</Empty>
      ) : (
        found.isError && <Trouble error={found.error} again={() => void found.refetch()} />
      )}
      {c?.request && <Said text={c.request.text} {...(c.request.cut && { cut: true })} {...(c.request.fault && { fault: c.request.fault })} label="Request" />}
      {c?.response && <Said text={c.response.text} {...(c.response.cut && { cut: true })} {...(c.response.fault && { fault: c.response.fault })} label="Answer" />}
      {c && !c.request && <p className="hint">The request is not captured (capture: response).</p>}
      {c && !c.response && <p className="hint">The answer is not captured (capture: request), or there was none.</p>}
    </article>
  );
}
