import { join } from "node:path";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { keptAddress, ProcessPlacement } from "@capstan/controlplane-hosted";
import { PortAllocator, ProcessWorkloads, UserIds } from "@capstan/workloads";
import { binariesIn, kubernetesDir } from "./binaries.ts";
import type { ManagerOptions } from "./manager.ts";

/** Hosted control planes as processes of this machine, isolated from each other as far as the machine allows. */
export async function processPlacement(
  options: ManagerOptions,
  gate: DialGate,
): Promise<{ placement: ProcessPlacement; workloads: ProcessWorkloads }> {
  const { clock, random, dataDir, log } = options;
  const root = join(dataDir, "clusters");
  const limits = options.controlPlaneLimits;
  const workloads = new ProcessWorkloads({
    root,
    clock,
    hidden: [dataDir],
    ...(limits === undefined ? {} : { limits }),
  });
  const ports = new PortAllocator(root);
  for (const { owner, name } of await workloads.adoptAll()) {
    if (!name.startsWith("kube-apiserver")) continue;
    // What kept serving is reached at once, before its control plane is reconciled.
    const kept = await keptAddress(root, owner);
    if (kept !== undefined) gate.serves(owner, kept);
  }
  const isRoot = process.getuid?.() === 0;
  const { viewProblem, limitProblems } = isRoot
    ? await workloads.isolationReport()
    : { viewProblem: "the manager does not run as root", limitProblems: [] };
  for (const problem of limitProblems)
    log.warn("hosted control planes run without a limit: one may use up what others need", { problem });
  if (isRoot && viewProblem !== undefined)
    log.warn("hosted control planes cannot be isolated from each other", { problem: viewProblem });
  const placement = new ProcessPlacement({
    root,
    workloads,
    ports,
    // Only root can keep control planes apart from each other by user ids.
    ...(isRoot ? { userIds: new UserIds(root) } : {}),
    ...(viewProblem === undefined || options.trustTenants === true ? {} : { oneTenant: viewProblem }),
    binaries: binariesIn([kubernetesDir(dataDir), ...(options.kubernetesDirs ?? [])]),
    defaultAddress: options.nodeAddress ?? "127.0.0.1",
    gate,
    clock,
    random,
  });
  return { placement, workloads };
}
