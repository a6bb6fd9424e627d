import { join } from "node:path";
import {
  controlPlaneOfKind,
  NEXT_RELEASE,
  supportPeriod,
  supportWarning,
  supportWindow,
  TESTED_VERSIONS,
} from "@capstan/capi";
import { type CommandInput, INTERRUPTED, UserError, usageError } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { kubernetesCacheDirs } from "../context/data-dir.ts";
import { clusterNames, noSuchCluster, withTarget } from "../context/with-cluster.ts";
import { durationMs } from "../duration.ts";
import { printWaitReason } from "../explain/wait-reason.ts";
import { Cluster, WorkerPool } from "../kinds/kinds.ts";
import { namespaceOf, textOption } from "../options.ts";
import { renderTable } from "../output/table.ts";
import { type Providers, providersOf } from "../providers.ts";
import { followCluster } from "../tree/follow-cluster.ts";
import { type ClusterVersions, readVersions, type Versioned } from "../versions/cluster-versions.ts";
import { canUpgrade, compareVersions, installedVersions } from "../versions/kubernetes-versions.ts";

/** Runs `capstan upgrade plan`: lists the versions of clusters and the installed versions to which each can be upgraded. */
export function runUpgradePlan(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const [name] = input.arguments;
    const everywhere = input.options["allNamespaces"] === true;
    const namespace = namespaceOf(input);
    const clusters =
      name === undefined
        ? (await target.client.list(Cluster, everywhere ? {} : { namespace })).items
        : [await clusterNamed(target, namespace, name)];
    if (clusters.length === 0) {
      input.io.err(everywhere ? "No clusters found\n" : `No clusters found in ${namespace} namespace.\n`);
      return 0;
    }
    const installed = await versionsHere(input, target);
    const providers = await providersOf(input);
    const now = clockOf(input).now();
    const rows: string[][] = [];
    for (const cluster of clusters) {
      const versions = await readVersions(target.client, cluster);
      const plane = versions.controlPlane;
      const workers = [...new Set(versions.workers.map(({ version }) => version))].sort(compareVersions);
      const targets = plane === undefined ? [] : upgradeTargets(plane, installed, providers);
      rows.push([
        ...(everywhere ? [cluster.metadata.namespace ?? ""] : []),
        cluster.metadata.name ?? "",
        plane === undefined ? "-" : plane.settled ? plane.version : `${plane.running || "-"} → ${plane.version}`,
        plane === undefined ? "-" : supportText(plane.version, now),
        workers.join(",") || "-",
        targets.join(",") || "-",
        noteOf(versions),
      ]);
    }
    const headers = ["NAME", "CONTROL PLANE", "SUPPORTED", "WORKERS", "AVAILABLE", "NOTE"];
    input.io.out(`${renderTable(everywhere ? ["NAMESPACE", ...headers] : headers, rows)}\n`);
    input.io.err(`${windowText(now)}\n`);
    input.io.err(
      `Control planes that run as processes can be upgraded to installed versions; install another one: capstan kubernetes install ${TESTED_VERSIONS[0]}\n`,
    );
    return 0;
  });
}

/** The versions to which a control plane can go: those installed here and, where it needs no programs of this machine, the tested ones. */
function upgradeTargets(
  { object, version: from }: Versioned,
  installed: readonly string[],
  providers: Providers,
): string[] {
  const option = controlPlaneOfKind(object.kind, providers);
  const known = option?.needsPrograms?.(object) === true ? installed : [...installed, ...TESTED_VERSIONS];
  return [...new Set(known)].filter((version) => canUpgrade(from, version)).sort(compareVersions);
}

function supportText(version: string, now: number): string {
  const period = supportPeriod(version, now);
  if (period === undefined) return "unknown";
  return `${period.ended ? "ended" : "until"} ${period.endOfLife}`;
}

function windowText(now: number): string {
  const minors = supportWindow(now).map(({ minor, endOfLife }) => `${minor} until ${endOfLife}`);
  return `Kubernetes supports ${minors.join(", ") || "none of the versions that this release knows"}; v1.${NEXT_RELEASE.minor} is due in ${NEXT_RELEASE.due}`;
}

function noteOf({ controlPlane, workers }: ClusterVersions): string {
  if (controlPlane === undefined) return "no control plane";
  if (!controlPlane.settled) return "the control plane is being upgraded";
  if (workers.some(({ settled }) => !settled)) return "workers are being replaced";
  const behind = workers.filter(({ version }) => compareVersions(version, controlPlane.version) < 0);
  return behind.length === 0
    ? "up to date"
    : `workers are behind: capstan upgrade apply NAME --to ${controlPlane.version}`;
}

async function versionsHere(input: CommandInput, target: ApiTarget): Promise<string[]> {
  const own = target.dataDir === undefined ? [] : [join(target.dataDir, "kubernetes")];
  return await installedVersions([...own, ...kubernetesCacheDirs(input.io.env)]);
}

async function clusterNamed(target: ApiTarget, namespace: string, name: string): Promise<Cluster> {
  const cluster = await target.client.get(Cluster, { namespace, name });
  if (cluster === undefined) throw noSuchCluster(target, namespace, name);
  return cluster;
}

/** Runs `capstan upgrade apply`: upgrades the control plane of a cluster, then each group of workers, waiting for every step. */
export function runUpgradeApply(input: CommandInput): Promise<number> {
  const to = textOption(input, "to");
  if (to === undefined || !/^v\d+\.\d+\.\d+/.test(to))
    throw usageError("--to is missing or not a version", "see what is possible: capstan upgrade plan");
  return withTarget(input, async (target) => {
    const { namespace, name } = clusterNames(input);
    const cluster = await clusterNamed(target, namespace, name);
    const { controlPlane, workers } = await readVersions(target.client, cluster);
    if (cluster.spec?.topology !== undefined)
      throw new UserError(`cluster ${namespace}/${name} takes its versions from its topology`, {
        hint: `kubectl patch cluster ${name} --type=merge -p '{"spec":{"topology":{"version":"${to}"}}}'`,
      });
    if (controlPlane === undefined) throw new UserError(`cluster ${namespace}/${name} has no control plane to upgrade`);
    if (controlPlane.version !== to && !canUpgrade(controlPlane.version, to))
      throw new UserError(
        `${controlPlane.version} cannot be upgraded to ${to}: at most one minor version up, and never down`,
        {
          hint: `see what is possible: capstan upgrade plan ${name}`,
        },
      );
    const unsupported = supportWarning(to, clockOf(input).now());
    if (unsupported !== undefined) input.io.err(`warning: ${unsupported}\n`);
    input.io.err(`Upgrading cluster ${namespace}/${name} to ${to} in ${target.description}\n`);
    const steps: (() => Promise<void>)[] = [];
    if (controlPlane.version !== to)
      steps.push(async () => {
        await target.client.patch(controlPlane.object, { spec: { version: to } });
      });
    const controlPlaneCode = await step(input, target, "control plane", to, steps, (now) => now.controlPlane);
    if (controlPlaneCode !== 0) return controlPlaneCode;
    if (input.options["controlPlaneOnly"] !== true)
      for (const group of workers) {
        const code = await upgradeWorkers(input, target, group, to);
        if (code !== 0) return code;
      }
    input.io.out(`cluster/${name} ${input.options["wait"] === false ? "is being upgraded" : "is upgraded"} to ${to}\n`);
    return 0;
  });
}

async function upgradeWorkers(input: CommandInput, target: ApiTarget, group: Versioned, to: string): Promise<number> {
  const { kind, metadata } = group.object;
  const patch = async (): Promise<void> => {
    await target.client.patch(group.object, { spec: { template: { spec: { version: to } } } });
  };
  const label = `${kind === WorkerPool.kind ? "pool" : "workers"} ${metadata.name ?? ""}`;
  return await step(input, target, label, to, group.version === to ? [] : [patch], (now) =>
    now.workers.find(({ object }) => object.kind === kind && object.metadata.name === metadata.name),
  );
}

/** Executes one step and waits until it is done; returns 0, or the exit code of an interruption. */
async function step(
  input: CommandInput,
  target: ApiTarget,
  label: string,
  to: string,
  writes: readonly (() => Promise<void>)[],
  read: (now: ClusterVersions) => Versioned | undefined,
): Promise<number> {
  const { io } = input;
  const { namespace, name } = clusterNames(input);
  for (const write of writes) await write();
  if (input.options["wait"] === false) return 0;
  const clock = clockOf(input);
  const providers = await providersOf(input);
  const { end, tree } = await followCluster({
    client: target.client,
    namespace,
    name,
    io,
    clock,
    providers,
    timeoutMs: durationMs("--timeout", String(input.options["timeout"] ?? "30m")),
    done: async () => {
      const cluster = await target.client.get(Cluster, { namespace, name });
      const now = cluster === undefined ? undefined : read(await readVersions(target.client, cluster));
      return now !== undefined && now.version === to && now.settled;
    },
  });
  if (end === "done") {
    io.err(`${label}: ${to}\n`);
    return 0;
  }
  if (end === "interrupted") {
    io.err(`Interrupted. The upgrade of the ${label} continues; run the same command to continue with the rest.\n`);
    return INTERRUPTED;
  }
  printWaitReason(io, tree, { namespace, nowMs: clock.now(), providers });
  throw new UserError(
    end === "gone" ? `cluster ${namespace}/${name} was deleted in the meantime` : `${label}: not at ${to} in time`,
    {
      hint: `see what it is waiting for with: capstan why ${name} -n ${namespace}; then run the same command again`,
    },
  );
}
