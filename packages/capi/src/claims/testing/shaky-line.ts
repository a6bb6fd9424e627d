import { type Clock, sleep, type Transport, type WatchEvent } from "@capstan/apimachinery";

/** What happens to the next write of a host. */
export type WriteFault =
  /** It never reaches the server. */
  | "refused"
  /** It is carried out and its answer is lost. */
  | "answerLost"
  /** It seems to fail, and is carried out later. */
  | "late"
  /** Another client changes the host right before it. */
  | "contended"
  /** The manager is killed when it has been carried out. */
  | "killed"
  /** It is carried out after some time, in which other things happen. */
  | "slow"
  /** It is refused after some time. */
  | "slowlyRefused"
  /** It is carried out after some time, and its answer is lost. */
  | "slowlyLost";

/** How long a slow request takes. */
const SLOW_MS = 100;

/** A connection to the API whose faults a test orders one by one, and whose watches can be stopped to make a cache stale. */
export class ShakyLine implements Transport {
  readonly #inner: Transport;
  readonly #clock: Clock;
  #slowReads = 0;
  /** Methods of the requests for single hosts. */
  readonly sent: string[] = [];
  readonly #faults: WriteFault[] = [];
  #wasLate = false;
  #late: (() => Promise<unknown>)[] = [];
  #thaw: (() => void) | undefined;
  #frozen: Promise<void> | undefined;
  /** Called for a fault that needs more than the connection; `path` names the host. */
  onFault: (fault: "contended" | "killed", path: string) => Promise<void> = async () => undefined;

  constructor(inner: Transport, clock: Clock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  /** The next read of a host takes some time. */
  slowRead(): void {
    this.#slowReads++;
  }

  order(fault: WriteFault): void {
    this.#faults.push(fault);
  }

  /** Forgets the faults that have not happened. */
  calm(): void {
    this.#faults.length = 0;
    this.#slowReads = 0;
  }

  freeze(): void {
    this.#frozen ??= new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw(): void {
    this.#thaw?.();
    this.#frozen = undefined;
  }

  /** Whether a write was carried out late. */
  get wasLate(): boolean {
    return this.#wasLate;
  }

  /** Carries out the writes that are late. */
  async deliver(): Promise<void> {
    const late = this.#late;
    this.#late = [];
    this.#wasLate ||= late.length > 0;
    for (const write of late) await write();
  }

  async request(...[request, signal]: Parameters<Transport["request"]>): ReturnType<Transport["request"]> {
    const isHost = request.path.includes("/hosts/");
    if (isHost) this.sent.push(request.method);
    if (isHost && request.method === "GET" && this.#slowReads > 0) {
      this.#slowReads--;
      await sleep(this.#clock, SLOW_MS);
    }
    const fault = isHost && request.method === "PUT" ? this.#faults.shift() : undefined;
    if (fault?.startsWith("slow")) await sleep(this.#clock, SLOW_MS);
    if (fault === "refused" || fault === "slowlyRefused") throw new Error("connection refused");
    if (fault === "late") {
      this.#late.push(() => this.#inner.request(structuredClone(request)));
      throw new Error("connection reset by peer");
    }
    if (fault === "contended") await this.onFault(fault, request.path);
    const response = await this.#inner.request(request, signal);
    if (fault === "killed") await this.onFault(fault, request.path);
    if (fault === "killed" || fault === "answerLost" || fault === "slowlyLost")
      throw new Error("connection reset by peer");
    return response;
  }

  async *watch(...[request, signal]: Parameters<Transport["watch"]>): AsyncGenerator<WatchEvent> {
    for await (const event of this.#inner.watch(request, signal)) {
      await this.#frozen;
      if (signal?.aborted === true) return;
      yield event;
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
