import { field } from "@capstan/capi";
import { kindRef } from "@capstan/runtime";
import { type CommandInput, UserError } from "../command.ts";
import { namespaceOf } from "../options.ts";
import { withTarget } from "../with-cluster.ts";

const ByoHost = kindRef({
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ByoHost",
  plural: "byohosts",
  namespaced: true,
});
const BareMetalHost = kindRef({
  group: "metal3.io",
  version: "v1alpha1",
  kind: "BareMetalHost",
  plural: "baremetalhosts",
  namespaced: true,
});
/** Read by the simulated agents and management controllers. */
const AGENT = "memory.capstan.dev/agent";
const FAULTS = "memory.capstan.dev/faults";

export function runBreak(input: CommandInput, broken: boolean): Promise<number> {
  return withTarget(input, async (target) => {
    const { client } = target;
    const namespace = namespaceOf(input);
    const [name = "own-1"] = input.arguments;
    const word = broken ? "broken" : "repaired";
    const own = await client.get(ByoHost, { namespace, name });
    if (own !== undefined) {
      if (own.metadata.annotations?.[AGENT] === undefined) throw real("ByoHost", name);
      input.io.err(`In ${target.description}\n`);
      const patch = { metadata: { annotations: { [AGENT]: broken ? "dead" : "" } } };
      await client.patch({ kind: ByoHost, namespace, name }, patch);
      input.io.out(`byohost/${name} ${word}\n`);
      return 0;
    }
    const metal = await client.get(BareMetalHost, { namespace, name });
    if (metal === undefined)
      throw new UserError(`there is no host ${namespace}/${name}`, {
        hint: "see them with: capstan get byohosts,baremetalhosts; the demo's hosts come with: capstan up --demo",
      });
    const address = field(metal, "spec", "bmc", "address");
    if (typeof address !== "string" || !address.startsWith("memory://")) throw real("BareMetalHost", name);
    input.io.err(`In ${target.description}\n`);
    const patch = { metadata: { annotations: { [FAULTS]: broken ? "unreachable" : null } } };
    await client.patch({ kind: BareMetalHost, namespace, name }, patch);
    input.io.out(`baremetalhost/${name} ${word}\n`);
    return 0;
  });
}

function real(kind: string, name: string): UserError {
  return new UserError(`${kind} ${name} is a real host and is not broken on request`, {
    hint: "the demo's hosts come with: capstan up --demo",
  });
}
