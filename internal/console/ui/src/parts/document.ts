/** Doc is a JSON object of an agent's, which may be anything. */
export type Doc = Record<string, unknown>;

const isDoc = (v: unknown): v is Doc => typeof v === 'object' && v !== null && !Array.isArray(v);
export const doc = (v: unknown): Doc | undefined => (isDoc(v) ? v : undefined);
export const list = (v: unknown): Doc[] => (Array.isArray(v) ? v.filter(isDoc) : []);

/** parse is a JSON object; undefined for what is none, or was cut. */
export function parse(text: string): Doc | undefined {
  try {
    return doc(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** partsOf are the parts of a message or an artifact. */
export const partsOf = (v: Doc): Doc[] => list(v.parts ?? v.content);

/** stateOf is the state of a status in the words of A2A, in small letters: working, input-required. */
export const stateOf = (status: Doc | undefined): string => String(status?.state ?? 'unknown').replace(/^TASK_STATE_/, '').toLowerCase().replaceAll('_', '-');

/** Content is what a document of A2A has: one of these, or none. */
interface Content {
  error?: Doc;
  status?: Doc; // an update of it
  artifact?: Doc; // an update of one
  message?: Doc;
  task?: Doc;
}

/** contentOf reads a request's params, an answer or an event, of any version and binding. */
export function contentOf(v: Doc): Content {
  const error = doc(v.error);
  if (error) return { error };
  const result = doc(v.result);
  if (result) return contentOf(result);
  // Events of 0.1 have no kind; those about a status say whether they are the last.
  const status = doc(v.statusUpdate) ?? (v.kind === 'status-update' || (v.status !== undefined && v.final !== undefined) ? v : undefined);
  if (status) return { status };
  const artifact = doc(v.artifactUpdate) ?? (v.kind === 'artifact-update' || v.artifact !== undefined ? v : undefined);
  if (artifact) return { artifact };
  const message = doc(v.message) ?? doc(v.msg) ?? (v.role !== undefined ? v : undefined);
  if (message) return { message };
  const task = doc(v.task) ?? (v.status !== undefined ? v : undefined);
  return task ? { task } : {};
}
