import { Secret, secretText } from "@capstan/capi";
import { type CommandDefinition, UserError } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS, clusterNames, withTarget } from "./with-cluster.ts";

export const kubeconfig: CommandDefinition = {
  name: "kubeconfig",
  summary: "Print the admin kubeconfig of a cluster",
  arguments: [CLUSTER_ARGUMENT],
  options: CLUSTER_OPTIONS,
  examples: [
    { command: "capstan kubeconfig demo > demo.kubeconfig", does: "keep it in a file for kubectl --kubeconfig" },
  ],
  run: (input) =>
    withTarget(input, async (target) => {
      const { namespace, name } = clusterNames(input);
      const text = secretText(await target.client.get(Secret, { namespace, name: `${name}-kubeconfig` }), "value");
      if (text === undefined)
        throw new UserError(`cluster ${namespace}/${name} has no kubeconfig yet`, {
          hint: `see what it waits for: capstan why ${name} -n ${namespace}`,
        });
      input.io.out(text);
      return 0;
    }),
};
