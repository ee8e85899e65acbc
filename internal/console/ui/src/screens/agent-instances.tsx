import type { Instance } from '../api/client';
import { type Condition, condition, quick, tally } from '../parts/health';
import { Badge } from '../parts/state';
import { duration } from '../parts/time';

const tones = { healthy: 'good', slow: 'warn', unhealthy: 'bad' } as const;

const most = 32; // that the API says of one agent

/** Instances are the places where an agent answers, in the order of the API: those that get no calls first, then the slow ones. */
export function Instances({ of }: { of: Instance[] }) {
  const quickest = quick(of);
  const longest = Math.max(...of.map((i) => i.latency ?? 0));
  return (
    <section aria-label="Instances" tabIndex={0}>
      <div className="head">
        <h2>Instances</h2>
        <span className="count" role="status">
          {tally(of)}
        </span>
      </div>
      <p className="hint">
        Ordered by health, then by time to first byte, slowest first
        {of.length >= most && `; the first ${most} are shown`}.
      </p>
      <div className="instances" role="region" aria-label="All instances shown" tabIndex={0}>
        <table className="plain">
          <caption className="unseen">Instances of this agent and their health</caption>
          <thead>
            <tr>
              <th scope="col">Instance</th>
              <th scope="col">State</th>
              <th scope="col">Time to first byte</th>
              <th scope="col" className="end">
                In flight
              </th>
            </tr>
          </thead>
          <tbody>
            {of.map((i) => (
              <Row key={i.address} of={i} is={condition(i, quickest)} quickest={quickest} longest={longest} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ of, is, quickest, longest }: { of: Instance; is: Condition; quickest: number | undefined; longest: number }) {
  return (
    <tr>
      <th scope="row">
        <code>{of.address}</code>
      </th>
      <td>
        <Badge tone={tones[is]}>{is}</Badge>
        {of.why && <div className="hint">{of.why}</div>}
        {is === 'slow' && <div className="hint">{slowness(of.latency, quickest)}</div>}
        {of.ejections > 0 && <div className="hint">ejected {of.ejections === 1 ? 'once' : `${of.ejections.toLocaleString('en')} times`}</div>}
      </td>
      <td>
        {of.latency === undefined ? <span className="faint">no response yet</span> : duration(of.latency * 1000)}
        {of.latency !== undefined && (
          <div className={`took ${is}`} aria-hidden>
            <div style={{ width: `${(of.latency / longest) * 100}%` }} />
          </div>
        )}
      </td>
      <td className="end">{of.calls.toLocaleString('en')}</td>
    </tr>
  );
}

function slowness(latency: number | undefined, quickest: number | undefined): string {
  const times = Math.round((latency ?? 0) / (quickest ?? 0));
  return Number.isFinite(times) ? `${times.toLocaleString('en')} times slower than the fastest` : 'much slower than the fastest';
}
