/** The management plane of the bench: durable API and all controllers in this process. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom, type Transport } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, openLmdbStore } from "@capstan/apiserver";
import { type Manager, managerTransport, startManager } from "@capstan/manager";
import { createLogger } from "@capstan/runtime";

/** A running management plane. */
export interface Plane {
  readonly server: ApiServer;
  readonly transport: Transport;
  readonly manager: Manager;
  /** Writes of the controllers that the API carried out, without Leases and Events. */
  writes(): number;
  close(): Promise<void>;
}

/** Starts one on an empty directory. */
export async function startPlane(): Promise<Plane> {
  const dir = mkdtempSync(join(tmpdir(), "capstan-fleet-"));
  const clock = systemClock;
  const log = await createLogger({ level: process.env["FLEET_LOG"] === undefined ? "silent" : "info" });
  const server = await createApiServer({
    store: await openLmdbStore(join(dir, "store"), { clock }),
    clock,
    random: systemRandom,
    log: (message, error) => log.error(message, { error }),
  });
  let writes = 0;
  const inner = await managerTransport(server, clock);
  const counted: Transport = {
    request: (request, signal) => {
      if (request.method !== "GET" && !/\/(leases|events)\b/.test(request.path)) writes++;
      return inner.request(request, signal);
    },
    watch: (request, signal) => inner.watch(request, signal),
    close: () => inner.close(),
  };
  const manager = await startManager({ transport: counted, dataDir: dir, clock, random: systemRandom, log });
  return {
    server,
    transport: server.admin(),
    manager,
    writes: () => writes,
    close: async () => {
      await manager.shutDown();
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
