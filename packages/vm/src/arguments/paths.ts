import { join } from "node:path";

/** The device of the guest agent, as events of QEMU name it. */
export const AGENT_PORT_ID = "agent";

/** The files of a machine that QEMU creates in its folder. */
export interface VmPaths {
  qmp: string;
  guestAgent: string;
  console: string;
  consoleLog: string;
}

/** Where the sockets and the console of a machine are. */
export function vmPaths(directory: string): VmPaths {
  return {
    qmp: join(directory, "qmp.sock"),
    guestAgent: join(directory, "agent.sock"),
    console: join(directory, "console.sock"),
    consoleLog: join(directory, "console.log"),
  };
}
