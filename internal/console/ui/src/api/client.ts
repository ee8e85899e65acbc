import type { components } from './schema';

// The admin API as pages use it: cookies say who asks, and changes show the CSRF token.
type Schemas = components['schemas'];
export type Me = Schemas['Me'];
export type Agent = Schemas['Agent'];
export type AgentDraft = Schemas['AgentDraft'];
export type AgentChecked = Schemas['AgentChecked'];
export type Instance = Schemas['Instance'];
export type CardSummary = Schemas['CardSummary'];
export type CardDetail = Schemas['CardDetail'];
export type Delivery = Schemas['Delivery'];
export type Depth = Schemas['Depth'];
export type Ways = Schemas['Ways'];
export type ContentPage = Schemas['ContentPage'];
export type Verification = Schemas['Verification'];
export type Role = Schemas['Role'];
export type Question = Schemas['Question'];
export type Explanation = Schemas['Explanation'];
export type Hits = Schemas['Hits'];
export type Overview = Schemas['Overview'];
export type KnownValues = Schemas['KnownValues'];
export type TopCallers = Schemas['TopCallers'];
export type Changes = Schemas['RecentChanges'];
export type Trends = Schemas['Trends'];
export type Replayed = Schemas['Replayed'];
export type Redecided = Schemas['Redecided'];
export type Checked = Schemas['Checked'];
export type Guard = Schemas['ShownGuard'];
export type GuardFindings = Schemas['GuardFindings'];
export type Found = Schemas['Found'];
export type GuardTried = Schemas['GuardTried'];
export type GuardReplay = Schemas['GuardReplay'];
export type GuardChange = Schemas['GuardChange'];
export type Registry = Schemas['Registry'];
export type Adoption = Schemas['Adoption'];
export type Standing = Schemas['Standing'];
export type Traffic = Schemas['Traffic'];
export type Course = Schemas['Course'];
export type CallerLimit = Schemas['CallerLimit'];
export type CallerLimits = Schemas['CallerLimits'];
export type Throttled = Schemas['Throttled'];
export type Cluster = Schemas['Cluster'];
export type Peer = Schemas['Peer'];
export type Identities = Schemas['Identities'];
export type APIKey = Schemas['APIKey'];
export type MadeKey = Schemas['MadeKey'];
export type OpenStream = Schemas['OpenStream'];
export type OpenStreams = Schemas['OpenStreams'];
export type RecordContent = Schemas['RecordContent'];
export type CardView = Schemas['CardView'];
export type Approval = Schemas['Approval'];
export type ApprovalDetail = Schemas['ApprovalDetail'];

/** Failure is an answer that is an error, or that there was none. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly retryAfter?: string,
    readonly line?: number,
  ) {
    super(detail);
  }
}

let csrf = '';

export async function ask<T>(method: string, path: string, headers: Record<string, string> = {}, body?: string, parse: (text: string) => unknown = JSON.parse): Promise<T> {
  if (method !== 'GET' && csrf !== '') headers['X-CSRF-Token'] = csrf;
  let answer: Response;
  try {
    answer = await fetch(path, { method, headers, credentials: 'same-origin', redirect: 'error', ...(body !== undefined && { body }) });
  } catch {
    throw new Failure(0, 'UNREACHABLE', 'The gateway does not answer. Is it running, and is this machine still connected to it?');
  }
  const said: unknown = await answer
    .text()
    .then((text) => parse(text))
    .catch(() => null);
  if (!answer.ok) throw failure(answer, said);
  return said as T;
}

function failure(answer: Response, said: unknown): Failure {
  const problem = said as Partial<Schemas['Problem']> | null;
  return new Failure(
    answer.status,
    problem?.code ?? 'UNKNOWN',
    problem?.detail ?? `The gateway answered ${answer.status}.`,
    answer.headers.get('Retry-After') ?? undefined,
    problem?.line,
  );
}

/** stream asks for server-sent events, which frames.ts reads, with a document if there is one. */
export async function stream(path: string, signal: AbortSignal, body?: unknown): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const written = body !== undefined && { method: 'POST', body: JSON.stringify(body) };
  const headers = { Accept: 'text/event-stream', ...(written && { 'Content-Type': 'application/json', ...(csrf !== '' && { 'X-CSRF-Token': csrf }) }) };
  const answer = await fetch(path, { ...written, headers, credentials: 'same-origin', redirect: 'error', signal }).catch(() => {
    throw new Failure(0, 'UNREACHABLE', 'The gateway does not answer. Is it running, and is this machine still connected to it?');
  });
  if (!answer.ok || !answer.body) throw failure(answer, await answer.json().catch(() => null));
  return answer.body;
}

export const get = <T>(path: string, parse?: (text: string) => unknown) => ask<T>('GET', path, {}, undefined, parse);

/** post sends a document. */
export const post = <T>(path: string, body: unknown) => ask<T>('POST', path, { 'Content-Type': 'application/json' }, JSON.stringify(body));

/** every has all of a list that comes in pages. */
export async function every<K extends string, T>(path: string, key: K): Promise<T[]> {
  const all: T[] = [];
  let next: string | undefined = '';
  do {
    const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page: Record<K, T[]> & { next?: string } = await get(`${path}?limit=1000${cursor}`);
    all.push(...page[key]);
    next = page.next;
  } while (next);
  return all;
}

/** me is who asks; null for nobody. */
export async function me(): Promise<Me | null> {
  try {
    const who = await get<Me>('/api/v1/session');
    csrf = who.csrf ?? '';
    return who;
  } catch (e) {
    if (e instanceof Failure && e.status === 401) return null;
    throw e;
  }
}

export async function signIn(token: string): Promise<Me> {
  const who = await ask<Me>('POST', '/api/v1/login', { Authorization: `Bearer ${token}` });
  csrf = who.csrf ?? '';
  return who;
}

export async function signOut(): Promise<void> {
  const out = await ask<{ provider?: string }>('POST', '/api/v1/logout');
  csrf = '';
  if (out.provider) location.assign(out.provider);
}

const ranks: Role[] = ['viewer', 'operator', 'admin'];

/** has tells whether somebody has a role, for what changes nothing. */
export const has = (who: Me, needs: Role) => ranks.indexOf(who.role) >= ranks.indexOf(needs);

export const may = (who: Me, needs: Role) => !who.readOnly && has(who, needs);
