import { formatTime } from "@capstan/apimachinery";
import { Cluster, CONTROL_PLANE_LABEL, type WorkloadClusters } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import {
  type Controller,
  controller,
  done,
  type Predicate,
  type ReconcileContext,
  type Result,
  requeueAfter,
  soonest,
} from "@capstan/runtime";
import { ByoMachine } from "../kinds/byo-machine.ts";
import { claimOf, HOST_FINALIZER, type Hosts } from "../machine/hosts.ts";
import { recordAbandonedHost } from "./abandoned-hosts.ts";
import { handPause } from "./pause.ts";
import { HostReports } from "./reports.ts";

/** A restore or a move may bring hosts before their machines: only later is a machine that is missing taken for gone. */
const ORPHAN_MS = 5 * 60_000;
/** The Machine is watched; this repeats the event. */
const HELD_MS = 5 * 60_000;
const CONNECTING_MS = 2_000;
const NODE = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false } as const;

const pauseChanged: Predicate<Cluster> = {
  update: (cluster, old) => cluster.spec?.paused !== old.spec?.paused,
};

/**
 * Reconciles ByoHosts: reports silent agents, propagates pauses, frees hosts once they are clean, and reclaims hosts of missing machines.
 */
export function byoHostController(hosts: Hosts, workload: WorkloadClusters): Controller {
  const orphanSince = new Map<string, number>();
  /** UIDs of the hosts that there are, so that what is known of others is forgotten. */
  const seen = new Map<string, string>();
  const reports = new HostReports(hosts);
  return controller("byo-host")
    .for(ByoHost)
    .watches(ByoMachine, (machine) => hosts.allOf(machine), { predicate: { create: () => false, update: () => false } })
    .watches(Cluster, (cluster) => hosts.ofCluster(cluster), {
      predicate: pauseChanged,
    })
    .reconcile(async (request, context) => {
      const host = context.cache.get(ByoHost, request);
      const key = `${request.namespace}/${request.name}`;
      const { uid } = host?.metadata ?? {};
      const before = seen.get(key);
      if (before !== undefined && before !== uid) {
        reports.forget(before);
        orphanSince.delete(before);
        seen.delete(key);
      }
      if (host === undefined || uid === undefined) return done();
      seen.set(key, uid);
      await hosts.permissions.dropForeign(host, context.signal);
      const isPaused = await handPause(host, context);
      const next = await reports.look(host, context);
      return isPaused ? next : soonest(next, await lookAfter(host, hosts, workload, orphanSince, context));
    });
}

async function lookAfter(
  host: ByoHost,
  hosts: Hosts,
  workload: WorkloadClusters,
  orphanSince: Map<string, number>,
  context: ReconcileContext,
): Promise<Result> {
  const { uid: key = "" } = host.metadata;
  const since = orphanSince.get(key);
  orphanSince.delete(key);
  if (host.spec === undefined) return done();
  const isLeaving = host.metadata.deletionTimestamp !== undefined;
  if (host.spec.machineRef === undefined)
    return isLeaving && (await leave(host, hosts, context))
      ? done()
      : await freeWhenClean(host, hosts, workload, context);
  // Claimed by a manager of before hosts were kept.
  if (!isLeaving && host.metadata.finalizers?.includes(HOST_FINALIZER) !== true)
    await hosts.keep(host, true, context.signal);
  const claim = await stateOfClaim(host, hosts, context);
  const now = context.clock.now();
  // A machine that is being deleted too removes its node itself.
  if (claim === "leaving" || (claim === "good" && !isLeaving)) return done();
  if (claim === "good" && holdsMember(host, context)) return requeueAfter(HELD_MS);
  if (claim === "orphan" && !isLeaving && (since === undefined || now - since < ORPHAN_MS)) {
    orphanSince.set(key, since ?? now);
    return requeueAfter(ORPHAN_MS - (now - (since ?? now)));
  }
  const asked = { machineUID: host.spec.machineRef.uid, requestedAt: formatTime(now) };
  await hosts.takeBack(host, asked, context.signal);
  return done();
}

/** Releases a host that is being deleted when it is clean or its agent is unreachable. False while it is being cleaned. */
async function leave(host: ByoHost, hosts: Hosts, context: ReconcileContext): Promise<boolean> {
  const isClean = host.spec?.release === undefined;
  if (!isClean && !hosts.isSurelySilent(host, context.clock.now())) return false;
  if (!isClean) {
    await recordAbandonedHost(host, context);
    const note = `host ${host.metadata.name} was removed while its agent was away: it cleans itself when it is back`;
    context.recorder.event(host, "Warning", "HostGivenUp", "Release", note);
  }
  await hosts.keep(host, false, context.signal);
  return true;
}

/** A control plane loses no member because its ByoHost was deleted: the host leaves when its Machine has been deleted. */
function holdsMember(host: ByoHost, context: ReconcileContext): boolean {
  const key = claimOf(host);
  const machine = key === undefined ? undefined : context.cache.get(ByoMachine, key);
  if (machine?.metadata.labels?.[CONTROL_PLANE_LABEL] === undefined) return false;
  const note = `host ${host.metadata.name} stays until it is released, because it may hold a member of etcd: delete Machine ${machine.metadata.name}, whose control plane removes the member first`;
  context.recorder.event(host, "Warning", "HoldsEtcdMember", "Release", note);
  return true;
}

async function freeWhenClean(
  host: ByoHost,
  hosts: Hosts,
  workload: WorkloadClusters,
  context: ReconcileContext,
): Promise<Result> {
  const release = host.spec?.release;
  const { machineUID, phase } = host.status?.release ?? {};
  if (release === undefined || machineUID !== release.machineUID || phase !== "Released") return done();
  // Its kubelet recreated it when the host returned; nothing on the host can do so any more.
  if (!(await nodeIsGone(host, workload, context))) return requeueAfter(CONNECTING_MS);
  await hosts.releaseClaim(host, true, context.signal);
  return done();
}

/** Removes the Node that a host given up was, if its cluster is still there. False: not known yet. */
async function nodeIsGone(host: ByoHost, workload: WorkloadClusters, context: ReconcileContext): Promise<boolean> {
  const { clusterName, providerID } = host.spec?.release ?? {};
  const { namespace = "" } = host.metadata;
  if (clusterName === undefined || providerID === undefined) return true;
  if (context.cache.get(Cluster, { namespace, name: clusterName }) === undefined) return true;
  const connection = workload.get({ namespace, name: clusterName });
  if (connection.state !== "connected") return connection.state === "down";
  const node = connection.nodes.byProviderID(providerID);
  if (node !== undefined)
    await connection.client.delete({ kind: NODE, name: node.metadata.name ?? "" }, {}, context.signal);
  return true;
}

/** Whether the machine that claimed a host is there and uses it. */
async function stateOfClaim(
  host: ByoHost,
  hosts: Hosts,
  context: ReconcileContext,
): Promise<"good" | "leaving" | "orphan" | "surplus"> {
  const reference = host.spec?.machineRef;
  const isIt = (machine: ByoMachine | undefined): machine is ByoMachine =>
    machine !== undefined &&
    // A moved machine has another UID but the same identity.
    (machine.metadata.uid === reference?.uid || machine.spec?.providerID === host.spec?.providerID);
  const key = claimOf(host);
  if (key === undefined) return "orphan";
  const cached = context.cache.get(ByoMachine, key);
  const machine = isIt(cached) ? cached : await context.client.get(ByoMachine, key, context.signal);
  if (!isIt(machine)) return "orphan";
  const own = hosts.of(machine);
  if (own !== undefined && own.metadata.name !== host.metadata.name) return "surplus";
  return machine.metadata.deletionTimestamp === undefined ? "good" : "leaving";
}
