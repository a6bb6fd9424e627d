import { join } from "node:path";
import type { ProviderDeps } from "@capstan/capi";
import type { Binaries } from "@capstan/kubernetes-install";
import { type OwnerLimits, PortAllocator, ProcessWorkloads, UserIds } from "@capstan/workloads";
import { keptAddress } from "./listening.ts";
import { ProcessPlacement } from "./process.ts";

/** Settings of control planes that run as processes of this machine. */
export interface ProcessOptions {
  /** Finds the binaries of a Kubernetes version. */
  readonly binaries: Binaries;
  /** Hosts control planes of several namespaces as processes even if they cannot be isolated from each other. */
  readonly trustTenants?: boolean | undefined;
  /** Resource limits for all processes of one hosted control plane together. */
  readonly controlPlaneLimits?: Partial<OwnerLimits> | undefined;
}

/** Creates the placement for processes of this machine, isolated from each other as far as the machine supports it. */
export async function processPlacement(
  options: ProcessOptions & Pick<ProviderDeps, "clock" | "random" | "dataDir" | "log" | "gate" | "nodeAddress">,
): Promise<{ placement: ProcessPlacement; workloads: ProcessWorkloads }> {
  const { clock, random, dataDir, log, gate } = options;
  const root = join(dataDir, "clusters");
  const limits = options.controlPlaneLimits;
  const workloads = new ProcessWorkloads({
    root,
    clock,
    hidden: [dataDir],
    limits,
  });
  const ports = new PortAllocator(root);
  for (const { owner, name } of await workloads.adoptAll()) {
    if (!name.startsWith("kube-apiserver")) continue;
    // A control plane that kept running is reachable immediately, before it is reconciled.
    const kept = await keptAddress(root, owner);
    if (kept !== undefined) gate.serves(owner, kept);
  }
  const isRoot = process.getuid?.() === 0;
  const { viewProblem, limitProblems } = isRoot
    ? await workloads.isolationReport()
    : { viewProblem: "the manager does not run as root", limitProblems: [] };
  for (const problem of limitProblems)
    log.warn("hosted control planes run without resource limits: one may starve the others", { problem });
  if (isRoot && viewProblem !== undefined)
    log.warn("hosted control planes cannot be isolated from each other", { problem: viewProblem });
  const placement = new ProcessPlacement({
    root,
    workloads,
    ports,
    // Only root can isolate control planes from each other by user ids.
    ...(isRoot ? { userIds: new UserIds(root) } : {}),
    ...(viewProblem === undefined || options.trustTenants === true ? {} : { oneTenant: viewProblem }),
    binaries: options.binaries,
    defaultAddress: options.nodeAddress,
    gate,
    clock,
    random,
  });
  return { placement, workloads };
}
