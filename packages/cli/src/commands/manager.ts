import { systemClock, systemRandom } from "@capstan/apimachinery";
import { type KindServing, startManager } from "@capstan/manager";
import { createLogger, httpTransport, inClusterConfig, loadKubeconfig } from "@capstan/runtime";
import { type CommandDefinition, UserError } from "../command.ts";
import { defaultDataDir, kubernetesCacheDirs } from "../data-dir.ts";
import { parseListen, untilSignal } from "./up.ts";

type Options = Readonly<Record<string, unknown>>;

/** How a management cluster that is a real Kubernetes gets our kinds converted and checked. */
export function kindServing(options: Options): KindServing {
  const listen = options["webhookListen"];
  if (typeof listen !== "string") return "stored-version-only";
  const service = options["webhookService"];
  if (service === undefined) return { listen: parseListen(listen) };
  const match = /^([a-z0-9-]+)\/([a-z0-9-]+)$/.exec(String(service));
  if (match === null)
    throw new UserError(`--webhook-service ${String(service)} is not NAMESPACE/NAME`, { exitCode: 2 });
  const [, namespace = "", name = ""] = match;
  return { listen: parseListen(listen), target: { type: "service", namespace, name, port: 443 } };
}

export const manager: CommandDefinition = {
  name: "manager",
  summary: "Run all controllers on a management cluster that is a Kubernetes of its own",
  details:
    "Inside a cluster it uses its service account, elsewhere --kubeconfig or KUBECONFIG. Without --webhook-listen only the stored versions of kinds are served and their rules are not checked on writing.",
  options: [
    { flags: "--kubeconfig <file>", summary: "Kubeconfig of the management cluster" },
    { flags: "--context <name>", summary: "Context of the kubeconfig" },
    { flags: "--data <dir>", summary: "Data directory (default: $XDG_DATA_HOME/capstan)" },
    { flags: "--node-address <address>", summary: "Address that nodes reach hosted control planes at" },
    { flags: "--webhook-listen <address>", summary: "Serve conversion and admission webhooks at this address" },
    {
      flags: "--webhook-service <namespace/name>",
      summary: "Service that leads to them (default: the address itself)",
    },
    {
      flags: "--log-level <level>",
      summary: "What is logged",
      default: "warn",
      choices: ["debug", "info", "warn", "error", "silent"],
    },
  ],
  examples: [
    {
      command: "capstan manager --kubeconfig mgmt.yaml --webhook-listen 192.168.10.5:9443",
      does: "run beside the cluster",
    },
  ],
  run: async ({ options, io }) => {
    const { kubeconfig, context, nodeAddress } = options;
    const kinds = kindServing(options);
    const inside =
      kubeconfig === undefined ? await inClusterConfig({ clock: systemClock, environment: io.env }) : undefined;
    const config =
      inside ??
      (await loadKubeconfig({
        clock: systemClock,
        environment: io.env,
        ...(typeof kubeconfig === "string" ? { path: kubeconfig } : {}),
        ...(typeof context === "string" ? { context } : {}),
      }));
    const log = await createLogger({ level: String(options["logLevel"] ?? "warn") as "warn" });
    const stop = untilSignal();
    const transport = httpTransport(config, { clock: systemClock });
    const running = await startManager({
      transport,
      kinds,
      dataDir: String(options["data"] ?? defaultDataDir(io.env)),
      kubernetesDirs: kubernetesCacheDirs(io.env),
      ...(typeof nodeAddress === "string" ? { nodeAddress } : {}),
      clock: systemClock,
      random: systemRandom,
      log,
    });
    io.out(`Controllers run on ${config.server}\n`);
    const signal = await stop;
    io.err(`\n${signal}: stopping the controllers\n`);
    await running.stop();
    await transport.close();
    return 0;
  },
};
