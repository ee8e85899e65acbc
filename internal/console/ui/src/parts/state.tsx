import { CircleAlert, Inbox, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { Failure } from '../api/client';

/** Badge is a state in a word; its tone is never all that says it. */
export function Badge({ tone, children }: { tone: 'good' | 'warn' | 'bad' | 'calm'; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="empty">
      <Inbox size={22} aria-hidden />
      <strong>{title}</strong>
      <p>{children}</p>
    </div>
  );
}

export function Loading() {
  return (
    <div className="loading" role="status">
      <LoaderCircle size={18} className="spin" aria-hidden /> Loading…
    </div>
  );
}

/** advice is what to do about an error. */
function advice(e: Failure): string {
  switch (e.code) {
    case 'UNREACHABLE':
      return 'Check that the gateway runs; this page asks again by itself.';
    case 'STATE_UNAVAILABLE':
      return 'The gateway cannot reach its store: look at /readyz and at the store itself.';
    case 'THROTTLED':
      return `Too many failures came from this address. Wait ${e.retryAfter ?? 'some'} seconds.`;
    case 'UNAUTHENTICATED':
      return 'Is it the token of this gateway, and has it not expired? The gateway’s own is in admin.token below server.dataDir.';
    case 'FORBIDDEN':
      return 'Ask whoever administers the gateway for the role.';
    case 'READ_ONLY':
      return 'admin.readOnly is set in the configuration.';
    case 'CSRF_TOKEN':
      return 'The session was begun anew in another tab: reload this page.';
    case 'UNRECORDED':
      return 'The audit log takes nothing: look at its disk. Nothing was changed.';
    case 'PROVIDER_UNAVAILABLE':
      return 'The identity provider cannot be reached; a token works without it.';
    case 'INVALID_CALL':
    case 'INVALID_QUESTION':
      return 'Mend the question, and ask again. Nothing was done.';
    case 'REPLAY_LIMIT':
      return 'The configuration of the gateway says how much may be replayed at once.';
    case 'NO_SUCH_AGENT':
      return 'It may have been removed. The fleet lists those there are.';
    case 'NO_SUCH_CARD':
      return 'Somebody has decided, or the agent serves another card by now: reload.';
    case 'NO_SUCH_DELIVERY':
      return 'It was delivered, dropped or taken up meanwhile.';
    case 'NO_SUCH_KEY':
      return 'It was revoked meanwhile, or taken out of the file.';
    case 'KEYS_OFF':
      return 'The configuration says whether keys are changed here: authn.apiKeys.api.';
    case 'INVALID_KEY':
      return 'Mend what was asked for. No key was made.';
    case 'BUSY':
      return 'Somebody else asks for as much as the gateway gives at a time. Ask again in a moment, or for less.';
    case 'INVALID_PARAMETER':
      return 'Ask for something else.';
    case 'BROKEN':
      return 'This page connects again by itself.';
    default:
      return 'The gateway’s log says more.';
  }
}

export function Trouble({ error, again }: { error: unknown; again?: () => void }) {
  const e = error instanceof Failure ? error : new Failure(0, 'PAGE', error instanceof Error ? error.message : String(error));
  return (
    <div className="trouble" role="alert">
      <CircleAlert size={18} aria-hidden />
      <div>
        <strong>{e.message}</strong>
        <p>{advice(e)}</p>
      </div>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Tile({ label, value, tone }: { label: string; value: ReactNode; tone?: 'warn' | 'bad' | undefined }) {
  return (
    <div className={tone ? `tile ${tone}` : 'tile'}>
      <span>{label}</span>
      <strong>{value}</strong>
    </div>
  );
}
