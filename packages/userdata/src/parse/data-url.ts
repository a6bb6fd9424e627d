import { UserDataError } from "../errors.ts";

/** Decodes a data URL. */
export function decodeDataUrl(url: string, at: string): Buffer {
  const match = /^data:([^,]*),([^]*)$/.exec(url);
  if (match === null) throw new UserDataError(`${at} is not a data URL`);
  const [, type = "", data = ""] = match;
  if (/;base64$/i.test(type)) return Buffer.from(decodePercents(data), "base64");
  return decodePercentBytes(data);
}

function decodePercents(text: string): string {
  return decodePercentBytes(text).toString("latin1");
}

function decodePercentBytes(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  const out = Buffer.alloc(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i] === 0x25 ? Number.parseInt(bytes.toString("latin1", i + 1, i + 3), 16) : Number.NaN;
    if (Number.isNaN(code)) out[length++] = bytes[i] ?? 0;
    else {
      out[length++] = code;
      i += 2;
    }
  }
  return out.subarray(0, length);
}
