import { ApiError } from "@capstan/apimachinery";
import { UserError } from "../command.ts";

const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const TOO_SLOW = new Set(["ERR_REQUEST_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/** What to do about refusals of an API server. */
const CURES: Record<string, string> = {
  Unauthorized: "sign in again: the credentials of this kubeconfig are not accepted",
  Forbidden: "ask an administrator for the permission, or use a kubeconfig that has it",
  Conflict: "another client changed it in the meantime: check it and try again",
};

/** Converts API, network and system errors to UserErrors in kubectl's wording, with a hint where one is known. */
export function explainError(error: unknown, env: Readonly<Record<string, string | undefined>>): UserError {
  if (error instanceof ApiError) {
    const { reason } = error;
    const hint = CURES[reason];
    const prefix = `Error from server (${reason === "" ? String(error.code) : reason})`;
    return new UserError(error.message, { prefix, hint });
  }
  if (!(error instanceof Error)) return new UserError(String(error));
  const cure = (error as { cure?: string }).cure;
  if (cure !== undefined) return new UserError(error.message, { hint: cure });
  const code = codeOf(error);
  if (code !== undefined && UNREACHABLE.has(code))
    return new UserError(`the API server cannot be reached (${error.message === "" ? code : error.message})`, {
      hint: "start one with: capstan up, or see which one is used: capstan status",
    });
  if (code !== undefined && TOO_SLOW.has(code))
    return new UserError("the API server did not answer in time", {
      hint: "allow more time with --request-timeout, or see which one is used with -v 6",
    });
  if (env["CAPSTAN_DEBUG"] !== undefined) return new UserError(error.stack ?? error.message);
  return new UserError(error.message, { hint: "CAPSTAN_DEBUG=1 shows where it came from" });
}

function codeOf(error: Error): string | undefined {
  const { code, cause } = error as NodeJS.ErrnoException & { cause?: unknown };
  return code ?? (cause instanceof Error ? codeOf(cause) : undefined);
}
