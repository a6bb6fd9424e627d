/** Encodes a data URL as upstream's Go library does, with every byte outside a small safe set as %XX. */
export function dataUrl(content: string | Buffer): string {
  let out = "data:,";
  for (const byte of Buffer.from(content as string)) {
    const character = String.fromCharCode(byte);
    out += /[A-Za-z0-9\-_.!~*'()]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return out;
}
