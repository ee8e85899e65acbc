import type { AuditRecord } from '../parts/record';
import { Failure } from './client';

export interface Hears {
  open: (after: number) => void;
  records: (batch: (AuditRecord | { dropped: number })[]) => void;
}

const longest = 8 << 20; // characters of one frame

/** follow hears records as they are made, until the signal or an error ends it. */
export async function follow(query: string, hears: Hears, signal: AbortSignal): Promise<never> {
  let answer: Response;
  try {
    answer = await fetch(`/api/v1/live?${query}`, { credentials: 'same-origin', redirect: 'error', signal });
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
    const frames = (rest + part.value).split('\n\n');
    rest = frames.pop() ?? '';
    if (rest.length > longest) throw new Failure(0, 'BROKEN', 'The gateway sent more at once than this page takes.');
    hear(frames, hears);
  }
}

function hear(frames: string[], hears: Hears): void {
  const batch: (AuditRecord | { dropped: number })[] = [];
  for (const frame of frames) {
    const name = /^event: (.*)$/m.exec(frame)?.[1];
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (name === undefined || data === undefined) continue; // a sign of life
    const value: unknown = JSON.parse(data);
    if (name === 'record') batch.push(value as AuditRecord);
    else if (name === 'gap') batch.push(value as { dropped: number });
    else if (name === 'open') hears.open((value as { after: number }).after);
    else if (name === 'end') {
      if (batch.length > 0) hears.records(batch);
      const { code, detail } = value as { code: string; detail: string };
      throw new Failure(code === 'UNAUTHENTICATED' ? 401 : 503, code, detail);
    }
  }
  if (batch.length > 0) hears.records(batch);
}
