// What is not seen, or has text seen in another order: control and format characters, tags, variation selectors
// that no emoji has.
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u{E0100}-\u{E01EF}]/gu;

const escaped = (c: string) => {
  const code = (c.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
};

/** legible is a text of which a reader sees every character, in their order: what is not seen is escaped. */
export const legible = (text: string): string => text.replaceAll('\r\n', '\n').replace(unseen, escaped);
