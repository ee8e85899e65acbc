import { type Doc, doc, list } from './document';

/** Piece is what a part of a message has: a text, data, a file, or what is none of them. */
export type Piece = { kind: 'text'; text: string } | { kind: 'data'; data: unknown } | { kind: 'file'; name: string; type: string; bytes?: number; url?: string } | { kind: 'other'; data: unknown };

const word = (...all: unknown[]): string => all.find((v): v is string => typeof v === 'string' && v !== '') ?? '';

/** bytesOf is how many bytes a text in base64 has. */
const bytesOf = (base64: string): number => Math.floor((base64.replace(/[=\s]/g, '').length * 3) / 4);

/** file is what a part says of one, in the words of any version; undefined where it says nothing. */
function file(part: Doc): Piece | undefined {
  const of = doc(part.file) ?? part;
  const held = word(of.raw, of.bytes, of.fileWithBytes, of.file_with_bytes);
  const url = word(of.url, of.uri, of.fileWithUri, of.file_with_uri);
  if (held === '' && url === '' && part.file === undefined) return undefined;
  return {
    kind: 'file',
    name: word(of.filename, of.name, part.filename),
    type: word(of.mediaType, of.mimeType, of.media_type, of.mime_type, part.mediaType),
    ...(url === '' ? { bytes: bytesOf(held) } : { url }),
  };
}

/** pieces is all that a part has: one that is both text and file shows both. */
function pieces(part: Doc): Piece[] {
  const found: Piece[] = [];
  if (typeof part.text === 'string') found.push({ kind: 'text', text: part.text });
  if (part.data !== undefined) found.push({ kind: 'data', data: part.data });
  const held = file(part);
  if (held) found.push(held);
  return found.length > 0 ? found : [{ kind: 'other', data: part }];
}

/** piecesOf is what the message of a call's params says, in the order of its parts, of any version and binding. */
export function piecesOf(params: unknown): Piece[] {
  const all = doc(params) ?? {};
  const messages = [all.message, all.msg, all.request].flatMap((m): Doc[] => list([m]));
  return messages.flatMap((m) => [...list(m.parts), ...list(m.content)].flatMap(pieces));
}
