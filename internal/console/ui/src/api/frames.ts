import { Failure } from './client';

/** Frame is one server-sent event of the admin API. */
export interface Frame {
  name: string;
  value: unknown;
}

/** framesOf hears the events of an answer until it ends; those that come together are heard together. longest is how many characters one may have. */
export async function framesOf(answer: ReadableStream<Uint8Array<ArrayBuffer>>, hear: (batch: Frame[]) => void, longest = Infinity): Promise<void> {
  const reader = answer.pipeThrough(new TextDecoderStream()).getReader();
  let rest: string[] = []; // of an event that has not ended, which may come in many parts
  let size = 0;
  for (;;) {
    const part = await reader.read().catch(() => {
      throw new Failure(0, 'BROKEN', 'The connection to the gateway broke.');
    });
    if (part.done) return;
    rest.push(part.value);
    size += part.value.length;
    if (size > longest && !part.value.includes('\n')) throw new Failure(0, 'BROKEN', 'The gateway sent more at once than this page takes.');
    if (!part.value.includes('\n')) continue;
    const texts = rest.join('').split('\n\n');
    rest = [texts.pop() ?? ''];
    size = rest[0]?.length ?? 0;
    const batch = texts.flatMap((text) => {
      const name = /^event: (.*)$/m.exec(text)?.[1];
      const data = /^data: (.*)$/m.exec(text)?.[1];
      return name === undefined || data === undefined ? [] : [{ name, value: JSON.parse(data) as unknown }]; // else a sign of life
    });
    if (batch.length > 0) hear(batch);
  }
}

/** ended is why a viewer gets no more, as the event "end" says. */
export function ended({ value }: Frame): Failure {
  const { code, detail } = value as { code: string; detail: string };
  return new Failure(code === 'UNAUTHENTICATED' ? 401 : 503, code, detail);
}
