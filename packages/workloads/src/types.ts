/** Runs programs as supervised local processes, as pods, or simulated. */
export interface Workloads {
  /** Runs the program as described; idempotent. A changed description replaces the running program. */
  ensure(program: Program): Promise<ProgramState>;
  /** Stops and removes it; it has exited when the promise resolves. Safe to repeat. */
  remove(id: ProgramId): Promise<void>;
  /** Everything that belongs to an owner, also what an earlier manager started. */
  list(owner: string): Promise<ProgramState[]>;
  /** Calls back whenever a program's state changes. Returns a function that unsubscribes. */
  subscribe(listener: (id: ProgramId) => void): () => void;
}

/** Identifies a program by its owner and a name that is unique within the owner. */
export interface ProgramId {
  /** `NAMESPACE/NAME` of its owner, which also names its folder. */
  owner: string;
  /** Unique within the owner, e.g. `etcd-0`, `kube-apiserver`. */
  name: string;
}

/** The desired state of a program: its command line, files, data directory, probe and limits. */
export interface Program {
  id: ProgramId;
  command: string;
  args: string[];
  env?: Record<string, string>;
  /** Written 0600 below the program's directory before it starts; `$FILES` in args and env stands for that directory. */
  secretFiles?: Record<string, string>;
  /** Names of secretFiles that the program reloads when they change: new content does not restart it. */
  reloadedFiles?: string[];
  /** Directory that survives restarts and re-creation, `$DATA` in args. */
  dataDir?: boolean;
  /** A path, such as `$DATA/member`, that must exist before a start, so that a program never starts over without its data. */
  requires?: string;
  probe?: Probe;
  /** User and group id to run as; only root can choose. It reaches its own folder and no other. */
  uid?: number;
  /** A soft limit, given to Go programs as GOMEMLIMIT. */
  memoryBytes?: number;
  /** How long to wait after SIGTERM before SIGKILL. */
  stopTimeoutMs?: number;
}

/** An HTTP(S) health check that decides whether a program is ready. */
export interface Probe {
  /** https is not verified: it is a health check on an address we chose. */
  url: string;
  periodMs?: number;
  /** A client certificate, when the endpoint wants one; paths below `$FILES`. */
  certFile?: string;
  keyFile?: string;
  /** Several programs may share one port. Then only the answer of the one whose certificate has this DNS name counts. */
  servedBy?: string;
  /**
   * A check that the program makes once, by calling its own address right after its start. Where several share a port the call may
   * reach another one, and the check fails for good: if it alone fails, the program is restarted.
   */
  checkedOnce?: string;
}

/** The observed state of a program. */
export interface ProgramState {
  id: ProgramId;
  phase: "Starting" | "Running" | "Ready" | "Failed" | "Stopped";
  pid?: number;
  restarts: number;
  /** When the phase was entered, milliseconds since the epoch. */
  since: number;
  /** Why it is not ready, with the program's own last error line when it exited. */
  message: string;
  logFile?: string;
}
