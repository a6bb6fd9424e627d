import { findCondition, type KubeObject } from "@capstan/apimachinery";
import { assess, hostTrouble, objectNode, shownConditions, simulatedHost } from "@capstan/capi";
import type { ShownContext, ViewKind } from "./cluster-item.ts";
import { shortState } from "./fleet-row.ts";
import type { HostRow } from "./protocol.ts";
import { providerName } from "./provider-name.ts";

/** The fields that hosts have in common by convention, and that a row is made of. Each kind has some of them. */
interface AnyHost extends KubeObject {
  spec?: {
    machineRef?: { name?: string };
    consumerRef?: { name?: string };
    unschedulable?: boolean;
    bmc?: { address?: string };
    architecture?: string;
  };
  status?: {
    hostinfo?: { osimage?: string; architecture?: string; cpus?: number; memoryMiB?: number };
    network?: { ipAddrs?: string[] }[];
    lastHeartbeatTime?: string;
    bootstrap?: { phase?: string; message?: string };
    release?: { phase?: string };
    provisioning?: { state?: string };
    operationalStatus?: string;
    errorMessage?: string;
    errorType?: string;
    poweredOn?: boolean;
    hardware?: {
      cpu?: { count?: number; arch?: string };
      ramMebibytes?: number;
      nics?: { ip?: string }[];
      systemVendor?: { manufacturer?: string; productName?: string };
    };
  };
}

/** Computes the current inventory row of a host. */
export function hostRow(object: KubeObject, kind: ViewKind, { nowMs, providers }: ShownContext): HostRow {
  const host = object as AnyHost;
  const { metadata, spec, status } = host;
  const node = objectNode(object, nowMs);
  const { state: health } = assess(node, { nowMs, namespace: metadata.namespace ?? "", providers });
  const machine = spec?.machineRef?.name ?? spec?.consumerRef?.name;
  const { hardware } = status ?? {};
  const system =
    status?.hostinfo?.osimage ??
    [hardware?.systemVendor?.manufacturer, hardware?.systemVendor?.productName].filter(Boolean).join(" ");
  const architecture = status?.hostinfo?.architecture ?? hardware?.cpu?.arch ?? spec?.architecture;
  const cpus = status?.hostinfo?.cpus ?? hardware?.cpu?.count;
  const memoryMiB = status?.hostinfo?.memoryMiB ?? hardware?.ramMebibytes;
  const cluster = metadata.labels?.["cluster.x-k8s.io/cluster-name"];
  const simulated = simulatedHost(object, providers);
  return {
    kind: kind.kind,
    apiVersion: `${kind.group}/${kind.version}`,
    plural: kind.plural,
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    provider: providerName(kind.kind, providers),
    state: stateOf(host, machine),
    ready: readyOf(host, nowMs),
    health: shortState(health),
    machine,
    cluster,
    ...(system === "" ? {} : { system }),
    architecture,
    cpus,
    memoryMiB,
    addresses: addressesOf(host),
    ...(status?.lastHeartbeatTime === undefined ? {} : { heartbeat: status.lastHeartbeatTime }),
    created: metadata.creationTimestamp ?? "",
    simulated,
  };
}

/** A host with an operational status is Ready only while a machine uses it; otherwise its operational status says whether it can be used. */
function readyOf(host: AnyHost, nowMs: number): HostRow["ready"] {
  const trouble = hostTrouble(host, nowMs);
  if (trouble !== undefined) return trouble.status;
  const operational = host.status?.operationalStatus ?? "";
  if (operational !== "") return operational === "OK" || operational === "detached" ? "True" : "False";
  return findCondition(shownConditions(host, nowMs), "Ready")?.status ?? "Unknown";
}

/** The agent reports, but failed to make the host a node. */
function bootstrapFailed({ status }: AnyHost): boolean {
  return status?.bootstrap?.phase === "Failed";
}

function stateOf(host: AnyHost, machine: string | undefined): string {
  const { spec, status, metadata } = host;
  if (metadata.deletionTimestamp !== undefined) return "Deleting";
  if (status?.provisioning?.state !== undefined) return status.provisioning.state;
  if (status?.release?.phase === "Running") return "Releasing";
  if (status?.bootstrap?.phase === "Running") return "Bootstrapping";
  if (bootstrapFailed(host)) return "Failed";
  if (machine !== undefined) return "In use";
  return spec?.unschedulable === true ? "Cordoned" : "Free";
}

function addressesOf(host: AnyHost): string[] {
  const own = (host.status?.network ?? []).flatMap((network) => network.ipAddrs ?? []);
  const metal = (host.status?.hardware?.nics ?? []).flatMap((nic) => nic.ip ?? []);
  return [...own, ...metal];
}
