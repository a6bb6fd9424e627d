import { kindRef } from "@capstan/runtime";
import type { CommandIo, Completes } from "../command.ts";
import { openTarget } from "../context/api-target.ts";
import { Cluster } from "../kinds/kinds.ts";
import { findType, resourceTypes } from "../kinds/resource-types.ts";

const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

/** Returns names of objects from the API; empty when it cannot be reached, because a completion cannot show errors. */
export async function liveNames(
  what: Completes,
  positionals: readonly string[],
  values: Readonly<Record<string, string>>,
  io: CommandIo,
): Promise<string[]> {
  const options = { kubeconfig: values["--kubeconfig"], context: values["--context"], data: values["--data"] };
  const quiet = { ...io, err: () => undefined };
  try {
    const { client, close } = await openTarget({ arguments: [], options, lists: {}, io: quiet });
    try {
      const namespace = values["--namespace"] ?? "default";
      const names = (items: readonly { metadata: { name?: string } }[]): string[] =>
        items.map(({ metadata }) => metadata.name ?? "");
      switch (what) {
        case "clusters":
          return names((await client.list(Cluster, { namespace })).items);
        case "namespaces":
          return names((await client.list(Namespace)).items);
        case "types":
          return (await resourceTypes(client))
            .filter(({ verbs }) => verbs.includes("list"))
            .map(({ plural }) => plural);
        default: {
          const type = await findType(client, positionals[0] ?? "");
          return names((await client.list(type, type.namespaced ? { namespace } : {})).items);
        }
      }
    } finally {
      await close();
    }
  } catch {
    return [];
  }
}
