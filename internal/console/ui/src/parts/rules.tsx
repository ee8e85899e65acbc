import { get } from '../api/client';

/** Rule is one as the configuration has it, without what is not set. */
export interface Rule {
  name: string;
  effect?: string;
  mode?: string;
  [condition: string]: unknown;
}

const said = (v: unknown): boolean =>
  v !== null && v !== undefined && v !== '' && v !== false && !(Array.isArray(v) && v.length === 0) && !(typeof v === 'object' && !Array.isArray(v) && !Object.values(v).some(said));

const plain = (r: Rule): Rule => ({ ...(Object.fromEntries(Object.entries(r).filter(([, v]) => said(v))) as Rule), name: r.name });

/** rulesInForce has all of them, however many pages they are. */
export async function rulesInForce(): Promise<{ default: string; rules: Rule[] }> {
  const all: Rule[] = [];
  let next: string | undefined = '';
  let usual = '';
  do {
    const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page: { default: string; rules: unknown[]; next?: string } = await get(`/api/v1/policy/rules?limit=1000${cursor}`);
    all.push(...(page.rules as Rule[]).map(plain));
    usual = page.default;
    next = page.next;
  } while (next);
  return { default: usual, rules: all };
}

const short = (v: unknown): string => (Array.isArray(v) ? v.map(short).join(' ') : typeof v === 'object' ? JSON.stringify(v) : String(v));

/** summary is what a rule is about, on one line. */
export function summary(r: Rule): string {
  const parts = Object.entries(r).flatMap(([k, v]) => (['name', 'effect', 'mode', 'hit'].includes(k) || !said(v) ? [] : [`${k}: ${short(v)}`]));
  return parts.length === 0 ? 'every call' : parts.join(' · ');
}

export function RuleCount({ of }: { of?: number | undefined }) {
  return of ? <>{of.toLocaleString('en')}</> : <span className="faint">–</span>;
}
