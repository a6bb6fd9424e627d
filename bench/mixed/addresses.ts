/** Many claims on one large pool. */
import { IPClaim, IPPool, Metal3IPAddress, metal3Provider } from "@capstan/infra-metal3";
import { cpuSeconds } from "../lib/usage.ts";
import { objectOf, World } from "./world.ts";

export interface AddressesFigure {
  seconds: number;
  /** CPU time of a claim in the last fifth over one in the first. */
  growth: number;
  twice: number;
}

export async function claimAddresses(count: number): Promise<AddressesFigure> {
  const world = await World.start();
  await world.client.create(
    objectOf(IPPool, "pool", { namePrefix: "pool", pools: [{ subnet: "10.0.0.0/16" }], prefix: 16 }),
  );
  const provider = metal3Provider();
  const workload = {
    get: () => ({ state: "connecting" as const, since: 0, error: "" }),
    subscribe: () => () => undefined,
  };
  world.run({
    addIndexes: (cache) => provider.addIndexes(cache),
    controllers: () => provider.controllers({ workload }),
  });
  let given = 0;
  world.server.internal.watch(IPClaim, ({ object, previous }) => {
    const has = (claim: unknown): boolean => (claim as IPClaim | undefined)?.status?.address !== undefined;
    if (has(object) && !has(previous)) given++;
  });
  const fifth = Math.floor(count / 5);
  const cpu: number[] = [];
  const begun = performance.now();
  for (let from = 0; from < count; from += fifth) {
    const before = cpuSeconds(process.pid);
    const batch = Array.from({ length: Math.min(fifth, count - from) }, (_, i) =>
      objectOf(IPClaim, `claim-${String(from + i).padStart(6, "0")}`, { pool: { name: "pool", namespace: "default" } }),
    );
    await world.create(batch);
    await world.until(() => given >= from + batch.length);
    cpu.push((cpuSeconds(process.pid) - before) / batch.length);
  }
  const seconds = (performance.now() - begun) / 1000;
  const addresses = world.server.internal.list(Metal3IPAddress, "default") as unknown as Metal3IPAddress[];
  const twice = addresses.length - new Set(addresses.map(({ spec }) => spec.address)).size;
  await world.close();
  // The first batch also warms the process up.
  return { seconds, growth: (cpu[4] ?? 0) / (cpu[1] ?? 1), twice };
}
