import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Random } from "@capstan/apimachinery";
import { StoreError } from "./store.ts";

/** Keys for values at rest: the first encrypts, all decrypt. To rotate, put a new one first and rewrite. */
export type EncryptionKeys = readonly EncryptionKey[];

/** One AES-256 key. `id` is derived from the key, so that files may be renamed and reordered freely. */
export interface EncryptionKey {
  readonly name: string;
  readonly id: Buffer;
  readonly key: KeyObject;
}

const ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** Which keys hold values that are encrypted when there is an encryption key. */
export function isSecretKey(key: string): boolean {
  return key.startsWith("core/secrets/");
}

/** A line for a key file. */
export function newEncryptionKeyLine(name: string, random: Random): string {
  return `${name} ${Buffer.from(random.bytes(KEY_BYTES)).toString("base64")}\n`;
}

/** Reads the text of a key file: a name and 32 bytes in base64 per line, the first key encrypts; `#` starts a comment. */
export function parseEncryptionKeys(text: string, file = "the key file"): EncryptionKeys {
  const keys = text.split("\n").flatMap((line, number) => {
    const [name, encoded, ...rest] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (name === undefined || name === "") return [];
    const secret = Buffer.from(encoded ?? "", "base64");
    if (rest.length > 0 || secret.length !== KEY_BYTES) {
      throw new StoreError(
        `${file}, line ${number + 1}: not a key`,
        `Write a name and ${KEY_BYTES} bytes in base64, for example from: head -c ${KEY_BYTES} /dev/urandom | base64`,
      );
    }
    const id = createHash("sha256").update("capstan key id").update(secret).digest().subarray(0, ID_BYTES);
    return [{ name, id, key: createSecretKey(secret) }];
  });
  if (keys.length === 0) throw new StoreError(`${file} contains no key`, "Add at least one key to it.");
  return keys;
}

/** Reads a key file, which must not be readable by others. */
export async function readEncryptionKeyFile(path: string): Promise<EncryptionKeys> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    throw new StoreError(`${path} can be read by other users`, `Run: chmod 600 ${path}`);
  }
  return parseEncryptionKeys(await readFile(path, "utf8"), path);
}

/** Encrypts with the first key; `context` must be the same at decryption, so that values cannot be swapped. */
export function encrypt(keys: EncryptionKeys, plain: Uint8Array, context: string, random: Random): Buffer {
  const [first] = keys;
  if (first === undefined) throw new StoreError("no encryption key", "Specify a key file with at least one key.");
  const nonce = random.bytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", first.key, nonce);
  cipher.setAAD(Buffer.from(context));
  return Buffer.concat([first.id, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Returns the value that was encrypted; throws a StoreError that names the missing key. */
export function decrypt(keys: EncryptionKeys, sealed: Buffer, context: string): Buffer {
  const key = keyOfSealed(keys, sealed);
  if (key === undefined) {
    throw new StoreError(
      `a Secret is encrypted with a key that is not in the key file (key id ${sealed.subarray(0, ID_BYTES).toString("hex")})`,
      "Start with the previous key file; keep old keys in it, after the first, until secrets are rewritten.",
    );
  }
  const start = ID_BYTES + NONCE_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key.key, sealed.subarray(ID_BYTES, start));
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(start, sealed.length - TAG_BYTES)), decipher.final()]);
}

/** Whether a sealed value is encrypted with the current key. */
export function isSealedWithFirst(keys: EncryptionKeys, sealed: Buffer): boolean {
  return keys[0] !== undefined && keyOfSealed(keys, sealed) === keys[0];
}

function keyOfSealed(keys: EncryptionKeys, sealed: Buffer): EncryptionKey | undefined {
  const id = sealed.subarray(0, ID_BYTES);
  return keys.find((key) => key.id.equals(id));
}
