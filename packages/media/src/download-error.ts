/** Why a file was not downloaded; the caller knows what a person can do about it. */
export type DownloadProblem =
  | "address"
  | "unreachable"
  | "redirect"
  | "missing"
  | "refused"
  | "interrupted"
  | "checksum";

/** A download that failed; its message never shows a password of the address. */
export class DownloadError extends Error {
  readonly problem: DownloadProblem;

  constructor(problem: DownloadProblem, message: string) {
    super(message);
    this.name = "DownloadError";
    this.problem = problem;
  }
}
