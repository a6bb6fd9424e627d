import { badRequest } from "../errors.ts";

/** One field of a message on the wire. */
export interface WireField {
  readonly number: number;
  /** A varint, or the bytes of a length-delimited field. */
  readonly value: bigint | Uint8Array;
}

function malformed(): Error {
  return badRequest("the protobuf body is cut off or malformed: send the whole message");
}

/** Reads the fields of a message; fixed-width fields and groups do not occur in Kubernetes' types and are skipped or refused. */
export function* readFields(bytes: Uint8Array): Generator<WireField> {
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw malformed();
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, result);
    }
    throw malformed();
  };
  const skip = (length: number): void => {
    at += length;
    if (at > bytes.length) throw malformed();
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = Math.floor(tag / 8);
    if (number < 1) throw malformed();
    switch (tag & 7) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        skip(8);
        break;
      case 2: {
        const length = Number(varint());
        const start = at;
        if (length < 0) throw malformed();
        skip(length);
        yield { number, value: bytes.subarray(start, at) };
        break;
      }
      case 5:
        skip(4);
        break;
      default:
        throw malformed();
    }
  }
}
