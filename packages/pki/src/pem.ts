import { PkiError } from "./errors.ts";

/** Wraps DER in PEM with lines of 64 characters. */
export function encodePem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der.buffer, der.byteOffset, der.length).toString("base64").replace(/.{64}/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}${lines.endsWith("\n") ? "" : "\n"}-----END ${label}-----\n`;
}

/** DER of every block labelled `label`. */
export function decodePemBlocks(text: string, label: string): Buffer[] {
  const blocks: Buffer[] = [];
  const begin = `-----BEGIN ${label}-----`;
  const end = `-----END ${label}-----`;
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
    const stop = text.indexOf(end, at);
    if (stop < 0) break;
    blocks.push(Buffer.from(text.slice(at + begin.length, stop), "base64"));
    at = stop + end.length;
  }
  return blocks;
}

/** DER of the first block labelled `label`. */
export function decodePem(text: string, label: string): Buffer {
  const [first] = decodePemBlocks(text, label);
  if (first === undefined || first.length === 0)
    throw new PkiError(`no PEM block "${label}" found: expected text that starts with -----BEGIN ${label}-----`);
  return first;
}
