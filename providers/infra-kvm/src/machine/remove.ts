import { gone, type Outcome, wait } from "@capstan/capi";
import { keyOf } from "../names.ts";
import type { Removal } from "../placement/placement.ts";
import { defaultsOf } from "./defaults.ts";

/** The end of a guest is announced; this is for an announcement that a restart has lost. */
const SHUTDOWN_CHECK_MS = 10_000;

/** Shuts the guest down, and deletes the virtual machine with its disks once it is off. */
export async function removeMachine(scope: Removal): Promise<Outcome> {
  const { object, backend } = scope;
  const known = object.status?.placement;
  // Nothing was made before it was written where.
  if (known !== "Process" && known !== "Simulated") return gone();
  const placement = backend.placement(known);
  const phase = await placement.powerOff(keyOf(object), defaultsOf(object.spec ?? {}).graceMs);
  if (phase === "stopping" || phase === "running" || phase === "starting")
    return {
      ...wait("ShuttingDown", "Waiting for the guest to shut down", SHUTDOWN_CHECK_MS),
      status: { machineState: "shutting-down" },
    };
  await placement.destroy(scope);
  return gone();
}
