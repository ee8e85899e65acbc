import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { get } from '../api/client';
import type { components } from '../api/schema';
import { Copy } from './copy';
import { type AuditRecord, statusOf } from './record';
import { trySearch } from '../screens/try';
import { Loading, Trouble } from './state';

type Refused = components['schemas']['Refused'];

const words = (v: unknown) => (Array.isArray(v) ? v.join(' ') : '');
const text = (v: unknown) => (typeof v === 'string' ? v : '');
const set = <T extends Record<string, string>>(of: T) => Object.fromEntries(Object.entries(of).filter(([, v]) => v !== '')) as Partial<T>;

/** question is what Explain has to know of a recorded call. */
export const question = (r: AuditRecord) =>
  set({
    agent: text(r.agent),
    method: text(r.method),
    skill: text(r.skill),
    subject: text(r.principal),
    issuer: text(r.issuer),
    groups: words(r.groups),
    scopes: words(r.scopes),
    client: text(r.client),
    tenant: text(r.tenant),
    acr: text(r.acr),
    source: text(r.client_ip),
    extensions: words(r.extensions_requested),
  });

/** attempt is what Try it has to know of a recorded call. */
const attempt = (r: AuditRecord) => trySearch({ agent: r.agent, skill: r.skill, method: r.method, version: r.version, binding: r.binding, caller: r.principal });

// The names that records have in place of a rule's, where something else than a rule of the configuration decided.
const standins = ['default', 'credential', 'undeclared', 'skill-scopes'];

/** around is the minute in which a call was made. */
const around = (r: AuditRecord) => ({ since: new Date(Date.parse(r.start ?? r.time) - 1_000).toISOString(), until: new Date(Date.parse(r.time) + 1_000).toISOString() });

/** Refusal says why a call was refused, and leads to what can be done about it. */
export function Refusal({ of: r, operates }: { of: AuditRecord; operates: boolean }) {
  const found = useQuery({ queryKey: ['refusal', r.seq], queryFn: () => get<Refused>(`/api/v1/audit/records/${r.seq}/refusal`), refetchInterval: false, staleTime: Infinity });
  if (found.isPending) return <Loading />;
  if (found.isError) return <Trouble error={found.error} again={() => void found.refetch()} />;
  const why = found.data;
  const rule = why.rule && !standins.includes(why.rule) ? why.rule : undefined;
  return (
    <section aria-label="Refusal" className="refusal">
      <dl className="facts">
        <Said name="Refused by stage">{why.stage}</Said>
        <Said name={why.limit ? 'Limit' : 'Rule'}>
          <span>{why.limit ?? why.rule ?? 'none'}</span>
          {why.place && (
            <div className="hint">
              <code>{why.place}</code> <Copy text={why.place} label="place of the rule" />
            </div>
          )}
          {why.rule === 'default' && <div className="hint">policy.default: no rule allows the call</div>}
        </Said>
        <Said name="Status">{statusOf(r)}</Said>
        <Said name="Reason">
          {r.reason}
          {why.cause && <div className="hint">{why.cause}</div>}
        </Said>
      </dl>
      <p>
        <strong>Remedy:</strong> {why.remedy}
      </p>
      <div className="bar">
        {r.agent && (
          <Link to="/policy" search={{ view: 'explain', ...question(r) }} className="button">
            Explain this call
          </Link>
        )}
        {r.agent && operates && (
          <Link to="/try" search={attempt(r)} className="button">
            Try as this caller
          </Link>
        )}
        {rule && (
          <Link to="/policy" search={{ rule, q: rule }} className="button">
            Open the rule
          </Link>
        )}
        {why.stage === 'policy' && (
          <Link to="/policy" search={{ view: 'replay', ...around(r), ...(rule && { rule }) }} className="button">
            Replay with a changed rule
          </Link>
        )}
      </div>
    </section>
  );
}

function Said({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
