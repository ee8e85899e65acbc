// Numbers of JSON as they were written. Browsers that do not know JSON.rawJSON show the nearest that they have.
const raw = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON;

/** exactly parses JSON, and keeps a number that JavaScript would write another way. */
export const exactly = (text: string): unknown =>
  JSON.parse(text, (_name: string, value: unknown, at?: { source?: string }) => (typeof value === 'number' && raw && at?.source !== undefined && String(value) !== at.source ? raw(at.source) : value));
