/** Registering and inspecting many hosts whose management controllers take their time. */
import { systemClock, systemRandom, type Transport } from "@capstan/apimachinery";
import { BareMetalHost, bareMetalHosts, MemoryBmcs } from "@capstan/infra-metal3";
import { silentLogger } from "@capstan/runtime";
import { objectOf, World } from "./world.ts";

const LIMIT = 2;
/** Machines of a chassis share its management controller, so that the limit is met. */
const PER_CHASSIS = 8;

export interface HostsFigure {
  seconds: number;
  peakPerBmc: number;
  limit: number;
}

export async function registerHosts(count: number): Promise<HostsFigure> {
  const world = await World.start();
  const unreachable = (): Transport => {
    throw new Error("nothing boots here");
  };
  const bmcs = new MemoryBmcs({
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
    seed: 1,
    connect: unreachable,
    limits: { perKey: LIMIT, total: 512 },
  });
  const part = bareMetalHosts({ clock: systemClock, random: systemRandom, drivers: { memory: bmcs } });
  const names = Array.from({ length: count }, (_, i) => `host-${i}`);
  await world.create(
    names.map((name) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name },
      data: { username: btoa("admin"), password: btoa("x") },
    })),
  );
  world.run(part);
  let available = 0;
  const hosts = { group: BareMetalHost.group, plural: BareMetalHost.plural };
  world.server.internal.watch(hosts, ({ object, previous }) => {
    if (stateOf(object) === "available" && stateOf(previous) !== "available") available++;
  });
  const begun = performance.now();
  await world.create(
    names.map((name, index) => {
      const chassis = `chassis-${Math.floor(index / PER_CHASSIS)}`;
      const bmc = { address: `memory://${chassis}/${name}?latency=50ms`, credentialsName: name };
      return objectOf(BareMetalHost, name, { online: false, bmc });
    }),
  );
  await world.until(() => available >= count);
  const seconds = (performance.now() - begun) / 1000;
  await world.close();
  return { seconds, peakPerBmc: bmcs.inFlight.peakPerKey, limit: LIMIT };
}

function stateOf(object: unknown): string | undefined {
  return (object as BareMetalHost | undefined)?.status?.provisioning.state;
}
