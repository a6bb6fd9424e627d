import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { createApiServer, openLmdbStore } from "@capstan/apiserver";
import type { RealKubernetes } from "../../real-kubernetes/index.ts";
import type { Side } from "./client.ts";

/** Our server next to a real one, with the same certificates, keys and users. */
export interface Ours extends Side {
  readonly errors: readonly string[];
  stop(): Promise<void>;
}

/** Starts the embedded API over a durable store, set up as the real server is. */
export async function startOurs(real: RealKubernetes, name = "ours"): Promise<Ours> {
  const pki = (file: string): string => readFileSync(join(real.pkiDir, file), "utf8");
  const dir = join(real.dir, name);
  const errors: string[] = [];
  const api = await createApiServer({
    store: await openLmdbStore(dir, { clock: systemClock }),
    clock: systemClock,
    random: systemRandom,
    ca: { certPem: real.caPem, keyPem: pki("ca.key") },
    auth: { serviceAccounts: { signingKeyPem: pki("sa.key") } },
    log: (message, error) => errors.push(`${message}: ${error instanceof Error ? error.stack : String(error)}`),
  });
  const listener = await api.listen({
    host: real.host,
    port: 0,
    tls: { certPem: pki("apiserver.crt"), keyPem: pki("apiserver.key"), clientCaPem: real.caPem },
  });
  return {
    name,
    host: real.host,
    port: listener.port,
    caPem: real.caPem,
    admin: real.admin,
    errors,
    stop: async () => {
      await api.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
