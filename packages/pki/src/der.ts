import { PkiError } from "./errors.ts";

/** The ASN.1 tags that certificates and requests use. */
export const Tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  bmpString: 0x1e,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One tag-length-value element. */
export function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const part of content) length += part.length;
  return Buffer.concat([header(tag, length), ...content]);
}

function header(tag: number, length: number): Buffer {
  if (length < 0x80) return Buffer.from([tag, length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest & 0xff);
  return Buffer.from([tag, 0x80 | bytes.length, ...bytes]);
}

/** SEQUENCE of already encoded elements. */
export function sequence(...content: readonly Uint8Array[]): Buffer {
  return element(Tag.sequence, ...content);
}

/** SET OF: DER wants its members in byte order. */
export function setOf(content: readonly Uint8Array[]): Buffer {
  return element(Tag.set, ...[...content].sort((a, b) => Buffer.compare(a, b)));
}

/** A non-negative INTEGER from big-endian bytes, in its shortest form. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const body = bytes.subarray(start);
  return ((body[0] ?? 0) & 0x80) !== 0
    ? element(Tag.integer, Buffer.of(0), body)
    : element(Tag.integer, body.length === 0 ? Buffer.of(0) : body);
}

/** OBJECT IDENTIFIER from its dotted form. */
export function oid(dotted: string): Buffer {
  const arcs = dotted.split(".").map(Number);
  const [first = 0, second = 0, ...rest] = arcs;
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const group = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) group.unshift(0x80 | (left & 0x7f));
    bytes.push(...group);
  }
  return element(Tag.oid, Buffer.from(bytes));
}

/** BIT STRING of whole bytes. */
export function bitString(bytes: Uint8Array): Buffer {
  return element(Tag.bitString, Buffer.of(0), bytes);
}

/** BIT STRING of named bits, without trailing zero bits as DER demands (RFC 5280 KeyUsage). */
export function namedBits(bits: readonly number[]): Buffer {
  const highest = Math.max(...bits, 0);
  const bytes = Buffer.alloc((highest >> 3) + 1);
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return element(Tag.bitString, Buffer.of(7 - (highest & 7)), bytes);
}

/** Whole-second time: UTCTime up to 2049, GeneralizedTime from 2050 (RFC 5280 4.1.2.5). */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  const year = Number(digits.slice(0, 4));
  return year >= 1950 && year < 2050
    ? element(Tag.utcTime, Buffer.from(digits.slice(2), "latin1"))
    : element(Tag.generalizedTime, Buffer.from(digits, "latin1"));
}

/** A decoded element: its tag, its content and its whole encoding, both as views of the input. */
export interface DerNode {
  readonly tag: number;
  readonly content: Buffer;
  readonly raw: Buffer;
}

/** Reads exactly one element that fills `input`. */
export function readElement(input: Uint8Array): DerNode {
  const nodes = readElements(input);
  const [node] = nodes;
  if (node === undefined || nodes.length !== 1) throw new PkiError("malformed DER: expected exactly one element");
  return node;
}

/** Reads the elements that `input` consists of, one level deep. */
export function readElements(input: Uint8Array): DerNode[] {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.length);
  const nodes: DerNode[] = [];
  let at = 0;
  while (at < bytes.length) {
    const start = at;
    const tag = byteAt(bytes, at++);
    if ((tag & 0x1f) === 0x1f) throw new PkiError("malformed DER: multi-byte tag");
    let length = byteAt(bytes, at++);
    if (length >= 0x80) {
      const count = length & 0x7f;
      if (count === 0 || count > 4) throw new PkiError("malformed DER: length is indefinite or too large");
      length = 0;
      for (let i = 0; i < count; i++) length = length * 256 + byteAt(bytes, at++);
    }
    if (at + length > bytes.length) throw new PkiError("malformed DER: element is longer than its container");
    nodes.push({ tag, content: bytes.subarray(at, at + length), raw: bytes.subarray(start, at + length) });
    at += length;
  }
  return nodes;
}

function byteAt(bytes: Buffer, at: number): number {
  const value = bytes[at];
  if (value === undefined) throw new PkiError("malformed DER: unexpected end of input");
  return value;
}

/** The members of a constructed element; `what` names it in the error. */
export function children(node: DerNode | undefined, tag: number, what: string): DerNode[] {
  return readElements(contentOf(node, tag, what));
}

/** The content of an element that must have `tag`. */
export function contentOf(node: DerNode | undefined, tag: number, what: string): Buffer {
  if (node === undefined || node.tag !== tag)
    throw new PkiError(`malformed DER: ${what} is missing or of another type`);
  return node.content;
}

/** Dotted form of an OBJECT IDENTIFIER. */
export function readOid(node: DerNode | undefined): string {
  const bytes = contentOf(node, Tag.oid, "object identifier");
  const arcs: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f);
    if ((byte & 0x80) !== 0) continue;
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(value / 40));
      arcs.push(first, value - first * 40);
    } else arcs.push(value);
    value = 0;
  }
  return arcs.join(".");
}

/** Milliseconds since the epoch of a UTCTime or GeneralizedTime. */
export function readTime(node: DerNode | undefined): number {
  const text = node?.content.toString("latin1") ?? "";
  let digits = text;
  if (node?.tag === Tag.utcTime) digits = (Number(text.slice(0, 2)) >= 50 ? "19" : "20") + text;
  else if (node?.tag !== Tag.generalizedTime) throw new PkiError("malformed DER: time is of another type");
  const m = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits);
  if (m === null) throw new PkiError("malformed DER: time is not in the form YYMMDDhhmmssZ");
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = m.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Bytes of a BIT STRING that has no unused bits. */
export function readBitString(node: DerNode | undefined): Buffer {
  return contentOf(node, Tag.bitString, "bit string").subarray(1);
}
