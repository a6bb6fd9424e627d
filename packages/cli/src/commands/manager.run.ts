import { systemClock, systemRandom } from "@capstan/apimachinery";
import {
  actingOverHttp,
  type Dashboard,
  isLoopback,
  KINDS,
  type KindServing,
  type Manager,
  startDashboard,
  startManager,
} from "@capstan/manager";
import {
  type ClientConfig,
  createLogger,
  httpTransport,
  inClusterConfig,
  type Logger,
  loadKubeconfig,
} from "@capstan/runtime";
import { type CommandInput, UserError } from "../command.ts";
import { dashboardPageDir } from "../dashboard-page.ts";
import { kubernetesCacheDirs } from "../data-dir.ts";
import { dataDirOf, metalHostsOf } from "../options.ts";
import { VERSION } from "../version.ts";
import { parseListen, untilSignal } from "./up.run.ts";

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

export async function runManager(input: CommandInput): Promise<number> {
  const { options, io } = input;
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
  const transport = httpTransport(config, { clock: systemClock });
  const running = await startManager({
    transport,
    runsPods: true,
    kinds,
    dataDir: dataDirOf(input),
    kubernetesDirs: kubernetesCacheDirs(io.env),
    bareMetalHosts: metalHostsOf(input),
    ...(typeof nodeAddress === "string" ? { nodeAddress } : {}),
    clock: systemClock,
    random: systemRandom,
    log,
  });
  const dashboard = await dashboardOf(input, config, running, log);
  const stop = untilSignal();
  io.out(`Controllers run on ${config.server}\n`);
  if (dashboard !== undefined) io.out(`Dashboard:  ${dashboard.url}\n`);
  const signal = await stop;
  io.err(`\n${signal}: stopping the controllers\n`);
  await dashboard?.close();
  await running.stop();
  await transport.close();
  return 0;
}

/** The dashboard beside the controllers, if it is asked for: on loopback, where `kubectl port-forward` ends. */
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
    throw new UserError("the dashboard's page is not here", { hint: "build it with: npm run build" });
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
    kinds: KINDS,
    version: VERSION,
    clock: systemClock,
    random: systemRandom,
    log,
  });
}
