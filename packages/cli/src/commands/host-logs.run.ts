import { sleep, systemClock } from "@capstan/apimachinery";
import { ConfigMap } from "@capstan/capi";
import { ByoHost, hostLogName } from "@capstan/host-agent";
import { type CommandInput, UserError } from "../command.ts";
import { withTarget } from "../with-cluster.ts";

const FOLLOW_MS = 1_000;

export function runHostLogs(input: CommandInput): Promise<number> {
  return withTarget(input, async ({ client }) => {
    const [name = ""] = input.arguments;
    const namespace = String(input.options["namespace"] ?? "default");
    if ((await client.get(ByoHost, { namespace, name })) === undefined)
      throw new UserError(`host ${namespace}/${name} not found`, { hint: "list all with: capstan host list" });
    let shown = "";
    for (;;) {
      const map = await client.get(ConfigMap, { namespace, name: hostLogName(name) });
      const text = (map?.["data"] as Record<string, string> | undefined)?.["log"] ?? "";
      input.io.out(text.startsWith(shown) ? text.slice(shown.length) : text);
      shown = text;
      if (input.options["follow"] !== true) break;
      await sleep(systemClock, FOLLOW_MS);
    }
    if (shown === "") input.io.err("Nothing was run on this host yet.\n");
    return 0;
  });
}
