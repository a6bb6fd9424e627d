import { DownloadError, type DownloadProblem } from "@capstan/media";

/** Thrown when an installation fails; `cure` says what the user can do. */
export class InstallError extends Error {
  readonly cure: string;

  constructor(message: string, cure: string) {
    super(message);
    this.name = "InstallError";
    this.cure = cure;
  }
}

/** What the user can do about a failed download. */
const CURES: Readonly<Record<DownloadProblem, string>> = {
  address: "specify mirrors as URLs such as https://mirror.example.org/kubernetes",
  unreachable: "check the network and HTTPS_PROXY, set a mirror with --mirror, or use local files with --from DIR",
  redirect: "use another --mirror",
  missing: "use another --mirror",
  refused: "try again later, or use another --mirror",
  interrupted: "run the same command again to resume the download",
  limit: "use another --mirror",
  checksum: "the file was changed in transit or at its source: try again, or use another --mirror",
};

/** Returns an error handler that adds this cure when a download failed because the server does not have the file. */
export function ifMissing(cure: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof DownloadError && error.problem === "missing" ? new InstallError(error.message, cure) : error;
  };
}

/** Converts errors of downloads and of the file system to InstallErrors with a cure; other errors are returned unchanged. */
export function asInstallError(error: unknown, into: string): unknown {
  if (error instanceof DownloadError) return new InstallError(error.message, CURES[error.problem]);
  if (error instanceof InstallError || !(error instanceof Error) || !("code" in error)) return error;
  switch (error.code) {
    case "ENOSPC":
    case "EDQUOT":
      return new InstallError(
        `no space left on device for ${into}: ${error.message}`,
        "free some space (a version takes about 500 MB), or choose another directory with --data; then run the same command again to resume the download",
      );
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new InstallError(
        `${into} is not writable: ${error.message}`,
        "run it as the user that runs capstan up, or choose another directory with --data",
      );
    case "Z_DATA_ERROR":
    case "Z_BUF_ERROR":
      return new InstallError(`cannot unpack the etcd archive: ${error.message}`, "use another --etcd-mirror");
    default:
      return error;
  }
}
