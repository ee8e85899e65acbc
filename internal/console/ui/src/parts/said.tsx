import { contentOf, type Doc, doc, list, parse, partsOf, stateOf } from './document';

/** Line is a piece of a conversation: a message, an artifact, a state, or what is none of them. */
interface Line {
  what: string;
  text: string;
}

const word = (v: unknown): string => (typeof v === 'string' ? v : '');

/** partText is a part in words: its text, its data, or which file it is. */
function partText(p: Doc): string {
  if (typeof p.text === 'string') return p.text;
  if (p.data !== undefined) return JSON.stringify(p.data, null, 2);
  const file = doc(p.file) ?? p;
  return `[file ${word(file.filename) || word(file.name) || word(file.url) || word(file.uri)} ${word(file.mediaType) || word(file.mimeType)}]`.replace(/ +\]$/, ']');
}

const textOf = (v: Doc): string => partsOf(v).map(partText).join('\n');

function message(m: Doc): Line[] {
  return [{ what: /user$/i.test(word(m.role)) ? 'user' : 'agent', text: textOf(m) }];
}

function status(s: Doc | undefined): Line[] {
  if (!s) return [];
  const m = doc(s.message);
  return [...(s.state === undefined ? [] : [{ what: 'state', text: stateOf(s) }]), ...(m ? message(m) : [])];
}

const artifact = (a: Doc): Line => ({ what: `artifact ${word(a.name) || word(a.artifactId)}`.trim(), text: textOf(a) });

/** linesOf reads a document; none for what is none of A2A's, or was cut. */
function linesOf(text: string): Line[] {
  const all = parse(text);
  if (!all) return [];
  const c = contentOf(all);
  if (c.error) return [{ what: 'error', text: [c.error.code, c.error.message].filter((t) => t !== undefined).join(': ') }];
  if (c.status) return status(doc(c.status.status));
  if (c.artifact) return list([c.artifact.artifact]).map(artifact);
  if (c.message) return message(c.message);
  if (c.task) return [...list(c.task.history).flatMap(message), ...status(doc(c.task.status)), ...list(c.task.artifacts).map(artifact)];
  return [];
}

/** Said is what captured content says: messages, artifacts and states of each document, or its text where it is none of A2A's. */
export function Said({ text, cut, fault, label }: { text: string; cut?: boolean; fault?: string; label: string }) {
  if (fault) return <p className="hint">Not captured: {fault}</p>;
  const documents = text.split('\n').filter(Boolean);
  return (
    <div className="words" role="group" aria-label={label}>
      {documents.map((d, i) => {
        const lines = linesOf(d);
        if (lines.length === 0)
          return (
            <pre key={i} tabIndex={0} role="region" aria-label={`${label}, document ${i + 1}`}>
              {d}
            </pre>
          );
        return lines.map((l, k) => (
          <p key={`${i} ${k}`}>
            <strong>{l.what}</strong> <span>{l.text || '–'}</span>
          </p>
        ));
      })}
      {cut && <p className="hint">The rest is cut off (telemetry.audit.content.limit).</p>}
    </div>
  );
}
