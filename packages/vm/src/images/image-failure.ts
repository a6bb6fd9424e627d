import { AddressRefused } from "@capstan/apimachinery/foreign";
import { DownloadError } from "@capstan/media";
import { ImageError } from "../disks/image-header.ts";
import { PathRefused } from "../host/allowed-path.ts";

/** Why an image is not available. */
export type ImageFailureReason =
  /** The address or path is not one that machines may use. */
  | "refused"
  | "missing"
  | "unreachable"
  | "checksum"
  | "noSpace"
  /** It is not an image, not in the stated format, too large, or it refers to files of the host. */
  | "invalid";

/** An image that could not be fetched; `message` is for people and has no credentials in it. */
export interface ImageFailure {
  reason: ImageFailureReason;
  message: string;
}

/** What an error while an image was fetched means. */
export function imageFailure(error: unknown): ImageFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { reason: reasonOf(error), message };
}

function reasonOf(error: unknown): ImageFailureReason {
  if (error instanceof PathRefused || error instanceof AddressRefused) return "refused";
  if (error instanceof ImageError) return "invalid";
  if (error instanceof DownloadError) {
    switch (error.problem) {
      case "address":
      case "redirect":
        return "refused";
      case "missing":
      case "checksum":
        return error.problem;
      case "limit":
        return "invalid";
      default:
        return "unreachable";
    }
  }
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOSPC":
    case "EDQUOT":
      return "noSpace";
    case "ENOENT":
      return "missing";
    case "Z_DATA_ERROR":
    case "Z_BUF_ERROR":
      return "invalid";
    default:
      return "unreachable";
  }
}
