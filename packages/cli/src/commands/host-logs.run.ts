import { sleep, systemClock } from "@capstan/apimachinery";
import { ConfigMap } from "@capstan/capi";
import { ByoHost, hostLogName } from "@capstan/host-agent";
import { type CommandInput, UserError } from "../command.ts";
import { withTarget } from "../context/with-cluster.ts";

const FOLLOW_MS = 1_000;
/** The length of a log's tail that is assumed to occur only once in it. */
const ENOUGH = 4096;

/** Runs `capstan host logs`: prints the log that the host's agent publishes in a ConfigMap, and follows it with --follow. */
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
      input.io.out(newPart(shown, text));
      shown = text;
      if (input.options["follow"] !== true) break;
      await sleep(systemClock, FOLLOW_MS);
    }
    if (shown === "") input.io.err("Nothing has run on this host yet.\n");
    return 0;
  });
}

/** What was appended since. A long log loses its beginning, so this searches for the text that was shown last. */
function newPart(shown: string, text: string): string {
  if (text.startsWith(shown)) return text.slice(shown.length);
  const last = shown.slice(-ENOUGH);
  const at = text.lastIndexOf(last);
  return at < 0 ? text : text.slice(at + last.length);
}
