import type { Download } from "./download.ts";

const MAX_CHECKSUM_FILE = 1024 * 1024;

/** An image and its checksum: the digest itself, or the URL of a checksum file. */
export interface ImageChecksum {
  readonly url: string;
  readonly checksum: string;
}

/**
 * Returns the digest, downloading the checksum file if necessary, and the text that errors show for it. Errors never quote the file,
 * because whoever chose its URL could read the content of any server.
 */
export async function expectedDigest(
  image: ImageChecksum,
  download: Download,
  signal: AbortSignal,
): Promise<{ digest: string; shown: string }> {
  const checksum = image.checksum.trim();
  if (!/^https?:\/\//i.test(checksum)) return { digest: checksum, shown: JSON.stringify(checksum.slice(0, 140)) };
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of await download(checksum, signal)) {
    size += chunk.length;
    if (size > MAX_CHECKSUM_FILE) throw new Error(`${checksum} is not a checksum file: it is larger than 1 MiB`);
    parts.push(chunk);
  }
  const digest = digestIn(Buffer.concat(parts).toString("utf8"), image.url, checksum);
  return { digest, shown: `what ${checksum} says` };
}

/** Finds an image's digest in a checksum file in `sha256sum` or BSD format. */
export function digestIn(text: string, imageUrl: string, where: string): string {
  const name = new URL(imageUrl).pathname.split("/").pop() ?? "";
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.length === 1 && /^[0-9a-f]+$/i.test(lines[0] ?? "")) return lines[0] ?? "";
  for (const line of lines) {
    const gnu = /^([0-9a-f]{32,128}) [ *]?(.+)$/i.exec(line);
    if (gnu?.[2]?.trim().split("/").pop() === name) return gnu[1] ?? "";
    const bsd = /^[A-Z0-9]+ ?\((.+)\) ?= ?([0-9a-f]{32,128})$/i.exec(line);
    if (bsd?.[1]?.split("/").pop() === name) return bsd[2] ?? "";
  }
  throw new Error(`${where} has no line for ${name}`);
}

/** Returns the algorithm of a digest by its length; undefined when it is not a digest, or not of the stated type. */
export function digestAlgorithm(type: string | undefined, digest: string): "md5" | "sha256" | "sha512" | undefined {
  if (!/^[0-9a-f]+$/.test(digest)) return undefined;
  const byLength = ({ 32: "md5", 64: "sha256", 128: "sha512" } as const)[digest.length];
  if (type === undefined || type === "" || type === "auto") return byLength;
  return type === byLength ? byLength : undefined;
}
