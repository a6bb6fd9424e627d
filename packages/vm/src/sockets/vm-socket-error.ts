/** Why a conversation with QEMU or a guest agent failed. */
export type VmSocketProblem =
  /** Nothing listens there: QEMU is not running. */
  | "absent"
  /** Another client holds the socket: QEMU serves one at a time. */
  | "busy"
  /** Nothing in the guest answers. */
  | "silent"
  /** What arrived is not the protocol. */
  | "protocol"
  /** An answer is larger than allowed. */
  | "limit"
  /** A command did not complete in time; it may still be carried out. */
  | "timeout"
  /** The connection was lost before the answer; the command may have been carried out. */
  | "disconnected"
  /** QEMU or the agent refused a command. */
  | "refused"
  /** This client was closed. */
  | "closed";

/** A failed conversation with QEMU or a guest agent. */
export class VmSocketError extends Error {
  readonly problem: VmSocketProblem;
  /** The class of a refusal, such as `CommandNotFound` or `GenericError`. */
  readonly refusal: string | undefined;

  constructor(problem: VmSocketProblem, message: string, refusal?: string) {
    super(message);
    this.name = "VmSocketError";
    this.problem = problem;
    this.refusal = refusal;
  }
}

/** What a failed connection or a broken one means. */
export function connectionError(what: string, error: NodeJS.ErrnoException): VmSocketError {
  switch (error.code) {
    case "ENOENT":
    case "ECONNREFUSED":
      return new VmSocketError("absent", `${what}: nothing listens there, so QEMU is not running`);
    // The queue of clients that wait is full.
    case "EAGAIN":
      return busy(what);
    default:
      return new VmSocketError("disconnected", `${what}: ${error.message}`);
  }
}

/** A hung QEMU looks the same from outside. */
export function busy(what: string): VmSocketError {
  return new VmSocketError("busy", `${what}: another client holds the socket, or QEMU hangs`);
}
