import type { AuditRecord } from '../parts/record';
import { Failure, stream } from './client';
import { ended, type Frame, framesOf } from './frames';

export interface Hears {
  open: (after: number) => void;
  records: (batch: (AuditRecord | { dropped: number })[]) => void;
}

const longest = 8 << 20; // characters of one event

/** frames hears server-sent events of the admin API, until the signal or an error ends it. */
export async function frames(path: string, hear: (batch: Frame[]) => void, signal: AbortSignal): Promise<never> {
  const heard = (batch: Frame[]) => {
    const end = batch.find((f) => f.name === 'end');
    const before = batch.filter((f) => f.name !== 'end');
    if (before.length > 0) hear(before);
    if (end) throw ended(end);
  };
  await framesOf(await stream(path, signal), heard, longest);
  throw new Failure(0, 'BROKEN', 'The gateway ended the connection.');
}

/** follow hears records as they are made, until the signal or an error ends it. */
export function follow(query: string, hears: Hears, signal: AbortSignal): Promise<never> {
  return frames(
    `/api/v1/live?${query}`,
    (heard) => {
      const batch: (AuditRecord | { dropped: number })[] = [];
      for (const { name, value } of heard) {
        if (name === 'open') hears.open((value as { after: number }).after);
        else if (name === 'record' || name === 'gap') batch.push(value as AuditRecord | { dropped: number });
      }
      if (batch.length > 0) hears.records(batch);
    },
    signal,
  );
}
