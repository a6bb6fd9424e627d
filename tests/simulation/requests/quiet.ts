/** So many turns of the event loop pass a request over a connection of this machine and its answer. */
const CALM_TURNS = 20;
/** What a process keeps open while it does nothing. */
const LASTING = new Set(["MessagePort", "PipeWrap", "TCPServerWrap", "TCPSocketWrap", "TLSWrap", "TTYWrap", "Timeout"]);

/** Resolves when this process waits for nothing but virtual time: no file, program or turn of the event loop is pending. */
export async function quiet(): Promise<void> {
  for (let calm = 0; calm < CALM_TURNS; calm++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (process.getActiveResourcesInfo().some((each) => !LASTING.has(each))) calm = -1;
  }
}
