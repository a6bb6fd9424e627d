import { StoreError } from "./store.ts";

/** lmdb rejects with a generic error and puts the cause into a second promise, which is settled by then. */
export async function commitFailure(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  try {
    await Promise.race([error.commitError, Promise.resolve()]);
    return error;
  } catch (cause) {
    return cause;
  }
}

/** Whether a write failed because the disk is full. */
export function isDiskFull(error: StoreError): boolean {
  return error.message.startsWith(NO_SPACE);
}

/** Whether the operating system gave no better reason for a failed write than "input/output error". */
export function isInputOutputError({ cause }: StoreError): boolean {
  if (!(cause instanceof Error)) return false;
  return /\bEIO\b|Input\/output error/i.test(cause.message) || ("code" in cause && cause.code === 5);
}

const NO_SPACE = "no space left on ";

/** Nothing can be written to `place` but deletions. */
export function noSpace(place: string, cause?: unknown): StoreError {
  return new StoreError(
    `${NO_SPACE}${place}; nothing was written`,
    "Free space on that disk: reads and deletions keep working, and writes continue as soon as there is space.",
    { cause },
  );
}

function isNoSpace(about: string, code: string): boolean {
  return (
    /ENOSPC|No space left|EFBIG|File too large|MDB_MAP_FULL|EDQUOT|quota/i.test(about) ||
    code === "28" ||
    code === "-30792"
  );
}

/** The error of a failed write, for users. Nothing was written; the store remains usable. */
export function writeError(error: unknown): StoreError {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const about = `${text} ${code}`;
  if (isNoSpace(about, code)) return noSpace("the disk with the data directory", error);
  if (/EROFS|Read-only file system|EACCES|EPERM/i.test(about)) {
    return new StoreError(
      `the data directory cannot be written: ${text}`,
      "Make it writable for this user, then restart.",
      {
        cause: error,
      },
    );
  }
  return new StoreError(`writing to the data directory failed: ${text}`, "Check the disk and the system log.", {
    cause: error,
  });
}

/** The error of a data directory that cannot be opened, for users. */
export function openError(directory: string, error: unknown): StoreError {
  const text = error instanceof Error ? error.message : String(error);
  return new StoreError(
    `cannot open the data directory ${directory}: ${text}`,
    "Check that it is on a local disk with free space and that this user may read and write it.",
    { cause: error },
  );
}
