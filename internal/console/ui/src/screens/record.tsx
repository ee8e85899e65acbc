import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Failure, get, may, type Me } from '../api/client';
import { count } from '../parts/amount';
import { Copy } from '../parts/copy';
import { agentOf, type AuditRecord, caller, Clock, Decision, milliseconds, RecordLink, stageOf, statusOf, taskOf, what, why } from '../parts/record';
import { Refusal } from '../parts/refusal';
import { Empty, Loading, Trouble } from '../parts/state';
import { local } from '../parts/time';

const route = getRouteApi('/audit/$seq');

type Pair = { intent?: AuditRecord; call?: AuditRecord };

export function RecordScreen() {
  const { seq } = route.useParams();
  const path = `/api/v1/audit/records/${encodeURIComponent(seq)}`;
  const found = useQuery({ queryKey: ['record', seq], queryFn: () => get<AuditRecord>(path), refetchInterval: false });
  const r = found.data;
  const who = useQueryClient().getQueryData<Me>(['me']);
  return (
    <>
      <p className="path">
        <Link to="/audit">Audit</Link> / <span>record {seq}</span>
      </p>
      <h1>{r ? what(r) : `Record ${seq}`}</h1>
      {found.isPending && <Loading />}
      {found.error instanceof Failure && found.error.code === 'NO_SUCH_RECORD' ? (
        <Empty title="There is no such record">
          No call or event has the number {seq}. Retention may have removed it; checkpoints are not shown here.
        </Empty>
      ) : (
        found.isError && <Trouble error={found.error} again={() => void found.refetch()} />
      )}
      {r && (
        <>
          <dl className="facts">
            <Fact name="When">
              <Exactly at={r.time} />
            </Fact>
            <Fact name="Caller">
              <Which text={caller(r)} />
              {r.issuer && <div className="hint">{r.issuer}</div>}
            </Fact>
            <Fact name="Agent">{agentOf(r) ? <Link to="/agents/$id" params={{ id: agentOf(r) }}>{agentOf(r)}</Link> : <Which text={String(r.path ?? '')} />}</Fact>
            {r.skill && <Fact name="Skill">{r.skill}</Fact>}
            {taskOf(r) && (
              <Fact name="Task">
                <Link to="/tasks/$id" params={{ id: taskOf(r) }}>
                  <code>{taskOf(r)}</code>
                </Link>
                <Copy text={taskOf(r)} label="task" />
              </Fact>
            )}
            {r.context_id && (
              <Fact name="Context">
                <Link to="/audit" search={{ context: r.context_id }}>
                  <code>{r.context_id}</code>
                </Link>
              </Fact>
            )}
            {r.trace_id && (
              <Fact name="Trace">
                <code>{r.trace_id}</code> <Copy text={r.trace_id} label="trace" />
              </Fact>
            )}
            {r.status !== undefined && (
              <Fact name="Answer">
                {statusOf(r)}
                {r.duration_ms !== undefined && ` after ${milliseconds(r.duration_ms)}`}
                {r.task_state && <div className="hint">{r.task_state}</div>}
              </Fact>
            )}
            {r.streamed && (
              <Fact name="Stream">
                {count(r.events ?? 0, 'event')}{r.end && `, ${r.end}`}
              </Fact>
            )}
          </dl>
          {stageOf(r) && <Refusal of={r} operates={who !== undefined && may(who, 'operator')} />}
          {r.type !== 'event' && <Decided record={r} />}
          {r.type !== 'event' && <Records record={r} path={path} />}
          {r.attrs && (
            <section>
              <div className="head">
                <h2>Details</h2>
              </div>
              <Members of={r.attrs} />
            </section>
          )}
          <section>
            <div className="head">
              <h2>Full record</h2>
            </div>
            <div className="raw">
              <Copy text={JSON.stringify(r, null, 2)} label="record" />
              <pre tabIndex={0} role="region" aria-label="Record">
                {JSON.stringify(r, null, 2)}
              </pre>
            </div>
          </section>
        </>
      )}
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

const Which = ({ text }: { text: string }) => (text ? <span>{text}</span> : <span className="faint">none</span>);

/** Exactly is a time here and in UTC. */
function Exactly({ at }: { at: string }) {
  const date = new Date(at);
  return (
    <>
      <time dateTime={at}>{local(date)}</time>
      <div className="hint">{date.toISOString()}</div>
    </>
  );
}

// What had a say in a decision, in the order in which it is asked: who it is, what they may,
// how much of it, and with which extensions. Each is there only where it said something.
const trace: [string, string][] = [
  ['auth_method', 'Authentication method'],
  ['key_id', 'Key'],
  ['proof', 'Proof of possession'],
  ['workload', 'Client'],
  ['actors', 'Actors (delegation)'],
  ['groups', 'Groups'],
  ['scopes', 'Scopes'],
  ['rule', 'Rule that decided'],
  ['sharing', 'Shared task by'],
  ['skills', 'Skills that would do'],
  ['consent', 'Consents'],
  ['authorizers', 'Authorizers'],
  ['policy_faults', 'Rules that could not be evaluated'],
  ['shadow', 'Shadow rules that differ'],
  ['limit', 'Limit'],
  ['extensions_requested', 'Extensions requested'],
  ['extensions_injected', 'Extensions added'],
  ['extensions_refused', 'Extensions refused'],
  ['extensions_activated', 'Extensions activated'],
  ['violations', 'Violations'],
  ['reason', 'Reason'],
  ['cause', 'Cause'],
];

function Decided({ record: r }: { record: AuditRecord }) {
  const said = trace
    .filter(([member]) => r[member] !== undefined)
    // Where a limit refused the call, the rule has allowed it before.
    .map(([member, name]): [string, string] => [member, member === 'rule' && r.limit !== undefined ? 'Rule that allowed the call' : name]);
  return (
    <section aria-label="Decision">
      <div className="head">
        <h2>Decision</h2>
        <Decision of={r} />
        <span className="hint">{r.type === 'intent' ? 'allowed, and handed to the agent' : why(r) || (r.decision === 'allow' ? 'by default' : '')}</span>
      </div>
      {said.length > 0 && <Members of={Object.fromEntries(said.map(([member, name]) => [name, r[member]]))} />}
    </section>
  );
}

function Members({ of }: { of: Record<string, unknown> }) {
  return (
    <table className="plain">
      <tbody>
        {Object.entries(of).map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <Value of={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ of }: { of: unknown }) {
  if (Array.isArray(of))
    return (
      <ul className="values">
        {of.map((v, i) => (
          <li key={i}>
            <Value of={v} />
          </li>
        ))}
      </ul>
    );
  return <code>{typeof of === 'string' ? of : JSON.stringify(of)}</code>;
}

/** Records are the two of a call, which its request joins. */
function Records({ record, path }: { record: AuditRecord; path: string }) {
  const pair = useQuery({ queryKey: ['pair', record.seq], queryFn: () => get<Pair>(`${path}/pair`), refetchInterval: record.type === 'intent' ? 5_000 : false });
  const row = (name: string, r: AuditRecord | undefined, none: string) => (
    <tr>
      <th scope="row">{name}</th>
      {r ? (
        <>
          <td>{r.seq === record.seq ? `${r.seq} (this one)` : <RecordLink of={r}>{r.seq}</RecordLink>}</td>
          <td>
            <Clock at={r.time} />
          </td>
          <td>
            <Decision of={r} /> {r.type === 'call' && [r.status, r.end, r.duration_ms !== undefined && milliseconds(r.duration_ms)].filter(Boolean).join(' · ')}
          </td>
        </>
      ) : (
        <td colSpan={3} className="faint">
          {none}
        </td>
      )}
    </tr>
  );
  return (
    <section aria-label="Intent and outcome">
      <div className="head">
        <h2>Intent and outcome</h2>
        {record.request_id && (
          <span className="hint">
            request <code>{record.request_id}</code> <Copy text={record.request_id} label="request" />
          </span>
        )}
      </div>
      {pair.isPending && <Loading />}
      {pair.isError && <Trouble error={pair.error} again={() => void pair.refetch()} />}
      {pair.data && (
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Record</th>
              <th scope="col">Number</th>
              <th scope="col">Made</th>
              <th scope="col">Outcome</th>
            </tr>
          </thead>
          <tbody>
            {row('Intent', pair.data.intent, 'none: the agent was never asked')}
            {row('Call', pair.data.call, 'none yet: it is under way, or the gateway was killed meanwhile')}
          </tbody>
        </table>
      )}
    </section>
  );
}
