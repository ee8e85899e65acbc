import type { components } from '../api/schema';
import { contentOf, type Doc, doc, parse, partsOf, stateOf } from './document';

type Piece = components['schemas']['Piece'];

/** Came is an event of an agent's answer: what it says in a few words, and all of it. */
export interface Came {
  at: number; // milliseconds since the call began, when the end of it came
  what: string;
  text: string; // JSON with its lines broken, where it is JSON
}

/** neat is JSON with its lines broken, and any other text as it is. */
export function neat(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** streamed tells an answer that is a stream of server-sent events. */
const streamed = (text: string) => /^(data|event|id|retry|):/.test(text);

/** eventsOf are the events that have come, of server-sent events or, over gRPC, of messages; null for an answer that is none. */
export function eventsOf(pieces: Piece[], binding: string): Came[] | null {
  const chunks = new Map<string, number>(); // of each artifact
  if (binding === 'GRPC') return pieces.map((p) => ({ at: p.at, what: summary(p.text, chunks), text: neat(p.text) }));
  if (!streamed(pieces.slice(0, 10).map((p) => p.text).join(''))) return null;
  const events: Came[] = [];
  let rest = '';
  let lines: string[] = [];
  for (const p of pieces) {
    const all = (rest + p.text).split(/\r\n|\n|\r(?!$)/);
    rest = all.pop() ?? '';
    for (const line of all) {
      if (line === '') {
        if (lines.length > 0) events.push(read(lines, p.at, chunks));
        lines = [];
      } else if (line.startsWith(':') && lines.length === 0) {
        events.push({ at: p.at, what: 'sign of life', text: line });
      } else lines.push(line);
    }
  }
  if (lines.length > 0 || rest.trim() !== '') events.push({ at: pieces.at(-1)?.at ?? 0, what: 'not complete', text: [...lines, rest].join('\n').trimEnd() });
  return events;
}

function read(lines: string[], at: number, chunks: Map<string, number>): Came {
  const field = (name: string) => lines.filter((l) => l.startsWith(`${name}:`)).map((l) => l.slice(name.length + 1).replace(/^ /, ''));
  const data = field('data').join('\n');
  const others = lines.filter((l) => !l.startsWith('data:'));
  return { at, what: data === '' ? (others[0] ?? '') : summary(data, chunks), text: [...others, neat(data)].join('\n') };
}

/** said is the text of a message or an artifact, as much of it as a line takes. */
function said(of: Doc | undefined): string {
  const text = (of ? partsOf(of) : []).map((p) => p.text).filter((t) => typeof t === 'string').join(' ').replace(/\s+/g, ' ').trim();
  return text === '' ? '' : `: “${text.length > longest ? `${text.slice(0, longest)}…` : text}”`;
}

const longest = 80; // characters of a text in a line

/** summary is what an event says, in a line, whatever the version of A2A. chunks counts those of artifacts. */
function summary(text: string, chunks: Map<string, number>): string {
  const all = parse(text);
  if (!all) return 'no JSON';
  const { error, task, artifact: update, status, message } = contentOf(all);
  if (error) return `error ${String(error.code ?? '')}: ${String(error.message ?? '')}`;
  if (task) return `task ${spaced(task.status)}${said(doc(doc(task.status)?.message))}`;
  if (update) {
    const artifact = doc(update.artifact) ?? {};
    const id = String(artifact.artifactId ?? artifact.index ?? '');
    const n = (chunks.get(id) ?? 0) + 1;
    chunks.set(id, n);
    const notes = [(update.append ?? artifact.append) && 'append', (update.lastChunk ?? artifact.lastChunk) && 'last'].filter(Boolean);
    return `artifact${artifact.name ? ` ${String(artifact.name)}` : ''} chunk ${n}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}${said(artifact)}`;
  }
  if (status) return `status ${spaced(status.status)}${status.final === true ? ' (final)' : ''}${said(doc(doc(status.status)?.message))}`;
  if (message) return `message${said(message)}`;
  return 'document';
}

const spaced = (status: unknown) => stateOf(doc(status)).replaceAll('-', ' ');
