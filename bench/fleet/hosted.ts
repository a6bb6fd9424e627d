import { figure, percentile, report } from "../lib/result.ts";
import { Fleet, namesOf } from "./fleet.ts";
import { inventory, manifests, scale, untilMachines } from "./load.ts";
import { startPlane } from "./plane.ts";

/** Clusters with embedded control planes. */
export async function measure(short: boolean): Promise<void> {
  const [one, some, many] = short ? [1, 20, 100] : [1, 100, 1000];
  const added = short ? 5 : 20;
  const scaleTo = short ? 50 : 500;
  const idleSeconds = short ? 10 : 60;
  // Goals are set for a thousand clusters; smaller runs must be proportionally faster, with room for fixed costs.
  const share = short ? 0.2 : 1;

  const plane = await startPlane();
  const file = manifests("hosted-cluster.yaml");
  const fleet = new Fleet(plane, file);
  await fleet.build(["warm"]);
  await fleet.destroy(["warm"]);
  await fleet.untilQuiet();
  const empty = inventory(plane.server);

  const single = await fleet.build(namesOf("one-", one));
  const aloneSamples = await fleet.addOneByOne("alone-", added);
  await fleet.destroy([...namesOf("one-", one), ...namesOf("alone-", added)]);
  const hundred = await fleet.build(namesOf("some-", some));
  await fleet.destroy(namesOf("some-", some));
  await fleet.untilQuiet();

  const names = namesOf("fleet-", many);
  const thousand = await fleet.build(names);
  const addedSamples = await fleet.addOneByOne("added-", added);
  await fleet.untilQuiet();
  const idle = await fleet.idle(idleSeconds);

  const scaleBegun = performance.now();
  const scaled = untilMachines(plane.server, "fleet-0", scaleTo);
  await scale(plane.transport, file, "fleet-0", scaleTo);
  await scaled;
  const scaleSeconds = (performance.now() - scaleBegun) / 1000;

  const deleteSeconds = await fleet.destroy([...names, ...namesOf("added-", added)]);
  const left = await fleet.leftovers(empty);
  await plane.close();

  const ratio = thousand.cpu / many / (hundred.cpu / some);
  const addRatio = percentile(addedSamples, 0.5) / percentile(aloneSamples, 0.5);
  const slowest = percentile(addedSamples, 0.99);
  report("fleet", [
    figure(`${one} cluster Available`, single.seconds, "s", "printed", true),
    figure(`${some} clusters Available`, hundred.seconds, "s", "printed", true),
    figure(`${many} clusters Available`, thousand.seconds, "s", `< ${60 * share} s`, thousand.seconds < 60 * share),
    figure(`CPU per cluster, ${some}`, (1000 * hundred.cpu) / some, "ms", "printed", true),
    figure(`CPU per cluster, ${many}`, (1000 * thousand.cpu) / many, "ms", "printed", true),
    figure(`cost per cluster, ${many} over ${some}`, ratio, "x", "<= 1.3", ratio <= 1.3),
    figure(`adding one at ${many}, p99`, slowest, "s", "< 1 s", slowest < 1),
    figure(`adding one at ${many} over empty`, addRatio, "x", "<= 1.5", addRatio <= 1.5),
    figure(`scaling 1 to ${scaleTo}`, scaleSeconds, "s", "< 10 s", scaleSeconds < 10),
    figure(`idle writes in ${idleSeconds} s`, idle.writes, "", "0", idle.writes === 0),
    figure("idle CPU", idle.cores, "cores", "< 0.05", idle.cores < 0.05),
    figure(`resident with ${many}`, idle.mib, "MiB", "< 1.5 GB", idle.mib < 1430),
    figure(`deleting ${many + added}`, deleteSeconds, "s", `< ${60 * share} s`, deleteSeconds < 60 * share),
    figure("left over", left.length, "kinds", "0", left.length === 0),
  ]);
}
