import { hostKinds, simulatedHost } from "@capstan/capi";
import { kindRef } from "@capstan/runtime";
import { type CommandInput, UserError } from "../command.ts";
import { withTarget } from "../context/with-cluster.ts";
import { namespaceOf } from "../options.ts";
import { providersOf } from "../providers.ts";

/** Runs `capstan demo break` and `capstan demo repair`: sets or clears a simulated fault on a host; refuses real hosts. */
export function runBreak(input: CommandInput, broken: boolean): Promise<number> {
  return withTarget(input, async (target) => {
    const { client } = target;
    const namespace = namespaceOf(input);
    const [name = "own-1"] = input.arguments;
    const providers = await providersOf(input);
    const hosts = hostKinds(providers);
    for (const kind of hosts.map((host) => kindRef({ ...host, namespaced: true }))) {
      const host = await client.get(kind, { namespace, name });
      if (host === undefined) continue;
      const simulated = simulatedHost({ ...host, kind: kind.kind }, providers, broken);
      if (simulated === undefined)
        throw new UserError(`${kind.kind} ${name} is a real host; only hosts in memory can be broken`, {
          hint: "create the demo's hosts with: capstan up --demo",
        });
      input.io.err(`In ${target.description}\n`);
      await client.patch({ kind, namespace, name }, simulated.change);
      input.io.out(`${kind.kind.toLowerCase()}/${name} ${broken ? "broken" : "repaired"}\n`);
      return 0;
    }
    throw new UserError(`there is no host ${namespace}/${name}`, {
      hint: `see them with: capstan get ${hosts.map(({ plural }) => plural).join(",")}; create the demo's hosts with: capstan up --demo`,
    });
  });
}
