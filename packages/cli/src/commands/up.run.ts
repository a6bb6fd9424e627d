import { systemClock, systemRandom } from "@capstan/apimachinery";
import { AlreadyRunningError, startStandalone, withProviders } from "@capstan/manager";
import { createLogger } from "@capstan/runtime";
import { type CommandInput, UserError } from "../command.ts";
import { kubernetesCacheDirs } from "../context/data-dir.ts";
import { dashboardPageDir } from "../dashboard-page.ts";
import { commandName, runDemo } from "../demo.ts";
import { allowAddresses } from "../manager-options/allow-address.ts";
import { nodeLabelSync } from "../manager-options/node-label-sync.ts";
import { processOptionsOf } from "../manager-options/process-options.ts";
import { dataDirOf, dataFlag, metalHostsOf, providerFilesOf } from "../options.ts";
import { VERSION } from "../version.ts";
import { DEFAULT_LISTEN } from "./up.ts";
import { limitsOf } from "./up-limits.ts";
import { oidcOf } from "./up-oidc.run.ts";

/** The dashboard's address: the requested one, else the port after the API's if that is free. */
function dashboardOption(
  asked: unknown,
  api: { port: number },
): { pageDir: string; listen: { host: string; port: number }; anyPort: boolean } | undefined {
  const pageDir = dashboardPageDir();
  if (asked === "off" || pageDir === undefined) return undefined;
  if (typeof asked === "string") return { pageDir, listen: parseListen(asked, "--dashboard"), anyPort: false };
  return { pageDir, listen: { host: "127.0.0.1", port: api.port === 0 ? 0 : api.port + 1 }, anyPort: true };
}

/** Parses `host:port`, `[v6]:port`, `:port` or `port`. */
export function parseListen(text: string, option = "--listen"): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(text) ?? /^()()(\d+)$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || !Number.isInteger(port) || port > 65535)
    throw new UserError(`${option} ${text} is not an address like 127.0.0.1:6446`, { exitCode: 2 });
  const host = match[1] ?? match[2] ?? "";
  return { host: host === "" ? "127.0.0.1" : host, port };
}

/** Runs `capstan up`: starts the standalone management plane and serves until SIGINT or SIGTERM. */
export async function runUp(input: CommandInput): Promise<number> {
  const { options, io } = input;
  const dataDir = dataDirOf(input);
  const log = await createLogger({ level: String(options["logLevel"] ?? "warn") as "warn" });
  const started = systemClock.monotonic();
  const nodeAddress = options["nodeAddress"];
  const listen = parseListen(String(options["listen"] ?? DEFAULT_LISTEN));
  const dashboard = dashboardOption(options["dashboard"], listen);
  const oidc = await oidcOf(input);
  const providers = await withProviders(providerFilesOf(input)).catch((error: unknown) => {
    throw explain(error, dataDir, dataFlag(input));
  });
  const standalone = await startStandalone({
    dataDir,
    listen,
    dashboard,
    ...(typeof nodeAddress === "string" ? { nodeAddress } : {}),
    ...(typeof options["encryptionKeyFile"] === "string" ? { encryptionKeyFile: options["encryptionKeyFile"] } : {}),
    ...(typeof options["auditLog"] === "string" ? { auditLog: options["auditLog"] } : {}),
    oidc,
    limits: limitsOf(input),
    kubernetesDirs: kubernetesCacheDirs(io.env),
    bareMetalHosts: metalHostsOf(input),
    providers,
    providerFiles: providerFilesOf(input),
    ...processOptionsOf(input),
    nodeLabelSync: nodeLabelSync(input),
    allowAddresses: allowAddresses(input),
    version: VERSION,
    clock: systemClock,
    random: systemRandom,
    log,
  }).catch((error: unknown) => {
    throw explain(error, dataDir, dataFlag(input));
  });
  // Until here nothing needs to be stopped, and the default signal handling suffices.
  const stop = untilSignal();
  const seconds = ((systemClock.monotonic() - started) / 1000).toFixed(1);
  io.out(`Capstan is ready after ${seconds} s: ${standalone.server}\n`);
  if (process.getuid?.() !== 0)
    io.err(
      "Not running as root: hosted control planes share one user and are not isolated from each other on this machine. Control planes of a second namespace are refused unless --trust-tenants is given.\n",
    );
  io.out(`Data:       ${dataDir}\nKubeconfig: ${standalone.kubeconfig}\n`);
  if (standalone.dashboard !== undefined)
    io.out(
      `Dashboard:  ${standalone.dashboard.signInLink()}\n            (signs in once; a new link: ${commandName(io)} dashboard${dataFlag(input)})\n`,
    );
  io.out("\nNext:\n");
  io.out(`  export KUBECONFIG=${standalone.kubeconfig}\n`);
  io.out(`  ${commandName(io)} create cluster first --workers provider=memory,replicas=2\n`);
  io.out("  kubectl get clusters -A\n");
  if (options["demo"] === true) await runDemo(standalone.kubeconfig, io, dataFlag(input));
  const signal = await stop;
  io.err(`\n${signal}: stopping the controllers and the hosted control planes; their data stays in ${dataDir}\n`);
  await standalone.close(true);
  return 0;
}

function explain(error: unknown, dataDir: string, flag: string): unknown {
  if (error instanceof AlreadyRunningError)
    return new UserError(error.message, {
      hint: `use it (capstan status${flag}), stop it (capstan down${flag}), or choose another directory with --data`,
    });
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EADDRINUSE")
    return new UserError("the API's address is in use by another program", {
      hint: "choose another one with --listen",
    });
  if (code === "EACCES")
    return new UserError(`no permission to write to ${dataDir}`, { hint: "choose another directory with --data" });
  const cure = (error as { cure?: string }).cure;
  if (cure !== undefined && error instanceof Error) return new UserError(error.message, { hint: cure });
  return error;
}

/** Keeps the process alive until it is asked to stop. */
function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    // Real handlers keep the process alive until one of them fires.
    const keepAlive = setInterval(() => undefined, 1 << 30);
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.once(signal, () => {
        clearInterval(keepAlive);
        resolve(signal);
      });
  });
}
