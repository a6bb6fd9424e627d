import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import { writeFileAtomicSync } from "@capstan/os";
import { runCommand } from "../execute/run-command.ts";
import { hasSystemd } from "./programs.ts";

const NAME = "capstan-host-agent";
const UNIT_FILE = `/etc/systemd/system/${NAME}.service`;

/** Returns the systemd unit of the agent. Stopping it leaves commands running, so that a join continues and the next agent takes over. */
export function unitText(command: readonly string[]): string {
  return `[Unit]
Description=Capstan host agent
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=${command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ")}
Restart=always
RestartSec=5
KillMode=process

[Install]
WantedBy=multi-user.target
`;
}

/** Returns the command that started this program (executable, and script when run by Node.js), without the agent's own arguments. */
export function ownCommand(argv: readonly string[], execPath: string): string[] {
  const [, script = ""] = argv;
  return /\.[cm]?js$/.test(script) ? [execPath, resolve(script)] : [execPath];
}

/** Installs this program as a systemd service and starts it. Errors say what to do. */
export async function installService(stateDir: string, clock: Clock): Promise<void> {
  if (!hasSystemd())
    throw new Error(
      "there is no systemd on this host: start the agent without --service, with the service manager of this host",
    );
  const command = [...ownCommand(process.argv, process.execPath), "--state", resolve(stateDir)];
  const isNew = !existsSync(UNIT_FILE);
  writeFileAtomicSync(UNIT_FILE, unitText(command), { mode: 0o644 });
  const run = async (...args: string[]): Promise<void> => {
    const { exitCode, output } = await runCommand(["systemctl", ...args], { clock, timeoutMs: 60_000 });
    if (exitCode !== 0) throw new Error(`systemctl ${args.join(" ")} exited with code ${exitCode}: ${output.trim()}`);
  };
  await run("daemon-reload");
  await run("enable", NAME);
  await run(isNew ? "start" : "restart", NAME);
}
