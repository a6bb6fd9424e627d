/**
 * Writes protobuf messages from their end to their start: a message's length is known once its fields are written, so that
 * nothing is measured twice and nothing is copied.
 */
export class ProtobufWriter {
  #buffer = Buffer.allocUnsafe(64 * 1024);
  #at = this.#buffer.length;

  /** How many bytes are written so far; the difference between two of these is a message's length. */
  get size(): number {
    return this.#buffer.length - this.#at;
  }

  text(number: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#reserve(length);
    this.#at -= length;
    this.#buffer.write(value, this.#at, "utf8");
    this.#close(number, length);
  }

  /** A bool or an integer. */
  varint(number: number, value: number): void {
    this.#integer(value);
    this.#integer(number * 8);
  }

  double(number: number, value: number): void {
    this.#reserve(8);
    this.#at -= 8;
    this.#buffer.writeDoubleLE(value, this.#at);
    this.#integer(number * 8 + 1);
  }

  /** Bytes that were encoded before. */
  bytes(number: number, value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
    this.#close(number, value.length);
  }

  /** A message whose fields `write` writes, the last one first. */
  message(number: number, write: () => void): void {
    const before = this.size;
    write();
    this.#close(number, this.size - before);
  }

  /** Returns a copy of what was written and resets the writer. */
  finish(): Buffer {
    const written = Buffer.from(this.#buffer.subarray(this.#at));
    this.#at = this.#buffer.length;
    return written;
  }

  #close(number: number, length: number): void {
    this.#integer(length);
    this.#integer(number * 8 + 2);
  }

  /** A varint; negative integers take ten bytes, as upstream writes them. */
  #integer(value: number): void {
    this.#reserve(10);
    if (value >= 0 && value < 128) {
      this.#buffer[--this.#at] = value;
      return;
    }
    const parts: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)));
    for (; rest > 127n; rest >>= 7n) parts.push(Number(rest & 127n) | 128);
    parts.push(Number(rest));
    for (const part of parts.toReversed()) this.#buffer[--this.#at] = part;
  }

  #reserve(length: number): void {
    if (this.#at >= length) return;
    const { size } = this;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, size + length + 64 * 1024));
    this.#buffer.copy(larger, larger.length - size, this.#at);
    this.#buffer = larger;
    this.#at = larger.length - size;
  }
}
