import { CircleAlert, Inbox, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { Failure } from '../api/client';
import { count } from './amount';

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
      return 'Check that the gateway is running. This page retries by itself.';
    case 'STATE_UNAVAILABLE':
      return 'The gateway cannot reach its store. Check /readyz and the store itself.';
    case 'THROTTLED':
      return `Too many failed attempts came from this address. Wait ${e.retryAfter === undefined ? 'a minute' : count(Number(e.retryAfter), 'second')}.`;
    case 'UNAUTHENTICATED':
      return 'Check that the token is of this gateway and has not expired. The gateway’s own is in admin.token below server.dataDir.';
    case 'FORBIDDEN':
      return 'Ask an administrator of the gateway for the role.';
    case 'READ_ONLY':
      return 'The configuration sets admin.readOnly.';
    case 'CSRF_TOKEN':
      return 'You signed in again in another tab. Reload this page.';
    case 'UNRECORDED':
      return 'The gateway cannot write its audit log: check its disk. Nothing was changed.';
    case 'PROVIDER_UNAVAILABLE':
      return 'The identity provider is unreachable. You can sign in with a token.';
    case 'INVALID_CALL':
    case 'INVALID_QUESTION':
      return 'Correct the request and send it again. Nothing was done.';
    case 'CONTENT_OFF':
      return 'Setting it shows operators what was captured of calls.';
    case 'REPLAY_LIMIT':
      return 'Replay fewer calls, or raise the limit in the configuration.';
    case 'NO_SUCH_AGENT':
      return 'It may have been removed. Fleet lists all agents.';
    case 'NO_DRAFT':
      return 'Change it where it comes from, and have the gateway reload.';
    case 'INVALID_AGENT':
      return 'Correct the draft. The agent is as it was.';
    case 'AGENTS_OFF':
      return 'To register agents here, set fleet.api.';
    case 'NO_SUCH_CARD':
      return 'Somebody has decided, or the agent serves another card now. Reload this page.';
    case 'NO_SUCH_DELIVERY':
      return 'It was delivered, dropped or retried meanwhile.';
    case 'NO_SUCH_KEY':
      return 'It was revoked meanwhile, or removed from the file.';
    case 'NO_SUCH_APPROVAL':
      return 'The gateway may have forgotten it (policy.approvals.keep).';
    case 'APPROVAL_DECIDED':
      return 'Somebody else has decided, or the time was over. Nothing was changed.';
    case 'APPROVAL_DIGEST':
      return 'Reload this page, and read the call again. Nothing was changed.';
    case 'NOT_AN_APPROVER':
      return 'Approvers are listed with the rule (approvers). Nothing was changed.';
    case 'MALFORMED':
      return 'Correct the fields. Nothing was changed.';
    case 'KEYS_OFF':
      return 'To manage API keys here, set authn.apiKeys.api.';
    case 'INVALID_KEY':
      return 'Correct the fields. No key was created.';
    case 'BUSY':
      return 'The gateway answers as many such requests as it may. Retry in a moment, or ask for less.';
    case 'INVALID_PARAMETER':
      return 'Change the filters or the address.';
    case 'CALL_BROKEN':
      return 'The call was ended with it. What came until then is below.';
    case 'BROKEN':
      return 'This page reconnects by itself.';
    default:
      return 'See the gateway’s log.';
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
