import { compare } from './diff';

const around = 3; // unchanged lines beside a change, as diff -u has them

const lines = (text: string) => text.replace(/\n$/, '').split('\n');

/** unified is the difference of two texts as diff -u writes it; '' where there is none. */
export function unified(before: string, after: string, names: [string, string]): string {
  const rows: string[] = [];
  let [gone, come]: [string[], string[]] = [[], []];
  const flush = () => {
    rows.push(...gone, ...come);
    [gone, come] = [[], []];
  };
  for (const l of compare(lines(before), lines(after))) {
    if (l.same) {
      flush();
      rows.push(` ${l.left ?? ''}`);
      continue;
    }
    if (l.left !== undefined) gone.push(`-${l.left}`);
    if (l.right !== undefined) come.push(`+${l.right}`);
  }
  flush();
  const near = rows.map((_, i) => rows.slice(Math.max(0, i - around), i + around + 1).some((r) => !r.startsWith(' ')));
  if (!near.includes(true)) return '';
  const out = [`--- ${names[0]}`, `+++ ${names[1]}`];
  let [from, to] = [1, 1];
  for (let i = 0; i < rows.length; ) {
    const end = near.indexOf(!near[i], i);
    const hunk = rows.slice(i, end < 0 ? rows.length : end);
    const [less, more] = [hunk.filter((r) => !r.startsWith('+')).length, hunk.filter((r) => !r.startsWith('-')).length];
    if (near[i]) out.push(`@@ -${from},${less} +${to},${more} @@`, ...hunk);
    from += less;
    to += more;
    i += hunk.length;
  }
  return `${out.join('\n')}\n`;
}
