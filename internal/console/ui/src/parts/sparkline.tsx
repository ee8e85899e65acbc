interface Props {
  of: number[] | undefined;
  every: number; // seconds of a step
}

const width = 110;
const height = 22;

/** Sparkline is how many calls there were, step by step, with their sum in words. */
export function Sparkline({ of, every }: Props) {
  if (!of) return <span className="faint">–</span>;
  const sum = Math.round(of.reduce((a, b) => a + b, 0));
  const most = Math.max(...of, 1);
  const at = (n: number, i: number) => `${((i / (of.length - 1)) * width).toFixed(1)},${(height - 1 - (n / most) * (height - 3)).toFixed(1)}`;
  const line = of.map(at).join(' ');
  const minutes = Math.round((of.length * every) / 60);
  const text = `${sum.toLocaleString('en')} ${sum === 1 ? 'call' : 'calls'} in ${minutes} minutes`;
  return (
    <svg className="spark" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={text}>
      <title>{text}</title>
      <polygon points={`0,${height} ${line} ${width},${height}`} />
      <polyline points={line} />
    </svg>
  );
}
