/** Period is which time calls are counted in: lately, or between two times. */
export interface Period {
  window?: string;
  since?: string;
  until?: string;
}

const windows: Record<string, [string, number]> = { '15m': ['15 min', 15], '1h': ['1 h', 60], '6h': ['6 h', 360], '24h': ['24 h', 1440] };
export const usual = '1h';
const minute = 60_000;
const time = (v: unknown) => (typeof v === 'string' && !Number.isNaN(Date.parse(v)) ? new Date(v).toISOString() : undefined);

/** periodOf takes from an address which time is meant. */
export function periodOf(s: Record<string, unknown>): Period {
  const [since, until] = [time(s.since), time(s.until)];
  if (since !== undefined) return { since, ...(until !== undefined && until > since && { until }) };
  return typeof s.window === 'string' && s.window in windows && s.window !== usual ? { window: s.window } : {};
}

/** here is a time as an input has it, where the browser is. */
function here(at: string | undefined): string {
  if (!at) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * minute).toISOString().slice(0, 16);
}

/** PeriodButtons chooses which time is shown. It stands in the address. */
export function PeriodButtons({ of, onAsk }: { of: Period; onAsk: (p: Period) => void }) {
  const set = (p: Period) => onAsk(periodOf({ ...p }));
  const between = of.since !== undefined;
  const leave = (key: 'since' | 'until', v: string) => v !== here(of[key]) && set({ ...of, [key]: v });
  return (
    <>
      <div className="tabs" role="group" aria-label="Which time">
        {Object.entries(windows).map(([k, [label]]) => (
          <button key={k} type="button" aria-pressed={!between && (of.window ?? usual) === k} onClick={() => set({ window: k })}>
            {label}
          </button>
        ))}
        <button type="button" aria-pressed={between} onClick={() => !between && set({ since: new Date(Date.now() - 2 * 60 * minute).toISOString() })}>
          From–to
        </button>
      </div>
      {between &&
        (['since', 'until'] as const).map((key) => (
          <label key={key} className="from">
            {key === 'since' ? 'From' : 'To'}
            <input
              type="datetime-local"
              defaultValue={here(of[key])}
              key={of[key] ?? ''}
              onBlur={(e) => leave(key, e.target.value)}
              onKeyDown={(e) => e.key === 'Enter' && leave(key, e.currentTarget.value)}
            />
          </label>
        ))}
    </>
  );
}

/** recordsOf is the same time as the audit log is asked for it. */
export function recordsOf(p: Period): { last?: string; since?: string; until?: string } {
  if (p.since) return { since: p.since, ...(p.until && { until: p.until }) };
  const window = p.window ?? usual;
  return window === '6h' ? { since: new Date(Math.floor(Date.now() / minute - 360) * minute).toISOString() } : { last: window };
}
