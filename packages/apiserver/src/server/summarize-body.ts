/** How upstream shows the body it could not read: the text of what looks like JSON, else its bytes. */
export function summarizeBody(bytes: Buffer): string {
  const MAX = 30;
  if (bytes.length === 0) return "<empty>";
  const encoding = bytes[0] === 0x7b ? "utf8" : "hex";
  return bytes.length > MAX ? `${bytes.toString(encoding, 0, MAX)} ...` : bytes.toString(encoding);
}
