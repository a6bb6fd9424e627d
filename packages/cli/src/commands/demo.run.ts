import { simulatedFault, simulatedHealth } from "@capstan/capi";
import { kindRef } from "@capstan/runtime";
import { type CommandInput, UserError } from "../command.ts";
import { namespaceOf } from "../options.ts";
import { withTarget } from "../with-cluster.ts";

const HOST_KINDS = [
  kindRef({
    group: "infrastructure.cluster.x-k8s.io",
    version: "v1beta2",
    kind: "ByoHost",
    plural: "byohosts",
    namespaced: true,
  }),
  kindRef({
    group: "metal3.io",
    version: "v1alpha1",
    kind: "BareMetalHost",
    plural: "baremetalhosts",
    namespaced: true,
  }),
];

/** Runs `capstan demo break` and `capstan demo repair`: sets or clears a simulated fault on a host; refuses real hosts. */
export function runBreak(input: CommandInput, broken: boolean): Promise<number> {
  return withTarget(input, async (target) => {
    const { client } = target;
    const namespace = namespaceOf(input);
    const [name = "own-1"] = input.arguments;
    for (const kind of HOST_KINDS) {
      const host = await client.get(kind, { namespace, name });
      if (host === undefined) continue;
      if (simulatedHealth({ ...host, kind: kind.kind }) === undefined)
        throw new UserError(`${kind.kind} ${name} is a real host and is not broken on request`, {
          hint: "the demo's hosts come with: capstan up --demo",
        });
      input.io.err(`In ${target.description}\n`);
      await client.patch({ kind, namespace, name }, simulatedFault(kind.kind, broken));
      input.io.out(`${kind.kind.toLowerCase()}/${name} ${broken ? "broken" : "repaired"}\n`);
      return 0;
    }
    throw new UserError(`there is no host ${namespace}/${name}`, {
      hint: "see them with: capstan get byohosts,baremetalhosts; the demo's hosts come with: capstan up --demo",
    });
  });
}
