import { type ReactNode, useId } from 'react';
import { useNarrow } from './narrow';

export interface Series {
  name: string;
  tone: 'plain' | 'mid' | 'strong' | 'warn' | 'bad';
  of: (number | undefined)[]; // step by step; nothing where there is none
}

interface Props {
  title: string;
  series: Series[];
  stacked?: boolean; // bars, one upon the other; else lines
  say: (n: number) => string;
  at: (step: number) => string; // when a step begins
  blank: number; // steps of which nothing is known, the first ones
  summary: ReactNode;
  counts?: boolean; // there are no halves of what is shown
}

const [height, left, bottom, top] = [168, 54, 20, 8];

/** ceiling is a round number that is no less; of counts one whose half is a whole number, as both are on the axis. */
function ceiling(n: number, counts?: boolean): number {
  if (n <= 0) return counts ? 2 : 1;
  const unit = 10 ** Math.floor(Math.log10(n));
  const fits = (m: number) => m * unit >= n - 1e-9 && !(counts && (m * unit) % 2 !== 0);
  return ([1, 2, 2.5, 4, 5, 10].find(fits) ?? 10) * unit;
}

/** Plot draws what there was, step by step, and has it in a table for those who read one. */
export function Plot({ title, series, stacked, say, at, blank, summary, counts }: Props) {
  const id = useId();
  const width = useNarrow() ? 340 : 640; // about as many pixels, so that its texts are as large as others
  const steps = series[0]?.of.length ?? 0;
  const sums = Array.from({ length: steps }, (_, i) =>
    stacked ? series.reduce((n, s) => n + (s.of[i] ?? 0), 0) : Math.max(0, ...series.map((s) => s.of[i] ?? 0)),
  );
  const most = ceiling(Math.max(...sums), counts);
  const x = (i: number) => left + (i / steps) * (width - left);
  const y = (n: number) => top + (1 - n / most) * (height - top - bottom);
  const shown = Array.from({ length: steps }, (_, i) => i).filter((i) => series.some((s) => s.of[i]));
  return (
    <figure className="plot">
      <figcaption id={id}>
        <strong>{title}</strong> <span className="faint">{summary}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={id}>
        {[0, most / 2, most].map((n) => (
          <g key={n}>
            <line x1={left} x2={width} y1={y(n)} y2={y(n)} />
            <text x={left - 6} y={y(n) + 4} textAnchor="end">
              {say(n)}
            </text>
          </g>
        ))}
        {blank > 0 && <rect className="blank" x={left} y={top} width={x(blank) - left} height={height - top - bottom} />}
        {[0, Math.floor(steps / 2), steps].map((i) => (
          <text key={i} x={x(i)} y={height - 4} textAnchor={i === 0 ? 'start' : i === steps ? 'end' : 'middle'}>
            {at(i)}
          </text>
        ))}
        {stacked ? shown.map((i) => <Bars key={i} step={i} series={series} x={x} y={y} title={`${at(i)}: ${words(series, i, say)}`} />) : <Lines series={series} x={x} y={y} say={say} at={at} />}
      </svg>
      <ul className="legend">
        {series.map((s) => (
          <li key={s.name} className={`tone-${s.tone}`}>
            {s.name}
          </li>
        ))}
      </ul>
      <details>
        <summary>{title} as a table</summary>
        <div className="scrolls" tabIndex={0} role="region" aria-label={`${title}, step by step`}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">From</th>
                {series.map((s) => (
                  <th key={s.name} scope="col">
                    {s.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((i) => (
                <tr key={i}>
                  <td>{at(i)}</td>
                  {series.map((s) => (
                    <td key={s.name}>{s.of[i] === undefined ? '–' : say(s.of[i])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

const words = (series: Series[], i: number, say: (n: number) => string) =>
  series.flatMap((s) => (s.of[i] ? [`${say(s.of[i])} ${s.name}`] : [])).join(', ');

interface Scales {
  series: Series[];
  x: (i: number) => number;
  y: (n: number) => number;
}

function Bars({ step, series, x, y, title }: Scales & { step: number; title: string }) {
  let under = 0;
  return (
    <g>
      <title>{title}</title>
      {series.map((s) => {
        const n = s.of[step] ?? 0;
        under += n;
        return n > 0 && <rect key={s.name} className={`tone-${s.tone}`} x={x(step) + 0.6} width={Math.max(1, x(step + 1) - x(step) - 1.2)} y={y(under)} height={Math.max(1, y(under - n) - y(under))} />;
      })}
    </g>
  );
}

/** Lines go from step to step; one that stands alone is a point, and nothing is drawn where nothing was. */
function Lines({ series, x, y, say, at }: Scales & { say: (n: number) => string; at: (step: number) => string }) {
  return (
    <>
      {series.map((s) => (
        <g key={s.name} className={`tone-${s.tone}`}>
          <path
            className="line"
            d={s.of.map((n, i) => (n === undefined ? '' : `${s.of[i - 1] === undefined ? 'M' : 'L'}${((x(i) + x(i + 1)) / 2).toFixed(1)},${y(n).toFixed(1)}`)).join('')}
          />
          {s.of.map(
            (n, i) =>
              n !== undefined && (
                <circle key={i} cx={(x(i) + x(i + 1)) / 2} cy={y(n)} r={s.of[i - 1] === undefined && s.of[i + 1] === undefined ? 2.6 : 1.6}>
                  <title>{`${at(i)}: ${say(n)} ${s.name}`}</title>
                </circle>
              ),
          )}
        </g>
      ))}
    </>
  );
}
