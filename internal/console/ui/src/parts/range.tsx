/** Range is when records were made: lately, or between two times. */
export interface Range {
  last?: string;
  since?: string;
  until?: string;
}

const minute = 60_000;
const lately: Record<string, [string, number]> = {
  '15m': ['last 15 minutes', 15 * minute],
  '1h': ['last hour', 60 * minute],
  '24h': ['last 24 hours', 24 * 60 * minute],
  '7d': ['last 7 days', 7 * 24 * 60 * minute],
};

const time = (v: unknown) => (typeof v === 'string' && !Number.isNaN(Date.parse(v)) ? v : undefined);

/** ranged takes from an address when it asks for. */
export function ranged(search: Record<string, unknown>): Range {
  if (typeof search.last === 'string' && search.last in lately) return { last: search.last };
  const [since, until] = [time(search.since), time(search.until)];
  return { ...(since && { since }), ...(until && { until }) };
}

/** times are those of a range as the admin API takes them. */
export function times({ last, since, until }: Range): { since?: string; until?: string } {
  const ago = last === undefined ? undefined : lately[last]?.[1];
  if (ago !== undefined) return { since: new Date(Date.now() - ago).toISOString() };
  return { ...(since && { since: new Date(since).toISOString() }), ...(until && { until: new Date(until).toISOString() }) };
}

/** here is a time as an input has it, where the browser is. */
function here(at: string | undefined): string {
  if (!at) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * minute).toISOString().slice(0, 19);
}

export function RangeFields({ of, onAsk }: { of: Range; onAsk: (r: Range) => void }) {
  const between = !of.last && (of.since !== undefined || of.until !== undefined);
  const choose = (v: string) => onAsk(v === 'between' ? { since: new Date(Date.now() - 60 * minute).toISOString() } : v ? { last: v } : {});
  const set = (key: 'since' | 'until', v: string) => {
    const { [key]: _, last: __, ...rest } = of;
    onAsk(v === '' || Number.isNaN(Date.parse(v)) ? rest : { ...rest, [key]: new Date(v).toISOString() });
  };
  return (
    <>
      <label>
        Time range
        <select value={between ? 'between' : (of.last ?? '')} onChange={(e) => choose(e.target.value)}>
          <option value="">at any time</option>
          {Object.entries(lately).map(([v, [words]]) => (
            <option key={v} value={v}>
              {words}
            </option>
          ))}
          <option value="between">between…</option>
        </select>
      </label>
      {between &&
        (['since', 'until'] as const).map((key) => (
          <label key={key}>
            {key === 'since' ? 'From' : 'Before'}
            <input
              type="datetime-local"
              step={1}
              className="time"
              defaultValue={here(of[key])}
              key={of[key] ?? ''}
              onBlur={(e) => e.target.value !== here(of[key]) && set(key, e.target.value)}
              onKeyDown={(e) => e.key === 'Enter' && set(key, e.currentTarget.value)}
            />
          </label>
        ))}
    </>
  );
}
