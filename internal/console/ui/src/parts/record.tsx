import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Choice, Field } from './filters';
import { reasons } from './reasons';
import { Badge } from './state';
import { exact } from './time';

/** AuditRecord is a record as it was written (docs/audit.md); these members of it are shown by name. */
export interface AuditRecord {
  seq: number;
  type: 'intent' | 'call' | 'event';
  time: string;
  start?: string;
  gateway?: string;
  event?: string;
  attrs?: Record<string, string>;
  agent?: string;
  path?: string;
  skill?: string;
  method?: string;
  principal?: string;
  issuer?: string;
  decision?: 'allow' | 'deny' | 'error';
  rule?: string;
  reason?: string;
  cause?: string;
  binding?: string;
  limit?: string;
  status?: number;
  request_id?: string;
  trace_id?: string;
  task_id?: string;
  context_id?: string;
  task_state?: string;
  streamed?: boolean;
  events?: number;
  end?: string;
  duration_ms?: number;
  [member: string]: unknown;
}

export const caller = (r: AuditRecord) => r.principal ?? r.attrs?.principal ?? r.attrs?.who ?? '';
export const agentOf = (r: AuditRecord) => r.agent ?? r.attrs?.agent ?? '';
export const taskOf = (r: AuditRecord) => r.task_id ?? r.attrs?.task_id ?? '';
export const what = (r: AuditRecord) => r.method ?? r.event ?? '';

/** stageOf is the stage of the request path that refused a call; '' where none did. internal/refusal says the same. */
export function stageOf(r: AuditRecord): string {
  if (r.type !== 'call' || !r.decision || r.decision === 'allow') return '';
  if (r.limit) return 'limits';
  const known = reasons[r.reason ?? ''];
  if (r.decision === 'deny' && r.rule && known?.byRule) return 'policy';
  return known?.stage ?? 'decoding';
}

/** decider is the rule or limit that decided; '' where neither did. */
export const decider = (r: AuditRecord) => r.limit ?? r.rule ?? '';

/** statusOf is the HTTP status, and beside it the JSON-RPC code of the gateway's refusal, which can come with 200. */
export function statusOf(r: AuditRecord): string {
  const code = r.binding === 'JSONRPC' && stageOf(r) ? reasons[r.reason ?? '']?.code : undefined;
  return [r.status, code].filter((n) => n !== undefined).join(' · ');
}

/** cause is the reason, and the gateway's own words, which the caller was not told. */
export const cause = (r: AuditRecord) =>
  r.type === 'event' ? why(r) : [r.reason, r.cause].filter(Boolean).join(': ') || (r.decision === 'deny' && r.rule === 'default' ? 'no rule allows it' : '');

/** why is what decided, or what came of it, in a few words. */
export function why(r: AuditRecord): string {
  if (r.type === 'event') return [r.attrs?.outcome, r.attrs?.why, r.attrs?.detector, r.attrs?.target_host, r.attrs?.id].filter(Boolean).join(' · ');
  // Where a limit refused the call, the rule has allowed it before.
  return [r.limit ? `limit ${r.limit}` : r.rule && `rule ${r.rule}`, r.reason, r.cause].filter(Boolean).join(' · ') || (r.decision === 'deny' ? 'no rule allows it' : '');
}

const bad = /^(dead|failed|refused|gone)$/;

/** Decision says in a word what was decided of a call, or that something happened. */
export function Decision({ of: r }: { of: AuditRecord }) {
  if (r.event === 'push.delivery') return <Badge tone={r.attrs?.outcome === 'delivered' ? 'good' : r.attrs?.outcome === 'failed' ? 'warn' : 'bad'}>{r.attrs?.outcome}</Badge>;
  if (r.type === 'event') return <Badge tone={bad.test(r.attrs?.outcome ?? '') || r.event === 'admin.refused' ? 'warn' : 'calm'}>event</Badge>;
  if (r.type === 'intent') return <Badge tone="calm">begun</Badge>;
  return <Badge tone={r.decision === 'deny' ? 'bad' : r.decision === 'error' || (r.status ?? 0) >= 400 ? 'warn' : 'good'}>{r.decision}</Badge>;
}

export const milliseconds = (ms: number) => (ms >= 1000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`);

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hour12: false });
const day = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: '2-digit' });

/** Clock is when a record was made, to the millisecond; with the day unless that is today. */
export function Clock({ at }: { at: string }) {
  const date = new Date(at);
  const today = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={exact(date)}>
      {!today && `${day.format(date)} `}
      {clock.format(date)}
    </time>
  );
}

export function RecordLink({ of: r, children }: { of: AuditRecord; children: ReactNode }) {
  return (
    <Link to="/audit/$seq" params={{ seq: String(r.seq) }}>
      {children}
    </Link>
  );
}

/** Cut is a text in as much room as there is. */
export function Cut({ text, code }: { text: string; code?: boolean }) {
  if (!text) return <span className="faint">–</span>;
  return code ? (
    <code className="cut" title={text}>
      {text}
    </code>
  ) : (
    <span className="cut" title={text}>
      {text}
    </span>
  );
}

/** Pick is a value that filters by itself when it is chosen. */
export function Pick({ by, text, children }: { by: Field | Choice; text: string; children?: ReactNode }) {
  if (!text) return <span className="faint">–</span>;
  return (
    <Link from="/audit" to="/audit" search={(s) => ({ ...s, [by]: text })} className="cut pick" title={`Show records with ${by} ${text}`}>
      {children ?? text}
    </Link>
  );
}
