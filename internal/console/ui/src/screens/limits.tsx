import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { type CallerLimit, type CallerLimits, get, type Throttled } from '../api/client';
import { count, size, whole } from '../parts/amount';
import { Badge, Empty, Loading, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { When } from '../parts/time';

const windows: Record<string, string> = { '5m': 'last 5 minutes', '15m': 'last 15 minutes', '1h': 'last hour', '24h': 'last 24 hours' };

const span = (seconds: number) => (seconds % 86_400 === 0 ? `${seconds / 86_400} d` : seconds % 3600 === 0 ? `${seconds / 3600} h` : seconds % 60 === 0 ? `${seconds / 60} min` : `${+seconds.toFixed(3)} s`);

const units: Record<string, string> = { s: 'second', min: 'minute', h: 'hour', d: 'day' };

const words: Record<string, (b: CallerLimit['bounds'][number]) => string> = {
  rate: (b) => `${whole(b.units)} per ${span(b.window ?? 1).replace(/^1 (\w+)$/, (_, unit: string) => units[unit] ?? unit)}, burst of ${whole(b.burst ?? b.units)}`,
  quota: (b) => `${whole(b.units)} per ${b.per ?? 'day'}`,
  concurrency: (b) => `${whole(b.units)} concurrent`,
  openTasks: (b) => count(b.units, 'open task'),
  bytes: (b) => `${size(b.units)} per request`,
};

const conditions = ['agents', 'skills', 'methods', 'subjects', 'groups', 'issuers'] as const;

const about = (l: CallerLimit) => conditions.flatMap((c) => (l[c].length > 0 ? [`${c}: ${l[c].join(' ')}`] : [])).join(' · ') || 'every call';

const columns: Column<Throttled>[] = [
  { id: 'limit', title: 'Limit', width: 'minmax(120px, 1fr)', sort: (t) => t.limit, cell: (t) => <code className="cut">{t.limit}</code> },
  {
    id: 'caller',
    title: 'Caller',
    width: 'minmax(140px, 1.4fr)',
    sort: (t) => t.caller ?? '',
    cell: (t) => (
      <span className="cut" title={t.issuer}>
        {t.caller ?? <span className="faint">no name</span>}
        {t.issuer && <span className="faint"> of {t.issuer}</span>}
      </span>
    ),
  },
  {
    id: 'agent',
    title: 'Agent',
    width: 'minmax(110px, 1fr)',
    sort: (t) => t.agent ?? '',
    cell: (t) =>
      t.agent && (
        <Link to="/agents/$id" params={{ id: t.agent }} className="cut">
          {t.agent}
        </Link>
      ),
  },
  { id: 'calls', title: 'Refused', width: '90px', end: true, sort: (t) => -t.calls, cell: (t) => whole(t.calls) },
  { id: 'last', title: 'Last', width: '110px', sort: (t) => t.last, cell: (t) => <When at={t.last} /> },
  {
    id: 'record',
    title: 'Audit log',
    width: '90px',
    cell: (t) => (
      <Link to="/audit" search={{ type: 'call', reason: t.reason, ...(t.caller && { caller: t.caller }), ...(t.agent && { agent: t.agent }) }}>
        Records<span className="unseen"> of refusals of {t.caller ?? 'callers without a name'} for {t.limit}</span>
      </Link>
    ),
  },
];

/** Limits are what callers may do how often, and who met it. */
export function Limits() {
  const [window, setWindow] = useState('15m');
  const found = useQuery({
    queryKey: ['limits', window],
    queryFn: () => get<CallerLimits>(`/api/v1/policy/limits?window=${window}`),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });
  const of = found.data;
  const limits = of?.limits ?? [];
  const refused = useMemo(() => {
    const n = new Map<string, number>();
    for (const t of of?.throttled ?? []) n.set(t.limit, (n.get(t.limit) ?? 0) + t.calls);
    return n;
  }, [of]);
  return (
    <>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {of && (
        <>
          <section aria-labelledby="limits-of" tabIndex={0}>
            <h2 id="limits-of">Rate limits and quotas</h2>
            {limits.length === 0 ? (
              <Empty title="No rate limits">
                No caller is limited. Add rates, quotas and concurrency limits below <code>policy.limits.each</code>.
              </Empty>
            ) : (
              <table className="plain">
                <thead>
                  <tr>
                    <th scope="col">Limit</th>
                    <th scope="col">Maximum</th>
                    <th scope="col">Counted per</th>
                    <th scope="col">Applies to</th>
                    <th scope="col">Refused</th>
                  </tr>
                </thead>
                <tbody>
                  {limits.map((l) => (
                    <tr key={l.name}>
                      <th scope="row">
                        <code>{l.name}</code> {l.shadow && <Badge tone="warn">shadow</Badge>}
                      </th>
                      <td className="prose">
                        {l.bounds.map((b) => (
                          <div key={b.what}>{words[b.what]?.(b) ?? b.what}</div>
                        ))}
                      </td>
                      <td>{l.key.join(', ') || 'all callers together'}</td>
                      <td>{about(l)}</td>
                      <td>{refused.get(l.name) ? <Badge tone="bad">{whole(refused.get(l.name) ?? 0)}</Badge> : <span className="faint">–</span>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            <p className="hint">
              {of.onLoss === 'local'
                ? 'While the shared state is unreachable, each gateway counts for itself'
                : of.onLoss === 'deny'
                  ? 'While the shared state is unreachable, the gateway refuses calls that a limit applies to'
                    : 'While the shared state is unreachable, no limit applies'}{' '}
              (policy.limits.onLoss). To see which limits apply to a call, use{' '}
              <Link to="/policy" search={{ view: 'explain' }}>
                Explain a call
              </Link>
              .
            </p>
          </section>
          <section aria-labelledby="throttled">
            <div className="head">
              <h2 id="throttled">Refused callers</h2>
              <label className="hint">
                in the{' '}
                <select value={window} onChange={(e) => setWindow(e.target.value)}>
                  {Object.entries(windows).map(([v, label]) => (
                    <option key={v} value={v}>
                      {label}
                    </option>
                  ))}
                </select>
              </label>
              <span className="count" role="status">
                {count(of.counted, 'call')}
              </span>
            </div>
            {of.more && (
              <p className="hint">
                More calls were made than this screen counts (<code>admin.map.records</code>). It counts the newest, since <When at={of.since} />.
              </p>
            )}
            {of.throttled.length === 0 ? (
              <Empty title="No refusals">The gateway refused no call for a limit in this time. Choose a longer one to look further back.</Empty>
            ) : (
              <Table label="Refused callers" rows={of.throttled} columns={columns} name={(t) => JSON.stringify([t.limit, t.reason, t.caller, t.issuer, t.agent])} initial="calls" height={440} />
            )}
          </section>
        </>
      )}
    </>
  );
}
