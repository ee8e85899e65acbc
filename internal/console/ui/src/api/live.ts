import type { AuditRecord } from '../parts/record';
import { Failure } from './client';

export interface Hears {
  open: (after: number) => void;
  records: (batch: (AuditRecord | { dropped: number })[]) => void;
}

/** Frame is one server-sent event. */
export interface Frame {
  name: string;
  value: unknown;
}

const longest = 8 << 20; // characters of one frame

/** frames hears server-sent events of the admin API, until the signal or an error ends it. */
export async function frames(path: string, hear: (batch: Frame[]) => void, signal: AbortSignal): Promise<never> {
  let answer: Response;
  try {
    answer = await fetch(path, { credentials: 'same-origin', redirect: 'error', signal });
  } catch {
    throw new Failure(0, 'UNREACHABLE', 'The gateway does not answer. Is it running, and is this machine still connected to it?');
  }
  if (!answer.ok || !answer.body) {
    const problem = (await answer.json().catch(() => null)) as { code?: string; detail?: string } | null;
    throw new Failure(answer.status, problem?.code ?? 'UNKNOWN', problem?.detail ?? `The gateway answered ${answer.status}.`);
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    let part: ReadableStreamReadResult<string>;
    try {
      part = await reader.read();
    } catch {
      throw new Failure(0, 'BROKEN', 'The connection to the gateway broke.');
    }
    if (part.done) throw new Failure(0, 'BROKEN', 'The gateway ended the connection.');
    const texts = (rest + part.value).split('\n\n');
    rest = texts.pop() ?? '';
    if (rest.length > longest) throw new Failure(0, 'BROKEN', 'The gateway sent more at once than this page takes.');
    const batch: Frame[] = [];
    for (const text of texts) {
      const name = /^event: (.*)$/m.exec(text)?.[1];
      const data = /^data: (.*)$/m.exec(text)?.[1];
      if (name === undefined || data === undefined) continue; // a sign of life
      batch.push({ name, value: JSON.parse(data) });
    }
    const end = batch.find((f) => f.name === 'end');
    const before = batch.filter((f) => f.name !== 'end');
    if (before.length > 0) hear(before);
    if (end) {
      const { code, detail } = end.value as { code: string; detail: string };
      throw new Failure(code === 'UNAUTHENTICATED' ? 401 : 503, code, detail);
    }
  }
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
