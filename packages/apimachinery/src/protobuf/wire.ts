import { badRequest, requestEntityTooLarge } from "../errors.ts";

function malformed(): Error {
  return badRequest("the protobuf body is cut off or malformed: send the whole message");
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
/** Most fields of one body: reading a million of them would hold up all other requests. */
const MAX_FIELDS = 60_000;
const utf8 = new TextDecoder("utf-8");

/** Walks over the fields of a message without copying; groups do not occur in Kubernetes' types and are refused. */
export class WireReader {
  /** The number of the field that next() found. */
  number = 0;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;
  #wire = VARINT;
  #integer = 0;
  #from = 0;
  readonly #budget: { fields: number };

  constructor(bytes: Uint8Array, start = 0, end = bytes.length, budget = { fields: MAX_FIELDS }) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#budget = budget;
  }

  /** Goes to the next field; false at the end of the message. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    if (--this.#budget.fields < 0) throw requestEntityTooLarge(`the body has more than ${MAX_FIELDS} protobuf fields`);
    const tag = this.#varint();
    this.number = Math.floor(tag / 8);
    if (this.number < 1) throw malformed();
    this.#wire = tag & 7;
    this.#from = this.#at;
    switch (this.#wire) {
      case VARINT:
        this.#integer = this.#varint();
        break;
      case FIXED64:
        this.#skip(8);
        break;
      case FIXED32:
        this.#skip(4);
        break;
      case BYTES: {
        const length = this.#varint();
        this.#from = this.#at;
        if (length < 0) throw malformed();
        this.#skip(length);
        break;
      }
      default:
        throw malformed();
    }
    return true;
  }

  /** The field as an integer; precise up to 2^53. */
  integer(): number {
    if (this.#wire !== VARINT) throw badRequest("the protobuf body has bytes where a number belongs");
    return this.#integer;
  }

  /** The field as a floating point number. */
  double(): number {
    if (this.#wire !== FIXED64) throw badRequest("the protobuf body has something else where a float belongs");
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + this.#from, 8).getFloat64(0, true);
  }

  /** The field's bytes, not copied. */
  bytes(): Uint8Array {
    if (this.#wire !== BYTES) throw badRequest("the protobuf body has a number where a message or text belongs");
    return this.#bytes.subarray(this.#from, this.#at);
  }

  /** The field as text. */
  text(): string {
    return utf8.decode(this.bytes());
  }

  /** The field as a message of its own. */
  message(): WireReader {
    if (this.#wire !== BYTES) throw badRequest("the protobuf body has a number where a message or text belongs");
    return new WireReader(this.#bytes, this.#from, this.#at, this.#budget);
  }

  #skip(length: number): void {
    this.#at += length;
    if (this.#at > this.#end) throw malformed();
  }

  /** A signed 64-bit varint: 28, 28 and 8 bits of it at a time. */
  #varint(): number {
    const part = [0, 0, 0];
    for (let i = 0; i < 10; i++) {
      const byte = this.#at < this.#end ? this.#bytes[this.#at++] : undefined;
      if (byte === undefined) throw malformed();
      if (i === 0 && byte < 0x80) return byte;
      const slot = i >> 2;
      part[slot] = (part[slot] ?? 0) | ((byte & 0x7f) << (7 * (i & 3)));
      if (byte < 0x80) {
        const [low = 0, middle = 0, high = 0] = part;
        const upper = (middle >>> 4) | (high << 24);
        return upper * 0x1_0000_0000 + ((low | (middle << 28)) >>> 0);
      }
    }
    throw malformed();
  }
}
