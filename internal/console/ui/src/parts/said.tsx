/** Line is a piece of a conversation: a message, an artifact, a state, or what is none of them. */
interface Line {
  what: string;
  text: string;
}

type Doc = Record<string, unknown>;

const isDoc = (v: unknown): v is Doc => typeof v === 'object' && v !== null && !Array.isArray(v);
const doc = (v: unknown): Doc | undefined => (isDoc(v) ? v : undefined);
const list = (v: unknown): Doc[] => (Array.isArray(v) ? v.filter(isDoc) : []);
const word = (v: unknown): string => (typeof v === 'string' ? v : '');

/** partText is a part in words: its text, its data, or which file it is. */
function partText(p: Doc): string {
  if (typeof p.text === 'string') return p.text;
  if (p.data !== undefined) return JSON.stringify(p.data, null, 2);
  const file = doc(p.file) ?? p;
  return `[file ${word(file.filename) || word(file.name) || word(file.url) || word(file.uri)} ${word(file.mediaType) || word(file.mimeType)}]`.replace(/ +\]$/, ']');
}

const partsOf = (v: Doc): string => list(v.parts ?? v.content).map(partText).join('\n');
const stateOf = (v: unknown): string => word(v).replace(/^TASK_STATE_/, '').toLowerCase().replaceAll('_', '-');

function message(m: Doc): Line[] {
  return [{ what: /user$/i.test(word(m.role)) ? 'user' : 'agent', text: partsOf(m) }];
}

function status(s: Doc | undefined): Line[] {
  if (!s) return [];
  const m = doc(s.message);
  return [...(s.state === undefined ? [] : [{ what: 'state', text: stateOf(s.state) }]), ...(m ? message(m) : [])];
}

const artifact = (a: Doc): Line => ({ what: `artifact ${word(a.name) || word(a.artifactId)}`.trim(), text: partsOf(a) });

/** linesOf reads a document of A2A, of any version and binding. */
function linesOf(v: Doc): Line[] {
  const error = doc(v.error);
  if (error) return [{ what: 'error', text: [error.code, error.message].filter((t) => t !== undefined).join(': ') }];
  const result = doc(v.result);
  if (result) return linesOf(result);
  const updated = doc(v.statusUpdate) ?? (v.kind === 'status-update' ? v : undefined);
  if (updated) return status(doc(updated.status));
  const made = doc(v.artifactUpdate) ?? (v.kind === 'artifact-update' ? v : undefined);
  if (made) return list([made.artifact]).map(artifact);
  const said = doc(v.message) ?? doc(v.msg) ?? (v.role !== undefined ? v : undefined);
  if (said) return message(said);
  const task = doc(v.task) ?? (v.status !== undefined ? v : undefined);
  if (task) return [...list(task.history).flatMap(message), ...status(doc(task.status)), ...list(task.artifacts).map(artifact)];
  return [];
}

function read(text: string): Line[] {
  let v: unknown;
  try {
    v = JSON.parse(text);
  } catch {
    return []; // it was cut
  }
  return isDoc(v) ? linesOf(v) : [];
}

/** Said is what captured content says: messages, artifacts and states of each document, or its text where it is none of A2A's. */
export function Said({ text, cut, fault, label }: { text: string; cut?: boolean; fault?: string; label: string }) {
  if (fault) return <p className="hint">Not captured: {fault}</p>;
  const documents = text.split('\n').filter(Boolean);
  return (
    <div className="words" role="group" aria-label={label}>
      {documents.map((d, i) => {
        const lines = read(d);
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
