import { Badge } from './state';

const states: Record<string, { tone: 'good' | 'warn' | 'bad' | 'calm'; says: string }> = {
  waiting: { tone: 'warn', says: 'people have to agree before the gateway sends the call' },
  approved: { tone: 'calm', says: 'enough people have agreed; the gateway is about to send the call' },
  sending: { tone: 'calm', says: 'the gateway is sending the call to the agent' },
  sent: { tone: 'good', says: 'the agent has the call' },
  failed: { tone: 'bad', says: 'the call was approved, and the agent or the gateway refused it' },
  lost: { tone: 'bad', says: 'the call was approved; whether the agent has it is not known' },
  rejected: { tone: 'bad', says: 'an approver rejected the call' },
  canceled: { tone: 'calm', says: 'the caller canceled the call' },
  expired: { tone: 'calm', says: 'nobody agreed in time' },
  void: { tone: 'bad', says: 'the call was approved, and may not be made any more' },
};

/** says is a state in a sentence. */
export const says = (state: string): string => states[state]?.says ?? '';

/** moves reports whether a call in a state will soon have another, without anybody's doing. */
export const moves = (state: string): boolean => state === 'approved' || state === 'sending';

/** State is where a call stands that people have to agree to. */
export function State({ of }: { of: string }) {
  return (
    <span title={says(of)}>
      <Badge tone={states[of]?.tone ?? 'calm'}>{of}</Badge>
    </span>
  );
}
