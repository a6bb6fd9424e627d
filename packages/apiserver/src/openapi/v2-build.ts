import { yieldToEventLoop } from "@capstan/apimachinery/foreign";
import type { ResourceType } from "../types.ts";
import { ProtobufWriter } from "./protobuf-writer.ts";
import { addV2Types, type V2Parts, v2Head } from "./v2.ts";
import { encodeNamed, encodeV2Document } from "./v2-protobuf.ts";

/** The forms in which the Swagger 2.0 document is served. */
export type V2Format = "json" | "protobuf";

/** Some milliseconds of work; all kinds of a large installation at once would hold up other requests. */
const TYPES_AT_ONCE = 4;
const ENCODED_AT_ONCE = 256 * 1024;

/** The Swagger 2.0 document of all types. */
export async function buildV2(
  types: readonly ResourceType[],
  kubernetesVersion: string,
  format: V2Format,
): Promise<Buffer> {
  const parts: V2Parts = { paths: new Map(), definitions: new Map() };
  for (let i = 0; i < types.length; i += TYPES_AT_ONCE) {
    addV2Types(parts, types.slice(i, i + TYPES_AT_ONCE));
    await yieldToEventLoop();
  }
  const head = v2Head(kubernetesVersion);
  if (format === "protobuf") {
    const paths = await encodeAll("PathItem", parts.paths);
    return encodeV2Document(head, paths, await encodeAll("Schema", parts.definitions));
  }
  const pieces = [
    Buffer.from(`${JSON.stringify(head).slice(0, -1)},"paths":`),
    ...(await objectPieces(parts.paths)),
    Buffer.from(',"definitions":'),
    ...(await objectPieces(parts.definitions)),
    Buffer.from("}"),
  ];
  return Buffer.concat(pieces);
}

async function objectPieces(texts: ReadonlyMap<string, string>): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let piece = "{";
  let first = true;
  for (const [key, text] of texts) {
    piece += `${first ? "" : ","}${JSON.stringify(key)}:${text}`;
    first = false;
    if (piece.length < ENCODED_AT_ONCE) continue;
    pieces.push(Buffer.from(piece));
    piece = "";
    await yieldToEventLoop();
  }
  return [...pieces, Buffer.from(`${piece}}`)];
}

async function encodeAll(message: "PathItem" | "Schema", texts: ReadonlyMap<string, string>): Promise<Buffer[]> {
  const writer = new ProtobufWriter();
  const encoded: Buffer[] = [];
  let size = 0;
  for (const [name, text] of texts) {
    encoded.push(encodeNamed(writer, message, name, JSON.parse(text)));
    size += text.length;
    if (size < ENCODED_AT_ONCE) continue;
    size = 0;
    await yieldToEventLoop();
  }
  return encoded;
}
