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

export const plain = (r: Rule): Rule => ({ ...(Object.fromEntries(Object.entries(r).filter(([, v]) => said(v))) as Rule), name: r.name });

/** rulesInForce has all of them, however many pages they are. */
export async function rulesInForce(): Promise<{ default: string; rules: Rule[]; places: Record<string, string> }> {
  const all: Rule[] = [];
  const places: Record<string, string> = {}; // FILE:LINE by name
  let next: string | undefined = '';
  let usual = '';
  do {
    const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page: { default: string; rules: unknown[]; places: Record<string, string>; next?: string } = await get(`/api/v1/policy/rules?limit=1000${cursor}`);
    all.push(...(page.rules as Rule[]).map(plain));
    Object.assign(places, page.places);
    usual = page.default;
    next = page.next;
  } while (next);
  return { default: usual, rules: all, places };
}

const short = (v: unknown): string => (Array.isArray(v) ? v.map(short).join(' ') : typeof v === 'object' ? JSON.stringify(v) : String(v));

/** summary is what a rule is about, on one line, but for what is known already. */
export function summary(r: Rule, ...known: string[]): string {
  const parts = Object.entries(r).flatMap(([k, v]) => (['name', 'effect', 'mode', 'hit', ...known].includes(k) || !said(v) ? [] : [`${k}: ${short(v)}`]));
  return parts.length === 0 ? 'every call' : parts.join(' · ');
}

// A text that YAML reads as the same text without quotes.
const bare = /^[A-Za-z][\w./-]*$/;
const taken = /^(true|false|yes|no|on|off|y|n|null)$/i;

const scalar = (v: string) => (bare.test(v) && !taken.test(v) ? v : JSON.stringify(v).replaceAll('${', () => '$${'));

/** flow is a value on one line, as YAML. */
export const flow = (v: unknown): string =>
  Array.isArray(v)
    ? `[${v.map(flow).join(', ')}]`
    : typeof v === 'object' && v !== null
      ? `{${Object.entries(v)
          .filter(([, m]) => said(m))
          .map(([k, m]) => `${scalar(k)}: ${flow(m)}`)
          .join(', ')}}`
      : typeof v === 'string'
        ? scalar(v)
        : JSON.stringify(v);

/** draftOf writes rules, or guards, as the configuration has them. */
export function draftOf(rules: Rule[], key = 'rules'): string {
  if (rules.length === 0) return `${key}: []\n`;
  const one = ({ name, ...rest }: Rule) => [`  - name: ${scalar(name)}`, ...Object.entries(rest).map(([k, v]) => `    ${k}: ${flow(v)}`)].join('\n');
  return `${key}:\n${rules.map(one).join('\n')}\n`;
}

export function RuleCount({ of }: { of?: number | undefined }) {
  return of ? <>{of.toLocaleString('en')}</> : <span className="faint">–</span>;
}
