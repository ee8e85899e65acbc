import type { CardSummary } from '../api/client';

type State = CardSummary['state'];

export const tones: Record<State, 'good' | 'warn' | 'bad' | 'calm'> = {
  pending: 'calm',
  accepted: 'good',
  alerted: 'warn',
  quarantined: 'bad',
  approved: 'good',
  rejected: 'calm',
  refused: 'bad',
};

export const approvable = (s: State) => s === 'quarantined' || s === 'rejected' || s === 'alerted';
export const rejectable = (s: State) => s === 'quarantined';

/** decides reports whether somebody should look at a card of this state. */
export const decides = (s: State) => s === 'quarantined' || s === 'alerted';
