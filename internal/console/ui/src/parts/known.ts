import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type Agent, type CardDetail, every, Failure, get, type Identities, type KnownValues } from '../api/client';
import { useSettled } from './settled';

// What fields can be completed with. It is fetched once for each page: who types a name that
// has come since then loses nothing.
const once = { refetchInterval: false, staleTime: 60_000 } as const;

/** useAgents are the ids of agents. */
export function useAgents(): string[] {
  const found = useQuery({ queryKey: ['agents'], queryFn: () => every<'agents', Agent>('/api/v1/agents', 'agents'), refetchInterval: false });
  return (found.data ?? []).map((a) => a.id);
}

/** useIssuers are those that tokens are taken of. */
export function useIssuers(): string[] {
  const found = useQuery({ queryKey: ['identities'], queryFn: () => get<Identities>('/api/v1/identities'), ...once });
  return (found.data?.issuers ?? []).map((i) => i.issuer);
}

/** useSkills are the ids of an agent's skills, by its card in force, or the one that it serves. None are known of an agent that does not exist. */
export function useSkills(agent: string): string[] {
  const known = useQueryClient().getQueryData<Agent[]>(['agents'])?.some((a) => a.id === agent);
  const found = useQuery({
    queryKey: ['card', agent],
    queryFn: () => get<CardDetail>(`/api/v1/cards/${encodeURIComponent(agent)}`),
    enabled: known === true,
    retry: (n, e) => !(e instanceof Failure && e.status === 404) && n < 3,
    ...once,
  });
  return known ? skillsOf(found.data?.standing ?? found.data?.served) : [];
}

/** skillsOf reads a card, which an agent has written: it may be anything. */
function skillsOf(card: unknown): string[] {
  const skills = typeof card === 'object' && card !== null && 'skills' in card ? card.skills : undefined;
  if (!Array.isArray(skills)) return [];
  return skills.flatMap((s: unknown) => (typeof s === 'object' && s !== null && 'id' in s && typeof s.id === 'string' && s.id !== '' ? [s.id] : []));
}

/** useRecorded are the values that the newest audit records have in a field of a search, and that contain what was typed. */
export function useRecorded(field: string, typed: string, wanted: boolean): string[] {
  const contains = useSettled(typed.replace(/^~|\*/g, ''), 250);
  const found = useQuery({
    queryKey: ['audit-values', field, contains],
    queryFn: () => get<KnownValues>(`/api/v1/audit/values?${new URLSearchParams({ field, contains }).toString()}`),
    enabled: wanted,
    retry: false, // a field that is not completed is no trouble
    ...once,
  });
  return (found.data?.values ?? []).map((v) => v.value);
}

const shown = 50; // more are no help in a list

/** near are the values that contain what was typed, as many as a list can have. */
export function near(values: string[], typed: string): string[] {
  const text = typed.toLowerCase();
  return [...new Set(values)].filter((v) => v.toLowerCase().includes(text)).slice(0, shown);
}
