import { readInstance, stopInstance } from "@capstan/manager/instance";
import type { CommandInput } from "../command.ts";
import { dataDirOf, dataFlag } from "../options.ts";

/** Runs `capstan status`: prints the addresses of the instance on a data directory; exits with code 1 when none is running. */
export async function runStatus(input: CommandInput): Promise<number> {
  const { io } = input;
  const dataDir = dataDirOf(input);
  const instance = await readInstance(dataDir);
  if (instance === undefined) {
    io.out(`capstan is not running on ${dataDir}\n`);
    io.err(`Start it with: capstan up${dataFlag(input)}\n`);
    return 1;
  }
  io.out(`capstan ${instance.version} runs since ${instance.startedAt} (pid ${instance.pid})\n`);
  io.out(`Server:     ${instance.server}\nKubeconfig: ${instance.kubeconfig}\nData:       ${dataDir}\n`);
  if (instance.dashboard !== undefined) io.out(`Dashboard:  ${instance.dashboard}\n`);
  return 0;
}

/** Runs `capstan down`: sends SIGTERM to the running instance and waits until it has stopped. */
export async function runDown(input: CommandInput): Promise<number> {
  const { io } = input;
  const dataDir = dataDirOf(input);
  const instance = await readInstance(dataDir);
  if (instance === undefined) {
    io.err(`capstan is not running on ${dataDir}: nothing to stop\n`);
    return 0;
  }
  stopInstance(instance);
  io.err(`Stopping capstan (pid ${instance.pid}) …\n`);
  while ((await readInstance(dataDir)) !== undefined) await new Promise((resolve) => setTimeout(resolve, 100));
  io.err(`Stopped. Start it again with: capstan up${dataFlag(input)}\n`);
  return 0;
}
