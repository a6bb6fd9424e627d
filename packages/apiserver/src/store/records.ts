import { crc32 } from "node:zlib";
import type { Random } from "@capstan/apimachinery";
import { decrypt, type EncryptionKeys, encrypt, isSealedWithFirst, isSecretKey } from "./encryption.ts";
import { type StoredBytes, StoreError } from "./store.ts";
import type { UndoRecord } from "./undo-log.ts";

/**
 * The format on disk: one ordered key space with three tables, distinguished by the first byte of the key.
 *   l <revision, 8 bytes big-endian>   the undo log: crc, flags, key length, key, the object record that was replaced (if any)
 *   m state                            crc, newest revision, compacted revision
 *   o <storage key>                    an object record: crc, flags, revision, bytes (encrypted for Secrets when there is a key)
 * Every record starts with a CRC32 over its database key and the rest, so that damage is found when it is read.
 */

/** First byte of the database keys of the undo log. */
export const LOG = 0x6c;
/** First byte of the database keys of the meta table, which holds only the state record. */
export const META = 0x6d;
/** First byte of the database keys of the object table. */
export const OBJECT = 0x6f;

const ENCRYPTED = 1;
const OBJECT_HEADER = 4 + 1 + 8;
const LOG_HEADER = 4 + 1 + 2;

/** The keys and the randomness that encoding and decoding values need. */
export interface Codec {
  keys: EncryptionKeys;
  random: Random;
}

/** The content of the state record: the newest revision, and the newest revision that was compacted. */
export interface StoreState {
  revision: number;
  compacted: number;
}

/** The database key of the state record. */
export const STATE_KEY = Buffer.from("mstate");

/** Returns the database key of an object. */
export function objectKey(key: string): Buffer {
  const out = Buffer.allocUnsafe(1 + Buffer.byteLength(key));
  out[0] = OBJECT;
  out.write(key, 1);
  return out;
}

/** Returns the database key of a log record; big-endian, so that records are ordered by revision. */
export function logKey(revision: number): Buffer {
  const out = Buffer.allocUnsafe(9);
  out[0] = LOG;
  out.writeUInt32BE(Math.floor(revision / 0x1_0000_0000), 1);
  out.writeUInt32BE(revision >>> 0, 5);
  return out;
}

/** Returns the revision in a log record's database key. */
export function revisionOfLogKey(key: Buffer): number {
  return key.readUInt32BE(1) * 0x1_0000_0000 + key.readUInt32BE(5);
}

/** Encodes the record of an object; Secrets are encrypted if there is a key. */
export function encodeObject(codec: Codec, dbKey: Buffer, object: StoredBytes): Buffer {
  const sealed = codec.keys.length > 0 && isSecretKey(object.key);
  const payload = sealed ? encrypt(codec.keys, object.bytes, contextOf(object), codec.random) : object.bytes;
  const out = Buffer.allocUnsafe(OBJECT_HEADER + payload.length);
  out[4] = sealed ? ENCRYPTED : 0;
  out.writeDoubleBE(object.revision, 5);
  out.set(payload, OBJECT_HEADER);
  return sign(dbKey, out, out.length);
}

/** Decodes and verifies an object record. Bytes that were not encrypted are a view of `record`, not a copy. */
export function decodeObject(codec: Codec, dbKey: Buffer, record: Buffer): StoredBytes {
  verify(dbKey, record, OBJECT_HEADER, record.length);
  const key = dbKey.toString("utf8", 1);
  const revision = record.readDoubleBE(5);
  const payload = record.subarray(OBJECT_HEADER);
  if (record[4] !== ENCRYPTED) return { key, revision, bytes: payload };
  try {
    return { key, revision, bytes: decrypt(codec.keys, payload, contextOf({ key, revision })) };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw damaged(dbKey, error);
  }
}

/** Whether an object record must be rewritten because it is not encrypted as the current keys require. */
export function needsReencryption(codec: Codec, dbKey: Buffer, record: Buffer): boolean {
  if (!isSecretKey(dbKey.toString("utf8", 1))) return false;
  const sealed = record[4] === ENCRYPTED;
  if (codec.keys.length === 0) return sealed;
  return !sealed || !isSealedWithFirst(codec.keys, record.subarray(OBJECT_HEADER));
}

/** Encodes a log record; `replaced` is the object record that the change replaced, as it was on disk. */
export function encodeLog(dbKey: Buffer, key: string, replaced: Buffer | undefined): Buffer {
  const keyLength = Buffer.byteLength(key);
  const out = Buffer.allocUnsafe(LOG_HEADER + keyLength + (replaced?.length ?? 0));
  out[4] = replaced === undefined ? 0 : 1;
  out.writeUInt16BE(keyLength, 5);
  out.write(key, LOG_HEADER);
  if (replaced !== undefined) out.set(replaced, LOG_HEADER + keyLength);
  return sign(dbKey, out, signedLengthOfLog(out));
}

/** Decodes a log record, including the object that the change replaced. */
export function decodeLog(codec: Codec, dbKey: Buffer, record: Buffer): UndoRecord {
  const { key, replaced } = splitLog(dbKey, record);
  const previous = replaced === undefined ? undefined : decodeObject(codec, objectKey(key), replaced);
  return { revision: revisionOfLogKey(dbKey), key, previous };
}

/** Verifies a log record and splits it into its storage key and the replaced object record, which is not decoded. */
export function splitLog(dbKey: Buffer, record: Buffer): { key: string; replaced: Buffer | undefined } {
  if (record.length < LOG_HEADER) throw damaged(dbKey);
  verify(dbKey, record, LOG_HEADER, signedLengthOfLog(record));
  const end = LOG_HEADER + record.readUInt16BE(5);
  return {
    key: record.toString("utf8", LOG_HEADER, end),
    replaced: record[4] === 1 ? record.subarray(end) : undefined,
  };
}

/** Encodes the state record. */
export function encodeState(state: StoreState): Buffer {
  const out = Buffer.allocUnsafe(20);
  out.writeDoubleBE(state.revision, 4);
  out.writeDoubleBE(state.compacted, 12);
  return sign(STATE_KEY, out, out.length);
}

/** Decodes and verifies the state record; a store without one is new. */
export function decodeState(record: Buffer | undefined): StoreState {
  if (record === undefined) return { revision: 0, compacted: 0 };
  verify(STATE_KEY, record, 20, record.length);
  return { revision: record.readDoubleBE(4), compacted: record.readDoubleBE(12) };
}

/** Returns the error for a record that is damaged. */
export function damaged(dbKey: Buffer, cause?: unknown): StoreError {
  const what = dbKey[0] === LOG ? `the change of revision ${revisionOfLogKey(dbKey)}` : dbKey.toString("utf8", 1);
  return new StoreError(`the stored data of ${what} is damaged`, DAMAGE_CURE, { cause });
}

/** What a user can do about damaged data. */
export const DAMAGE_CURE =
  "The file was not modified. Check the disk, then restore the newest backup into an empty data directory.";

/** Binds an encrypted value to its place, so that an older or another Secret's value cannot be put there. */
function contextOf(object: { key: string; revision: number }): string {
  return `${object.key}@${object.revision}`;
}

/** The replaced record has its own checksum over its bytes: covering that one covers them without reading them again. */
function signedLengthOfLog(record: Buffer): number {
  return Math.min(record.length, LOG_HEADER + record.readUInt16BE(5) + 4);
}

function sign(dbKey: Buffer, record: Buffer, end: number): Buffer {
  record.writeUInt32BE(crc32(record.subarray(4, end), crc32(dbKey)), 0);
  return record;
}

function verify(dbKey: Buffer, record: Buffer, minimum: number, end: number): void {
  if (record.length < minimum || record.readUInt32BE(0) !== crc32(record.subarray(4, end), crc32(dbKey))) {
    throw damaged(dbKey);
  }
}
