import { formatTime } from "@capstan/apimachinery";
import { Guest, type GuestProgram, type JoinPlan, joinCluster, joinPlan, nodeOf } from "@capstan/workloads";
import type { HostIdentity, ProvisionRequest } from "../provisioner.ts";
import { addressOf } from "./inventory.ts";
import type { RunningSystem } from "./machine.ts";
import type { MemoryBmcOptions } from "./memory-bmcs.ts";

/** Boots a simulated machine from its config drive: it joins the cluster of its user data, as a real machine does. */
export function bootFromConfigDrive(
  host: HostIdentity,
  request: ProvisionRequest,
  options: MemoryBmcOptions,
  how?: "resumed",
): RunningSystem {
  const guest = new Guest(programOf(host, request, options, how), {
    clock: options.clock,
    log: options.log,
    changed: () => undefined,
  });
  guest.reachable = true;
  return {
    powered: (on) => {
      guest.reachable = on;
    },
    stop: () => guest.stop(),
  };
}

function programOf(
  host: HostIdentity,
  request: ProvisionRequest,
  options: MemoryBmcOptions,
  how: "resumed" | undefined,
): GuestProgram {
  const { metaData, userData } = request.configDrive;
  let plan: JoinPlan | undefined;
  const read = async (): Promise<JoinPlan> => {
    const hostname = metaData["local-hostname"];
    const bytes = Buffer.from(userData ?? "");
    const format = userData?.trimStart().startsWith("{") === true ? "ignition" : "cloud-config";
    plan ??= await joinPlan(
      { format, bytes },
      typeof hostname === "string" ? hostname : host.name,
      options.clock,
      withUnderscores(metaData),
    );
    return plan;
  };
  let joined = false;
  const resumed = how === undefined ? undefined : options.resumed;
  return {
    join: async (signal) => {
      const kubelet = resumed?.(host);
      joined = (await kubelet?.knows((await read()).nodeName)) === true;
      // Its token was for the first time only; one that was still on its way joins with it.
      return joined && kubelet !== undefined ? kubelet : await joinCluster(await read(), options, signal);
    },
    register: async (kubelet) => {
      const { nodeName, taints, kubeletArgs } = await read();
      const node = nodeOf({
        name: nodeName,
        providerID: kubeletArgs["provider-id"] ?? "",
        labels: labelsOf(kubeletArgs["node-labels"]),
        // An image whose name says no version holds what the Machine needs.
        version: /v\d+\.\d+\.\d+/.exec(request.image?.url ?? "")?.[0] ?? options.kubeletOf?.(host) ?? "",
        addresses: [
          { type: "InternalIP", address: addressOf(host, options.seed) },
          { type: "Hostname", address: nodeName },
        ],
        capacity: { cpu: "16", memory: "64Gi", pods: "110" },
        failureDomain: undefined,
        taints,
        since: formatTime(options.clock.now()),
      });
      await (joined ? kubelet.resume(node) : kubelet.register(node));
    },
    post: async (kubelet, alive) => kubelet.post((await read()).nodeName, alive),
  };
}

/** cloud-init shows keys with a dash under a second name that templates can use. */
function withUnderscores(metaData: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(metaData).flatMap(([key, value]) => [
      [key, value],
      [key.replaceAll("-", "_"), value],
    ]),
  );
}

function labelsOf(text: string | undefined): Record<string, string> {
  const pairs = (text ?? "").split(",").filter((pair) => pair.includes("="));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}
