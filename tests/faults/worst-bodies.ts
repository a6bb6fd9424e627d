/** A JSON object. */
export type Json = Record<string, unknown>;

/** `count` values. */
export function repeat<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** An object of many keys with the same value. */
export function wide(count: number, value: unknown = "v"): Json {
  return Object.fromEntries(repeat(count, (i) => [`k${i}`, value]));
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(content.length)]), content]);
}

function envelope(raw: Buffer): Buffer {
  const type = Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from("ConfigMap"))]);
  return Buffer.concat([Buffer.from("k8s\0"), field(1, type), field(2, raw)]);
}

/** A ConfigMap of many short keys, as protobuf. */
export function pbConfigMap(name: string, keys: number): Buffer {
  const entries = repeat(keys, (i) =>
    field(2, Buffer.concat([field(1, Buffer.from(i.toString(36))), field(2, Buffer.from("v"))])),
  );
  return envelope(Buffer.concat([field(1, field(1, Buffer.from(name))), ...entries]));
}

/** A ConfigMap of fields that do not exist, as protobuf. */
export function pbNoise(fields: number): Buffer {
  return envelope(Buffer.alloc(fields * 2, Buffer.from([0x78, 1])));
}
