import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Course, get } from '../api/client';
import { Plot } from '../parts/plot';
import { count } from '../parts/amount';
import { Badge, Empty, Loading, Trouble } from '../parts/state';
import { duration, When } from '../parts/time';

const windows: Record<string, string> = { '5m': 'last 5 minutes', '15m': 'last 15 minutes', '1h': 'last hour', '24h': 'last 24 hours' };

const whole = (n: number) => n.toLocaleString('en', { maximumFractionDigits: 1 });

const named = /^[A-Z]/; // reasons of records; others stand for several, or none

/** CourseOf is how calls of an agent went lately. */
export function CourseOf({ agent }: { agent: string }) {
  const [window, setWindow] = useState('15m');
  const course = useQuery({
    queryKey: ['course', agent, window],
    queryFn: () => get<Course>(`/api/v1/agents/${encodeURIComponent(agent)}/course?window=${window}`),
    placeholderData: keepPreviousData,
  });
  const of = course.data;
  return (
    <section aria-label="Calls over time" tabIndex={0}>
      <div className="head">
        <h2>Calls over time</h2>
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
        {of && (
          <span className="count" role="status">
            {count(of.counted, 'call')}
          </span>
        )}
      </div>
      {course.isError && <Trouble error={course.error} again={() => void course.refetch()} />}
      {!of && !course.isError && <Loading />}
      {of?.more && (
        <p className="hint">
          More calls were made than this screen counts (<code>admin.map.records</code>). It counts the newest, since <When at={of.since} />.
        </p>
      )}
      {of && of.counted === 0 && <Empty title="No calls in this time">Calls appear here when they have ended. Choose a longer time, or make one under Try it.</Empty>}
      {of && of.counted > 0 && <Drawn of={of} agent={agent} />}
    </section>
  );
}

function Drawn({ of, agent }: { of: Course; agent: string }) {
  const begin = Date.parse(of.until) - of.every * 1000 * of.steps.length;
  const long = of.every * of.steps.length > 3600;
  const at = (step: number) =>
    new Date(begin + step * of.every * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...(!long && { second: '2-digit' }) });
  const blank = of.more ? Math.max(0, Math.floor((Date.parse(of.since) - begin) / 1000 / of.every)) : 0;
  const sum = (what: 'denied' | 'failed') => of.steps.reduce((n, s) => n + s[what], 0);
  const [denied, failed] = [sum('denied'), sum('failed')];
  const worst = Math.max(...of.steps.map((s) => s.p99 ?? 0));
  return (
    <>
      <div className="plots">
        <Plot
          title="Calls"
          counts
          stacked
          say={whole}
          at={at}
          blank={blank}
          summary={`${whole(of.counted)}, ${whole(denied)} denied, ${whole(failed)} failed`}
          series={[
            { name: 'succeeded', tone: 'plain', of: of.steps.map((s) => s.calls - s.denied - s.failed) },
            { name: 'failed', tone: 'warn', of: of.steps.map((s) => s.failed) },
            { name: 'denied', tone: 'bad', of: of.steps.map((s) => s.denied) },
          ]}
        />
        {worst > 0 ? (
          <Plot
            title="Response time"
            say={duration}
            at={at}
            blank={blank}
            summary={`without streams, at most ${duration(worst)} at p99`}
            series={[
              { name: 'p50', tone: 'plain', of: of.steps.map((s) => s.p50) },
              { name: 'p95', tone: 'mid', of: of.steps.map((s) => s.p95) },
              { name: 'p99', tone: 'strong', of: of.steps.map((s) => s.p99) },
            ]}
          />
        ) : (
          <p className="hint">No response time to show: all of these calls were streams, which last as long as their task, or were refused.</p>
        )}
      </div>
      {of.reasons.length > 0 && (
        <table className="plain">
          <caption className="unseen">Reasons of denied and failed calls</caption>
          <thead>
            <tr>
              <th scope="col">Reason</th>
              <th scope="col">Outcome</th>
              <th scope="col">Calls</th>
              <th scope="col">Audit log</th>
            </tr>
          </thead>
          <tbody>
            {of.reasons.map((r) => (
              <tr key={`${r.reason} ${r.denied}`}>
                <td>
                  <code>{r.reason}</code>
                </td>
                <td>{r.denied ? <Badge tone="bad">denied</Badge> : <Badge tone="warn">failed</Badge>}</td>
                <td>{whole(r.calls)}</td>
                <td>
                  <Link to="/audit" search={{ agent, type: 'call', ...(r.denied && { decision: 'deny' }), ...(named.test(r.reason) && { reason: r.reason }) }}>
                    Records<span className="unseen"> of calls {r.denied ? 'denied' : 'failed'}: {r.reason}</span>
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
