import type { Agent, Instance } from '../api/client';

type Tone = 'good' | 'warn' | 'bad';

/** states are what an agent can be, the worst first, and what to do about it. */
const states: Record<string, { tone: Tone; advice?: string }> = {
  'not served': { tone: 'bad', advice: 'The gateway accepts calls for it once this is fixed.' },
  'no-card': { tone: 'bad', advice: 'The gateway retries by itself. Check that the agent is running and that the configuration has the right address of its card.' },
  'no-interface': { tone: 'bad', advice: 'The agent has to correct its card. Until then you can set its interfaces in the configuration (agents[].interfaces).' },
  unreachable: { tone: 'bad', advice: 'Check the network and the endpoints of the agent. The first call that succeeds clears this.' },
  failing: { tone: 'bad', advice: 'See the agent’s log. The first call that succeeds clears this.' },
  'card-waiting': { tone: 'warn', advice: 'Review the card below, and approve or reject it. Until then the card in force applies, if there is one.' },
  'card-stale': { tone: 'warn', advice: 'The card in force still applies. Check that the configuration has the right address of the card.' },
  pending: { tone: 'warn' },
  serving: { tone: 'good' },
};

export const words = Object.keys(states);

/** health is the word for whether calls reach an agent. */
export const health = (a: Agent): string => a.state ?? 'not served';

/** reached reports whether calls reach an agent: by the card in force, whatever the next card waits for. */
export const reached = (a: Agent): boolean => a.state === 'serving' || ((a.state === 'card-waiting' || a.state === 'card-stale') && a.interfaces !== undefined);

export const toneOf = (word: string): Tone => states[word]?.tone ?? 'bad';

export const adviceOn = (word: string): string | undefined => states[word]?.advice;

/** reason is why calls do not reach an agent, without the word. */
export function reason(a: Agent): string | undefined {
  const word = `${a.state}: `;
  return a.failure?.startsWith(word) ? a.failure.slice(word.length) : a.failure;
}

/** Condition is what an instance is: one that is slow gets calls still. */
export type Condition = 'healthy' | 'slow' | 'unhealthy';

// An instance is slow that takes so many times as long as the quick ones, and so many seconds longer.
const times = 3;
const longer = 0.05;

/** quick is how long the quick instances take: a quarter of them answers at least as fast. */
export function quick(all: Instance[]): number | undefined {
  const known = all.flatMap((i) => (i.healthy && i.latency !== undefined ? [i.latency] : [])).sort((a, b) => a - b);
  return known[Math.floor((known.length - 1) / 4)];
}

export function condition(i: Instance, quickest: number | undefined): Condition {
  if (!i.healthy) return 'unhealthy';
  if (i.latency === undefined || quickest === undefined) return 'healthy';
  return i.latency >= quickest * times && i.latency >= quickest + longer ? 'slow' : 'healthy';
}

/** tally says how many instances are how, in the order of the table of them. */
export function tally(all: Instance[], of: Condition[] = ['unhealthy', 'slow', 'healthy']): string {
  const quickest = quick(all);
  const found = all.map((i) => condition(i, quickest));
  return of
    .map((c) => [found.filter((f) => f === c).length, c] as const)
    .filter(([n]) => n > 0)
    .map(([n, c]) => `${n} ${c}`)
    .join(', ');
}
