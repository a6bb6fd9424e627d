import type { Clock } from "@capstan/apimachinery";
import {
  type CloudConfig,
  type CloudConfigFile,
  missingVariable,
  parseCloudConfig,
  unsupportedInUsers,
} from "@capstan/userdata";
import type { Footprint } from "./footprint.ts";
import { mountTask, unsupportedInMounts } from "./mounts.ts";
import { ntpTask } from "./ntp.ts";
import { redact } from "./redact.ts";
import { type RunCommand, runCommand } from "./run-command.ts";
import { type StepReport, Steps } from "./steps.ts";
import { userTasks } from "./users.ts";
import { writeCloudFile } from "./write-file.ts";

/** The outcome of running bootstrap data on a host. */
export interface BootstrapReport {
  ok: boolean;
  /** What went wrong and what to do, when something did. */
  message: string;
  steps: StepReport[];
}

/** What running bootstrap data needs. */
export interface BootstrapOptions {
  clock: Clock;
  /** Facts that `{{ ds.meta_data.* }}` and `{{ .DefaultNetworkInterfaceName }}` stand for. */
  metadata: Record<string, string>;
  defaultInterface: string;
  /** Records what is changed on the host. */
  footprint: Footprint;
  /** Records the steps as they happen. */
  steps?: Steps;
  commandTimeoutMs?: number;
  signal?: AbortSignal;
  /** Root folder of written files; `/` outside of tests. */
  root?: string;
  run?: RunCommand;
  onStart?: (pid: number) => void;
  /** Called when kubeadm has made a node of the host. */
  onJoined?: () => void;
  /** Whether that has happened already: only the commands after it are run. */
  joined?: boolean;
}

const COMMAND_TIMEOUT_MS = 20 * 60_000;

/** Runs cloud-config in cloud-init's order. Directives that a bring-your-own host does not support are rejected by name beforehand. */
export async function runBootstrap(data: string, options: BootstrapOptions): Promise<BootstrapReport> {
  const steps = options.steps ?? new Steps(options.clock);
  const fail = (message: string): BootstrapReport => ({ ok: false, message: redact(message), steps: steps.all() });
  const read = readBootstrapData(data, options);
  if (typeof read === "string") return fail(read);
  const root = options.root ?? "";
  const { footprint } = options;
  const runOne = (task: { name: string; command: string | string[]; input?: string }): Promise<string | undefined> =>
    steps.command(task.name, task.command, {
      run: options.run ?? runCommand,
      timeoutMs: options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS,
      input: task.input,
      signal: options.signal,
      onStart: options.onStart,
    });
  const write = (file: CloudConfigFile): Promise<string | undefined> =>
    steps.action(`write ${file.path}`, async () => {
      await footprint.willWrite(file.path);
      await writeCloudFile(file, root);
    });
  const afterKubeadm = read.runCommands.findIndex(isKubeadm) + 1;
  const runCommands = read.runCommands.map((command) => async () => {
    const problem = await runOne({ name: nameOf(command), command });
    if (problem === undefined && isKubeadm(command)) options.onJoined?.();
    return problem;
  });
  const before: (() => Promise<string | undefined>)[] = [
    ...read.bootCommands.map((command) => () => runOne({ name: nameOf(command), command })),
    ...read.writeFiles.filter(({ defer }) => !defer).map((file) => () => write(file)),
    ...read.mounts.map((mount) => async () => await runOne(await mountTask(mount, footprint, root))),
    ...read.users.map((user) => async () => {
      for (const task of await userTasks(user, footprint, root)) {
        const problem = await runOne(task);
        if (problem !== undefined) return problem;
      }
      return undefined;
    }),
    ...(wantsTime(read) ? [async () => await runOne(await ntpTask(read.ntp?.servers ?? [], footprint, root))] : []),
    ...read.writeFiles.filter(({ defer }) => defer).map((file) => () => write(file)),
  ];
  const parts = options.joined === true ? runCommands.slice(afterKubeadm) : [...before, ...runCommands];
  for (const part of parts) {
    if (options.signal?.aborted === true) return fail("interrupted");
    const problem = await part().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (problem !== undefined) return fail(withCure(problem));
  }
  return { ok: true, message: "", steps: steps.all() };
}

/** kubeadm 1.35 and later refuse hosts with cgroup v1, and its message does not say where Cluster API has the setting. */
function withCure(problem: string): string {
  if (!/cgroups? v1 support/i.test(problem)) return problem;
  return `${problem}; the host has cgroup v1: boot it with cgroup v2 (systemd.unified_cgroup_hierarchy=1), or add SystemVerification to joinConfiguration.nodeRegistration.ignorePreflightErrors of the KubeadmConfigTemplate`;
}

/** The cloud-config behind bootstrap data, or why there is none. */
function readBootstrapData(data: string, options: BootstrapOptions): CloudConfig | string {
  if (data.trimStart().startsWith("{"))
    return "the bootstrap data is Ignition, but bring-your-own hosts support cloud-config only: set format: cloud-config in the KubeadmConfig";
  const filled = data.replaceAll(/\{\{\s*\.DefaultNetworkInterfaceName\s*\}\}/g, options.defaultInterface);
  if (filled !== data && options.defaultInterface === "")
    return "the bootstrap data requires {{ .DefaultNetworkInterfaceName }}, but this host has no default route: give it one, or name the interface in the KubeadmConfig";
  try {
    const config = parseCloudConfig(filled, { metadata: options.metadata });
    const missing = missingVariable(config);
    if (missing !== undefined)
      return `the bootstrap data requires {{ ${missing} }}, which this host does not have; it has ${Object.keys(options.metadata).sort().join(", ")} in ds.meta_data: change the KubeadmConfig`;
    const unsupported = unsupportedParts(config);
    return unsupported.length === 0
      ? config
      : `the bootstrap data requires ${unsupported.join(", ")}, which this agent does not support: remove it from the KubeadmConfig, or prepare the host beforehand`;
  } catch (error) {
    return `the bootstrap data cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Keys that are not supported and cannot be ignored, such as disk setup. */
function unsupportedParts(config: CloudConfig): string[] {
  return [
    ...(Object.keys(config.diskSetup).length > 0 ? ["disk_setup"] : []),
    ...(config.filesystems.length > 0 ? ["fs_setup"] : []),
    ...unsupportedInMounts(config.mounts),
    ...unsupportedInUsers(config.users),
    ...Object.keys(config.other),
  ];
}

function wantsTime(config: CloudConfig): boolean {
  return config.ntp?.enabled === true && config.ntp.servers.length > 0;
}

function isKubeadm(command: string | string[]): boolean {
  return /\bkubeadm (init|join)\b/.test(nameOf(command));
}

function nameOf(command: string | string[]): string {
  return typeof command === "string" ? command : command.join(" ");
}
