import { badRequest } from "../errors.ts";
import type { WireReader } from "./wire.ts";

/** A time as JSON has it. The zero time is written as an empty message and means absent. */
export function decodeTime(reader: WireReader, micro: boolean): string | undefined {
  let seconds = 0;
  let nanos = 0;
  while (reader.next()) {
    if (reader.number === 1) seconds = reader.integer();
    if (reader.number === 2) nanos = reader.integer();
  }
  if (seconds === 0 && nanos === 0) return undefined;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw badRequest("a time in the protobuf body is out of range");
  const text = date.toISOString().replace(".000Z", "");
  return micro ? `${text}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z` : `${text}Z`;
}

/** An integer or a text, by the type written before it. */
export function decodeIntOrString(reader: WireReader): number | string {
  let isText = false;
  let integer = 0;
  let text = "";
  while (reader.next()) {
    if (reader.number === 1) isText = reader.integer() === 1;
    if (reader.number === 2) integer = reader.integer();
    if (reader.number === 3) text = reader.text();
  }
  return isText ? text : integer;
}

/** The texts of a message that holds nothing else: ExtraValue and Quantity. */
export function decodeTexts(reader: WireReader): string[] {
  const texts: string[] = [];
  while (reader.next()) if (reader.number === 1) texts.push(reader.text());
  return texts;
}

/** Raw JSON inside a message: defaults and enums of a CRD's schema. */
export function decodeJson(reader: WireReader): unknown {
  return rawJson(reader, "a default, example or enum of a schema") ?? null;
}

/** The field set of an entry of managedFields. */
export function decodeFieldsV1(reader: WireReader): unknown {
  return rawJson(reader, "metadata.managedFields: fieldsV1") ?? {};
}

function rawJson(reader: WireReader, what: string): unknown {
  let raw: unknown;
  while (reader.next()) {
    if (reader.number !== 1) continue;
    try {
      raw = JSON.parse(reader.text());
    } catch {
      throw badRequest(`${what} is not valid JSON`);
    }
  }
  return raw;
}
