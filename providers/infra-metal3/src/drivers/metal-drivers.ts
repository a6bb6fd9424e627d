import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ProviderDeps } from "@capstan/capi";
import { httpContent, httpDownload, MediaServer } from "@capstan/media";
import { writeFileAtomic } from "@capstan/os";
import { PortAllocator } from "@capstan/workloads";
import { ImageChecks } from "../provisioner/image-check.ts";
import { type MemoryBmcOptions, MemoryBmcs } from "../provisioner/memory/memory-bmcs.ts";
import { RedfishDriver } from "../provisioner/redfish/redfish-driver.ts";
import { mediaCertificate } from "./media-certificate.ts";

const LOGOUT_MS = 2_000;

type Options = Pick<ProviderDeps, "clock" | "random" | "dataDir" | "nodeAddress" | "gate">;

/** Creates the drivers of management controllers: Redfish for real ones, memory for simulated ones. */
export function metalDrivers(
  options: Options,
  simulation: MemoryBmcOptions,
): { drivers: { redfish: RedfishDriver; memory: MemoryBmcs }; close(): Promise<void> } {
  const { clock, random, gate, nodeAddress: host } = options;
  const ports = new PortAllocator(join(options.dataDir, "media"));
  // The same port over restarts, so that a firewall can let management controllers through.
  const portOf = async (owner: string, name: string): Promise<number> =>
    (await ports.allocate(owner, [name], host))[name] ?? 0;
  const port = (): Promise<number> => portOf("shared/media", "http");
  const tls = { port: () => portOf("shared/media-tls", "https"), certificate: () => mediaCertificate(options, host) };
  const media = new MediaServer({ clock, random, listen: { host, port }, tls, secret: () => secretIn(options) });
  const redfish = new RedfishDriver({
    clock,
    gate,
    media,
    images: new ImageChecks(httpDownload({ gate, clock }), clock),
    open: (url, signal) => httpContent(url, signal, { gate, clock }),
  });
  return {
    drivers: { redfish, memory: new MemoryBmcs(simulation) },
    close: async () => {
      const limit = new AbortController();
      const cancel = clock.after(LOGOUT_MS, () => limit.abort(new Error("the manager is stopping")));
      await redfish.close(limit.signal).catch(() => undefined);
      cancel();
      await media.close();
    },
  };
}

/** What addresses of media are made from; the same over restarts, as systems may run from them. */
async function secretIn({ dataDir, random }: Options): Promise<Uint8Array> {
  const file = join(dataDir, "media", "secret");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  try {
    return await readFile(file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  const secret = random.bytes(32);
  await writeFileAtomic(file, secret);
  return secret;
}
