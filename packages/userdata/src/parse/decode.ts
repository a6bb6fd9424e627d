import { gunzipSync } from "node:zlib";
import { UserDataError } from "../errors.ts";

/** More than any machine's user data unpacks to, little enough to hold in memory. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Decodes the content of a file; accepts every spelling of encodings that cloud-init accepts. */
export function decodeContent(
  content: string,
  encoding: string | undefined,
  path: string,
  maxBytes = MAX_BYTES,
): Buffer {
  const decoded = decode(content, encoding, path, maxBytes);
  if (decoded.length > maxBytes) throw new UserDataError(`file ${path}: its content has too many bytes`);
  return decoded;
}

function decode(content: string, encoding: string | undefined, path: string, maxBytes: number): Buffer {
  switch ((encoding ?? "").toLowerCase().trim()) {
    case "gz":
    case "gzip":
      return unzip(Buffer.from(content, "latin1"), path, maxBytes);
    case "gz+base64":
    case "gzip+base64":
    case "gz+b64":
    case "gzip+b64":
      return unzip(fromBase64(content, path), path, maxBytes);
    case "b64":
    case "base64":
      return fromBase64(content, path);
    default:
      return Buffer.from(content, "utf8");
  }
}

function fromBase64(content: string, path: string): Buffer {
  if (!/^[A-Za-z0-9+/=\s]*$/.test(content)) throw new UserDataError(`file ${path}: its content is not base64`);
  return Buffer.from(content, "base64");
}

function unzip(packed: Buffer, path: string, maxBytes: number): Buffer {
  try {
    return gunzipSync(packed, { maxOutputLength: Math.max(1, maxBytes) });
  } catch (error) {
    throw new UserDataError(`file ${path}: its content cannot be unpacked: ${(error as Error).message}`);
  }
}
