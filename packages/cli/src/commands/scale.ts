import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, NAMESPACE_OPTION } from "../options.ts";
import { WAIT_OPTIONS } from "./create-cluster.ts";

/** Defines `capstan scale`, which sets the replicas of workers, a WorkerPool or a control plane. */
export const scale: CommandDefinition = {
  name: "scale",
  summary: "Set the replica count of a group of workers, a pool or a control plane",
  details:
    "TYPE is anything with replicas: machinedeployment (md), workerpool (wp), hostedcontrolplane (hcp), kubeadmcontrolplane (kcp), machineset, machinepool. `cluster` means the workers of a cluster that has one group of them.",
  arguments: [
    { name: "type", summary: "TYPE, or TYPE/NAME", completes: "types" },
    { name: "name", summary: "Name of the object", required: false, completes: "names" },
  ],
  options: [
    { flags: "--replicas <count>", summary: "Number of replicas" },
    ...WAIT_OPTIONS,
    NAMESPACE_OPTION,
    ...API_OPTIONS,
  ],
  examples: [
    { command: "capstan scale workerpool general --replicas 6", does: "wherever there is capacity" },
    { command: "capstan scale kcp/demo --replicas 3", does: "a control plane on three machines" },
    { command: "capstan scale hcp/demo --replicas 0 --no-wait", does: "hibernate a control plane; its data stays" },
  ],
  run: async (input) => (await import("./scale.run.ts")).runScale(input),
};
