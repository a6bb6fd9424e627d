/** Why a download failed, so that the caller can advise the user. */
export type DownloadProblem =
  | "address"
  | "unreachable"
  | "redirect"
  | "missing"
  | "refused"
  | "interrupted"
  | "limit"
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
