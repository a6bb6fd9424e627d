import { createHash } from "node:crypto";
import type { ImageFormat } from "../disks/image-header.ts";

/** An image from outside that disks begin with. It may be compressed with gzip. */
export interface ImageSource {
  location: { type: "url"; url: string } | { type: "file"; path: string };
  /** Of the image itself, not of what it is packed in. */
  format: ImageFormat;
  /** SHA-256 or SHA-512 of what is downloaded, or the URL of a file with such checksums. Required for URLs. */
  checksum?: string | undefined;
}

/** Where the image of a source is stored. */
export interface StoredImage {
  file: string;
  format: ImageFormat;
}

/**
 * The name of an image in the store. The location is part of it: whoever only knows the checksum of an image that another tenant may
 * download does not get it.
 */
export function imageKey({ location, format, checksum = "" }: ImageSource, version = ""): string {
  const where = location.type === "url" ? location.url : location.path;
  return createHash("sha256")
    .update(JSON.stringify([location.type, where, format, checksum, version]))
    .digest("hex");
}
