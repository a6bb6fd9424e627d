import { Secret, secretText } from "@capstan/capi";
import { type CommandInput, UserError } from "../command.ts";
import { clusterNames, noSuchCluster, withTarget } from "../context/with-cluster.ts";
import { Cluster } from "../kinds/kinds.ts";

/** Runs `capstan kubeconfig`: prints the content of the Secret `NAME-kubeconfig`. */
export function runKubeconfig(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const { namespace, name } = clusterNames(input);
    const text = secretText(await target.client.get(Secret, { namespace, name: `${name}-kubeconfig` }), "value");
    if (text === undefined) {
      if ((await target.client.get(Cluster, { namespace, name })) === undefined)
        throw noSuchCluster(target, namespace, name);
      throw new UserError(`cluster ${namespace}/${name} has no kubeconfig yet`, {
        hint: `see what it is waiting for: capstan why ${name} -n ${namespace}`,
      });
    }
    input.io.out(text);
    return 0;
  });
}
