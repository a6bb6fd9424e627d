import type { CommandInput } from "../command.ts";
import { clusterNames, noSuchCluster, withTarget } from "../context/with-cluster.ts";
import { Cluster } from "../kinds/kinds.ts";

/** Runs `capstan pause` and `capstan resume`: sets or removes `spec.paused` of a Cluster. */
export function runPause(input: CommandInput, paused: boolean): Promise<number> {
  return withTarget(input, async (target) => {
    const { namespace, name } = clusterNames(input);
    const cluster = await target.client.get(Cluster, { namespace, name });
    if (cluster === undefined) throw noSuchCluster(target, namespace, name);
    const word = paused ? "paused" : "resumed";
    if ((cluster.spec?.paused ?? false) === paused) {
      input.io.out(`cluster/${name} ${paused ? "is already paused" : "is not paused"}\n`);
      return 0;
    }
    input.io.err(`In ${target.description}\n`);
    await target.client.patch({ kind: Cluster, namespace, name }, { spec: { paused: paused ? true : null } });
    input.io.out(`cluster/${name} ${word}\n`);
    return 0;
  });
}
