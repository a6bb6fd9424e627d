import { join } from "node:path";
import {
  httpDownload,
  ImageChecks,
  MediaServer,
  type MemoryBmcOptions,
  MemoryBmcs,
  RedfishDriver,
} from "@capstan/infra-metal3";
import { PortAllocator } from "@capstan/workloads";
import type { ManagerOptions } from "./manager.ts";

const LOGOUT_MS = 2_000;

/** The drivers of management controllers: real ones by Redfish, and simulated ones. */
export function metalDrivers(
  options: ManagerOptions,
  simulation: MemoryBmcOptions,
): { drivers: { redfish: RedfishDriver; memory: MemoryBmcs }; close(): Promise<void> } {
  const { clock, random } = options;
  const host = options.nodeAddress ?? "127.0.0.1";
  const ports = new PortAllocator(join(options.dataDir, "media"));
  // The same port over restarts, so that a firewall can let management controllers through.
  const port = async (): Promise<number> => (await ports.allocate("shared/media", ["http"], host))["http"] ?? 0;
  const media = new MediaServer({ clock, random, listen: { host, port } });
  const redfish = new RedfishDriver({ clock, media, images: new ImageChecks(httpDownload(), clock) });
  return {
    drivers: { redfish, memory: new MemoryBmcs(simulation) },
    close: async () => {
      const limit = new AbortController();
      const cancel = clock.after(LOGOUT_MS, () => limit.abort(new Error("the manager stops")));
      await redfish.close(limit.signal).catch(() => undefined);
      cancel();
      await media.close();
    },
  };
}
