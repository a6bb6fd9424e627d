import { hostname } from "node:os";
import { randomUuid, systemClock, systemRandom } from "@capstan/apimachinery";
import { actingOverHttp, type Dashboard, isLoopback, startDashboard } from "@capstan/dashboard-server";
import {
  type KindServing,
  MANAGER_NAMESPACE,
  type Manager,
  PROVIDERS,
  runElected,
  type WantedAddress,
} from "@capstan/manager";
import {
  type ClientConfig,
  createLogger,
  httpTransport,
  inClusterConfig,
  type Logger,
  loadKubeconfig,
} from "@capstan/runtime";
import { type CommandInput, UserError, usageError } from "../command.ts";
import { kubernetesCacheDirs } from "../context/data-dir.ts";
import { dashboardPageDir } from "../dashboard-page.ts";
import { durationMs } from "../duration.ts";
import { allowAddresses } from "../manager-options/allow-address.ts";
import { nodeLabelSync } from "../manager-options/node-label-sync.ts";
import { processOptionsOf } from "../manager-options/process-options.ts";
import { dataDirOf, metalHostsOf, textOption } from "../options.ts";
import { VERSION } from "../version.ts";
import { parseListen } from "./up.run.ts";

type Options = Readonly<Record<string, unknown>>;

/** Reads --webhook-listen and --webhook-service: how a real Kubernetes reaches our conversion and admission webhooks, if at all. */
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

/** Runs `capstan manager`: takes part in leader election and runs the controllers until it is stopped or loses leadership. */
export async function runManager(input: CommandInput): Promise<number> {
  const { options, io } = input;
  const { kubeconfig, context, nodeAddress } = options;
  const kinds = kindServing(options);
  const health = endpointAddress(options["healthAddr"], "--health-addr", 9440);
  const metricsAddress = endpointAddress(options["metricsBindAddress"], "--metrics-bind-address", 8080);
  const times = electionTimes(options);
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
  const transport = httpTransport(config, { clock: systemClock });
  // Half the deadline, so that there is time for another try, as in controller-runtime.
  const requestTotalMs = times === undefined ? undefined : times.renewDeadlineMs / 2;
  const electing = httpTransport({ ...config, connections: 2, requestTotalMs }, { clock: systemClock });
  const namespace = textOption(input, "leaderElectResourceNamespace") ?? inside?.namespace ?? MANAGER_NAMESPACE;
  const identity = `${hostname()}_${randomUuid(systemRandom)}`;
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.once(name, () => {
      io.err(`\n${name}: stopping the controllers\n`);
      stopping.abort(new Error(name));
    });
  const ended = await runElected(
    {
      transport,
      apiHost: new URL(config.server).host,
      runsPods: true,
      kinds,
      dataDir: dataDirOf(input),
      kubernetesDirs: kubernetesCacheDirs(io.env),
      bareMetalHosts: metalHostsOf(input),
      ...processOptionsOf(input),
      nodeLabelSync: nodeLabelSync(input),
      allowAddresses: allowAddresses(input),
      ...(typeof nodeAddress === "string" ? { nodeAddress } : {}),
      ...(times === undefined ? {} : { election: { ...times, namespace, identity, transport: electing } }),
      ...(health === undefined ? {} : { health }),
      ...(metricsAddress === undefined ? {} : { metricsAddress }),
      version: VERSION,
      clock: systemClock,
      random: systemRandom,
      log,
      onServing: ({ healthUrl, metricsUrl }) => {
        if (metricsUrl !== undefined) io.out(`Metrics:    ${metricsUrl}\n`);
        if (healthUrl !== undefined) io.out(`Health:     ${healthUrl}/healthz\n`);
        if (times !== undefined) io.out(`Waiting for the Lease, as ${identity}\n`);
      },
      onLead: async (manager) => {
        const dashboard = await dashboardOf(input, config, manager, log);
        io.out(`Controllers are running on ${config.server}\n`);
        if (dashboard !== undefined) io.out(`Dashboard:  ${dashboard.url}\n`);
        return async () => await dashboard?.close();
      },
    },
    stopping.signal,
  );
  await Promise.all([transport.close(), electing.close()]);
  if (ended === "stopped") return 0;
  // A controller that does not stop must not write alongside the next leader.
  setTimeout(() => process.exit(1), 1000).unref();
  throw new UserError("leadership was lost: another manager may run the controllers now", {
    hint: `start this one again to wait for the Lease; see its holder: kubectl -n ${namespace} get lease capstan-manager`,
  });
}

/** Reads the address of the metrics or health endpoint: `:8080` is every address, `0` disables it, and loopback is the default. */
export function endpointAddress(asked: unknown, option: string, port: number): WantedAddress | undefined {
  if (typeof asked !== "string") return { host: "127.0.0.1", port, anyPort: true };
  if (asked === "0" || asked === "") return undefined;
  const listen = parseListen(asked, option);
  return asked.startsWith(":") ? { port: listen.port } : listen;
}

/** Reads the leader election flags; undefined when leader election is disabled. */
export function electionTimes(
  options: Options,
): { leaseDurationMs: number; renewDeadlineMs: number; retryPeriodMs: number } | undefined {
  const wanted = options["leaderElect"] ?? true;
  if (wanted === "false") return undefined;
  if (wanted !== true && wanted !== "true") throw usageError(`--leader-elect ${String(wanted)} is not true or false`);
  const time = (flag: string, value: unknown, standard: string): number =>
    durationMs(flag, typeof value === "string" ? value : standard);
  const leaseDurationMs = time("--leader-elect-lease-duration", options["leaderElectLeaseDuration"], "15s");
  const renewDeadlineMs = time("--leader-elect-renew-deadline", options["leaderElectRenewDeadline"], "10s");
  const retryPeriodMs = time("--leader-elect-retry-period", options["leaderElectRetryPeriod"], "2s");
  if (leaseDurationMs < 1000 || leaseDurationMs <= renewDeadlineMs || renewDeadlineMs <= retryPeriodMs * 1.2)
    throw usageError(
      "leader election needs a lease duration of at least 1s, longer than the renew deadline, and that longer than 1.2 retry periods",
      "e.g. the defaults 15s, 10s and 2s",
    );
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

/** Serves the dashboard next to the controllers if requested: on loopback, where `kubectl port-forward` connects. */
async function dashboardOf(
  input: CommandInput,
  config: ClientConfig,
  { cache }: Manager,
  log: Logger,
): Promise<Dashboard | undefined> {
  const asked = input.options["dashboard"];
  const pageDir = dashboardPageDir();
  if (typeof asked !== "string") return undefined;
  if (pageDir === undefined)
    throw new UserError("the dashboard is not built", { hint: "build it with: npm run build" });
  const listen = parseListen(asked, "--dashboard");
  if (!isLoopback(listen.host))
    throw new UserError(`--dashboard ${asked} is not a loopback address`, {
      hint: "listen on 127.0.0.1 and reach it with kubectl port-forward",
    });
  return await startDashboard({
    pageDir,
    listen,
    dataDir: dataDirOf(input),
    acting: actingOverHttp(config, systemClock),
    cache,
    providers: PROVIDERS,
    defaultPlacement: "Pods",
    kubernetesDirs: kubernetesCacheDirs(input.io.env),
    version: VERSION,
    clock: systemClock,
    random: systemRandom,
    log,
  });
}
