import type { Clock } from "@capstan/apimachinery";
import { type CloudConfig, parseCloudConfig } from "@capstan/userdata";
import { redact, tail } from "./redact.ts";
import { type CommandResult, runCommand } from "./run-command.ts";
import { writeCloudFile } from "./write-file.ts";

/** One step of running bootstrap data, as people see it. */
export interface StepReport {
  name: string;
  exitCode?: number;
  seconds?: number;
  output?: string;
}

export interface BootstrapReport {
  ok: boolean;
  /** What went wrong and what to do, when something did. */
  message: string;
  steps: StepReport[];
}

export interface BootstrapOptions {
  clock: Clock;
  /** Facts that `{{ ds.meta_data.* }}` and `{{ .DefaultNetworkInterfaceName }}` stand for. */
  metadata: Record<string, string>;
  defaultInterface: string;
  /** Called after each step, so that progress can be seen. */
  onStep?: (steps: readonly StepReport[]) => void;
  /** Everything that was printed, secrets left out, for the log. */
  log?: (text: string) => void;
  commandTimeoutMs?: number;
  signal?: AbortSignal;
  /** Files go below this folder; `/` outside of tests. */
  root?: string;
  run?: typeof runCommand;
}

const COMMAND_TIMEOUT_MS = 20 * 60_000;

/** Runs cloud-config as far as a host can be expected to: files, boot commands, commands. What it cannot do is refused by name. */
export async function runBootstrap(data: string, options: BootstrapOptions): Promise<BootstrapReport> {
  const steps: StepReport[] = [];
  const fail = (message: string): BootstrapReport => ({ ok: false, message: redact(message), steps });
  let config: CloudConfig;
  try {
    config = parseCloudConfig(
      data.replaceAll(/\{\{\s*\.DefaultNetworkInterfaceName\s*\}\}/g, options.defaultInterface),
      { metadata: options.metadata },
    );
  } catch (error) {
    return fail(`the bootstrap data cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const unsupported = unsupportedParts(config);
  if (unsupported.length > 0)
    return fail(
      `the bootstrap data asks for ${unsupported.join(", ")}, which this agent does not do: remove it from the KubeadmConfig, or prepare the host beforehand`,
    );
  const note = (step: StepReport): void => {
    steps.push(step);
    options.onStep?.(steps);
  };
  for (const file of config.writeFiles) {
    try {
      await writeCloudFile(file, options.root ?? "");
      note({ name: `write ${file.path}` });
    } catch (error) {
      note({ name: `write ${file.path}`, exitCode: 1, output: String(error) });
      return fail(`writing ${file.path} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const run = options.run ?? runCommand;
  for (const command of [...config.bootCommands, ...config.runCommands]) {
    const name = redact(typeof command === "string" ? command : command.join(" ")).slice(0, 200);
    const started = options.clock.monotonic();
    const timeoutMs = options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
    const result: CommandResult = await run(command, {
      clock: options.clock,
      timeoutMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    options.log?.(`$ ${name}\n${redact(result.output)}`);
    const seconds = Math.round((options.clock.monotonic() - started) / 1000);
    note({ name, exitCode: result.exitCode, seconds, output: tail(result.output) });
    if (result.timedOut) return fail(`"${name}" did not end within ${timeoutMs / 60_000} minutes`);
    if (result.exitCode !== 0) return fail(`"${name}" ended with code ${result.exitCode}: ${lastLine(result.output)}`);
  }
  return { ok: true, message: "", steps };
}

/** Parts that are neither done nor harmless to leave out. Users, time servers, disks and mounts are the host owner's on an own host. */
function unsupportedParts(config: CloudConfig): string[] {
  return [
    ...(Object.keys(config.diskSetup).length > 0 ? ["disk_setup"] : []),
    ...(config.filesystems.length > 0 ? ["fs_setup"] : []),
    ...(config.mounts.length > 0 ? ["mounts"] : []),
    ...(config.users.length > 0 ? ["users"] : []),
    ...(config.ntp !== undefined && config.ntp.servers.length > 0 ? ["ntp"] : []),
    ...Object.keys(config.other),
  ];
}

function lastLine(output: string): string {
  return redact(output).trim().split("\n").at(-1)?.slice(0, 500) ?? "";
}
