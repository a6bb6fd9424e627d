/** Why a download failed, so that the caller can tell the user what to do. */
export type DownloadProblem =
  | "address"
  | "unreachable"
  | "redirect"
  | "missing"
  | "refused"
  | "interrupted"
  | "checksum";

/** Thrown when a download fails; its message never shows the password of a URL. */
export class DownloadError extends Error {
  readonly problem: DownloadProblem;

  constructor(problem: DownloadProblem, message: string) {
    super(message);
    this.name = "DownloadError";
    this.problem = problem;
  }
}
