/** The characters of Windows-1252 that are not at the same place in Latin-1. */
const windows = new Map(
  Array.from({ length: 32 }, (_, index) => {
    const byte = 0x80 + index;
    return [new TextDecoder('windows-1252').decode(Uint8Array.of(byte)), byte] as const;
  }),
);

/** Returns the bytes of a text that was read as Windows-1252; null if it has other characters. */
function bytesOf(text: string): Uint8Array | null {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const byte = code < 0x100 ? code : windows.get(text.charAt(at));
    if (byte === undefined) return null;
    bytes[at] = byte;
  }
  return bytes;
}

/** Returns a text in UTF-8 that was read as Latin-1 as it was meant: `JÃ¶rg` is `Jörg`. Other texts stay as they are. */
export function legible(text: string): string {
  // Only these characters start the other ones in UTF-8.
  if (!/[\u00c2-\u00f4][\u0080-\uffff]/.test(text)) return text;
  const bytes = bytesOf(text);
  if (bytes === null) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return text;
  }
}
