/** One field of a message: a number with text, bytes, a nested message or an integer. */
export type ProtoField = readonly [number: number, value: string | Uint8Array | number];

/** Writes a protobuf message field by field. */
export function message(...fields: readonly ProtoField[]): Uint8Array {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === "number") return Buffer.concat([varint(number << 3), varint(value)]);
      const bytes = Buffer.from(value as string);
      return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
    }),
  );
}

/** An object in Kubernetes' envelope. */
export function envelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const unknown = message([1, message([1, apiVersion], [2, kind])], [2, raw], [3, ""], [4, ""]);
  return Buffer.concat([Buffer.from("k8s\0"), unknown]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}
