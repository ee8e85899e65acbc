import { useMemo } from 'react';

type Line = { left?: string; right?: string; same: boolean };

/** sorted has members in order, so that only what says something else is a difference. */
function sorted(v: unknown): unknown {
  if (Array.isArray(v)) return v.map(sorted);
  if (v === null || typeof v !== 'object') return v;
  return Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, w]) => [k, sorted(w)]));
}

export const pretty = (v: unknown): string => JSON.stringify(sorted(v), null, 2);

const most = 4_000_000; // cells of the table of common lines; beyond it the middle is one change

export function compare(a: string[], b: string[]): Line[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const same = (lines: string[]): Line[] => lines.map((l) => ({ left: l, right: l, same: true }));
  return [...same(a.slice(0, head)), ...middle(x, y), ...same(a.slice(a.length - tail))];
}

function middle(x: string[], y: string[]): Line[] {
  const out: Line[] = [];
  let gone: string[] = [];
  let come: string[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++) {
      const [l, r] = [gone[i], come[i]];
      out.push({ ...(l === undefined ? {} : { left: l }), ...(r === undefined ? {} : { right: r }), same: false });
    }
    gone = [];
    come = [];
  };
  if (x.length * y.length > most) {
    [gone, come] = [x, y];
    flush();
    return out;
  }
  const w = y.length + 1;
  const lcs = new Uint32Array((x.length + 1) * w);
  const at = (i: number, j: number) => lcs[i * w + j] ?? 0;
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) lcs[i * w + j] = x[i] === y[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  let [i, j] = [0, 0];
  while (i < x.length || j < y.length) {
    const [l, r] = [x[i], y[j]];
    if (l !== undefined && l === r) {
      flush();
      out.push({ left: l, right: l, same: true });
      i++;
      j++;
    } else if (r === undefined || (l !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      gone.push(l as string);
      i++;
    } else {
      come.push(r);
      j++;
    }
  }
  flush();
  return out;
}

const around = 3; // lines that are shown beside what has changed

/** Diff shows two documents side by side, without what is the same in both. */
export function Diff({ left, right, names }: { left: unknown; right: unknown; names: [string, string] }) {
  const shown = useMemo(() => {
    const lines = compare(pretty(left).split('\n'), pretty(right).split('\n'));
    const near = lines.map((_, i) => lines.slice(Math.max(0, i - around), i + around + 1).some((l) => !l.same));
    return lines.flatMap((line, i): { line: Line | null; n: number }[] => (near[i] ? [{ line, n: i }] : near[i - 1] || i === 0 ? [{ line: null, n: i }] : []));
  }, [left, right]);
  return (
    <div className="diff" tabIndex={0} role="region" aria-label={`${names[0]} and ${names[1]}, side by side`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{names[0]}</th>
            <th scope="col">{names[1]}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ line, n }) =>
            line === null ? (
              <tr key={n} className="gap">
                <td colSpan={2}>⋯</td>
              </tr>
            ) : (
              <tr key={n}>
                <td className={line.same ? undefined : line.left === undefined ? 'none' : 'old'}>{line.left}</td>
                <td className={line.same ? undefined : line.right === undefined ? 'none' : 'new'}>{line.right}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}
