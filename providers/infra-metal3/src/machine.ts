import {
  type ConditionInput,
  failed,
  gone,
  type MachineRemoval,
  type MachineScope,
  noCapacity,
  type Outcome,
  ready,
  trouble,
  wait,
} from "@capstan/capi";
import type { BareMetalHost } from "./kinds/bare-metal-host.ts";
import type { Metal3Cluster } from "./kinds/metal3-cluster.ts";
import type { Metal3Machine } from "./kinds/metal3-machine.ts";
import { explainNoHost, hostMatches, isAvailable, type Wanted } from "./machine/choose-host.ts";
import { claimed, cleared, pausedHost, provisioned, released, resumed } from "./machine/host-spec.ts";
import type { Hosts } from "./machine/hosts.ts";
import { ensureData, type MachineData, removeData } from "./machine/machine-data.ts";
import { FAILURE_DOMAIN_LABEL, HOST_ANNOTATION, LABEL_SYNC_ANNOTATION } from "./machine/names.ts";
import { addressesOf, findNode, labelChanges, marksOf, providerIdOf } from "./machine/node.ts";
import { keepsHost, originOf } from "./machine/reuse.ts";

/** Another client changed the host before this write: retry at once. */
const CONTENDED_MS = 50;
/** The deletion of a Node of another owner is not observed. */
const NODE_CHECK_MS = 60_000;
/** States in which a host still runs, or is being made to run, what its machine gave it. */
const BUSY = new Set([
  "preparing",
  "provisioning",
  "provisioned",
  "deprovisioning",
  "powering off before delete",
  "deleting",
]);

type Scope = MachineScope<Metal3Machine, Hosts, Metal3Cluster>;

/** Claims a host, renders the machine's data, provisions the host, and reports ready once its Node exists. */
export async function ensureMachine(scope: Scope): Promise<Outcome> {
  const { object, backend, signal } = scope;
  const host = backend.of(object) ?? (await claim(scope));
  if ("type" in host) return host;
  backend.claims.stopWaiting(object);
  await release(backend.claims.allOf(object).slice(1), backend, signal);
  await annotate(scope, host);
  const data = await ensureData(object, scope.machine.spec.clusterName, backend, signal);
  const conditions = [associated(host), data.condition];
  const wanted = provisioned(resumed(host), object, data.ready ? hostData(scope, data) : undefined);
  if (!(await backend.write(host, wanted, signal))) return { ...contended(host), conditions };
  if (!hasImage(host) && hasImage(wanted)) tellProvisioning(scope, wanted);
  const status = statusOf(scope, data);
  if (!data.ready)
    return data.failed
      ? {
          ...failed(
            "DataNotRendered",
            data.message,
            "The controller renders the data again when the named object changes",
          ),
          conditions,
          status,
        }
      : { ...wait("WaitingForMetal3Data", data.message), conditions, status };
  return { ...(await joined(scope, host)), conditions, status };
}

/** Takes a host, or says why there is none. A machine that had its host does not become another one: its data and its Node were made for that host. */
async function claim(scope: Scope): Promise<BareMetalHost | Outcome> {
  const { object, machine, backend, signal } = scope;
  const { namespace = "" } = object.metadata;
  if (object.spec?.providerID !== undefined || object.metadata.annotations?.[HOST_ANNOTATION] !== undefined)
    return gone();
  const earlier = await backend.claims.doubtful(object, signal);
  if (earlier !== undefined) return wait("HostClaimed", `BareMetalHost ${earlier} is claimed`, CONTENDED_MS);
  const wanted: Wanted = {
    selector: object.spec?.hostSelector,
    failureDomain: machine.spec.failureDomain ?? object.spec?.failureDomain,
  };
  // Without a template the data is known already: claim and image are one write. Asked before the host
  // is chosen, because no other machine may choose between choosing and claiming.
  const ownData = object.spec?.dataTemplate?.name === undefined;
  const data = ownData ? await ensureData(object, machine.spec.clusterName, backend, signal) : undefined;
  const given = data?.ready === true ? hostData(scope, data) : undefined;
  const origin = originOf(machine);
  const kept = origin === undefined ? [] : backend.keptFor(namespace, origin, wanted);
  const host = kept.find(isAvailable) ?? (kept.length === 0 ? backend.free(namespace, wanted) : undefined);
  if (host === undefined && kept[0] !== undefined) {
    // It takes no other host, so no other is offered to it.
    const names = new Set(kept.map((each) => each.metadata.name));
    backend.claims.waits(object, (each) => names.has(each.metadata.name));
    return wait(
      "WaitingForReusedHost",
      `BareMetalHost ${kept[0].metadata.name} is kept for this machine and is still ${kept[0].status?.provisioning.state}`,
      NODE_CHECK_MS,
    );
  }
  if (host === undefined) {
    const message = explainNoHost(backend.claims.list(namespace), wanted);
    backend.claims.waits(object, hostMatches(wanted));
    // A host may have become free since it was looked for.
    if (backend.free(namespace, wanted) !== undefined) return wait("HostContended", message, CONTENDED_MS);
    return { ...noCapacity(message), conditions: [notAssociated("AssociateBareMetalHostFailed", message)] };
  }
  const change = (taken: BareMetalHost): BareMetalHost =>
    given === undefined ? claimed(taken) : provisioned(claimed(taken), object, given);
  const taken = await backend.claims.claim(host, object, machine.spec.clusterName, change, signal);
  if (taken === undefined) return contended(host);
  const again = kept.includes(host) ? ", which was kept for it," : "";
  recordEvent(scope, "HostClaimed", "Claim", `BareMetalHost ${host.metadata.name}${again} is claimed`);
  if (hasImage(taken)) tellProvisioning(scope, taken);
  return taken;
}

function hasImage({ spec }: BareMetalHost): boolean {
  return spec.image !== undefined || spec.customDeploy !== undefined;
}

function tellProvisioning(scope: Scope, { metadata, spec }: BareMetalHost): void {
  const what = spec.image?.url ?? `by ${spec.customDeploy?.method}`;
  recordEvent(scope, "HostProvisioning", "Provision", `BareMetalHost ${metadata.name} starts provisioning: ${what}`);
}

function recordEvent(
  { object, recorder }: Pick<Scope, "object" | "recorder">,
  reason: string,
  action: string,
  note: string,
): void {
  recorder.event(object, "Normal", reason, action, note);
}

function hostData(scope: Scope, data: Extract<MachineData, { ready: true }>) {
  const { object, machine } = scope;
  const { namespace = "" } = object.metadata;
  const name = object.spec?.userData?.name ?? machine.spec.bootstrap.dataSecretName ?? "";
  return { userData: { name, namespace }, metaData: data.metaData, networkData: data.networkData };
}

function statusOf(scope: Scope, data: MachineData): Record<string, unknown> {
  if (!data.ready) return {};
  const { metaData, networkData, rendered } = data;
  const { namespace = "" } = scope.object.metadata;
  return {
    userData: hostData(scope, data).userData,
    metaData,
    networkData,
    ...(rendered === undefined ? {} : { renderedData: { name: rendered, namespace } }),
  };
}

/** The claim as seen from the machine: survives a move, and is visible to users. */
async function annotate({ object, backend, signal }: Scope, host: BareMetalHost): Promise<void> {
  const value = `${host.metadata.namespace}/${host.metadata.name}`;
  if (object.metadata.annotations?.[HOST_ANNOTATION] === value) return;
  await backend.client.patch(object, { metadata: { annotations: { [HOST_ANNOTATION]: value } } }, {}, signal);
}

/** The host is provisioned: sets the provider ID of its Node if its kubelet was not configured with one. */
async function joined(scope: Scope, host: BareMetalHost): Promise<Outcome> {
  const { object, machine, workload, backend, cluster } = scope;
  const { name } = host.metadata;
  const state = host.status?.provisioning.state ?? "";
  const known = object.spec?.providerID;
  const isKnown = known !== undefined && object.status?.initialization?.provisioned === true;
  if (!isKnown && state !== "provisioned" && state !== "externally provisioned") return progress(host);
  const failureDomain = host.metadata.labels?.[FAILURE_DOMAIN_LABEL];
  const found = { addresses: addressesOf(host), failureDomain };
  if (workload.state !== "connected") {
    if (isKnown) return ready({ providerID: known, ...found });
    backend.awaitsNode(object, keyOf(cluster), []);
    return wait(
      "WaitingForWorkloadCluster",
      `BareMetalHost ${name} is provisioned; its cluster cannot be reached: ${workload.error}`,
      NODE_CHECK_MS,
    );
  }
  const names = [
    ...new Set(
      [machine, object, host].map(({ metadata }) => metadata.name ?? "").concat(host.status?.hardware?.hostname ?? []),
    ),
  ];
  const node = findNode(workload.nodes, object, host, names);
  if ("problem" in node)
    return isKnown ? ready({ providerID: known, ...found }) : trouble("NodeUnclear", node.problem, NODE_CHECK_MS);
  if ("missing" in node) {
    if (isKnown) return ready({ providerID: known, ...found });
    // Another tool boots the machine: its Node may never be identifiable.
    if (machine.spec.bootstrap.configRef === undefined)
      return ready({ providerID: providerIdOf(object, host), ...found });
    backend.awaitsNode(object, keyOf(cluster), marksOf(object, host, names));
    return wait("WaitingForNode", `BareMetalHost ${name} is provisioned; waiting for its Node to join`, NODE_CHECK_MS);
  }
  const provider = scope.infraCluster?.spec?.cloudProviderEnabled === true;
  if (node.mustSet && provider && !isKnown) {
    backend.awaitsNode(object, keyOf(cluster), marksOf(object, host, []));
    return wait(
      "WaitingForCloudProvider",
      `Node ${node.node.metadata.name} is waiting for the cloud provider to set its provider ID`,
      NODE_CHECK_MS,
    );
  }
  const labels = labelChanges(node.node, host, prefixesOf(scope.infraCluster));
  if (node.mustSet || labels !== undefined) {
    const patch = {
      ...(node.mustSet ? { spec: { providerID: node.providerID } } : {}),
      ...(labels === undefined ? {} : { metadata: { labels } }),
    };
    await workload.client.patch({ kind: NODE, name: node.node.metadata.name ?? "" }, patch, {}, scope.signal);
  }
  if (known === undefined)
    recordEvent(
      scope,
      "NodeJoined",
      "Join",
      `Node ${node.node.metadata.name} on BareMetalHost ${name} is ${node.providerID}`,
    );
  return ready({ providerID: node.providerID, ...found });
}

const NODE = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false } as const;

function keyOf({ metadata }: Scope["cluster"]): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

function prefixesOf(cluster: Metal3Cluster | undefined): string[] {
  const text = cluster?.metadata.annotations?.[LABEL_SYNC_ANNOTATION] ?? "";
  return text.split(",").flatMap((prefix) => prefix.trim() || []);
}

/** What a host that is not provisioned yet waits for. */
function progress(host: BareMetalHost): Outcome {
  const { name } = host.metadata;
  const { errorType, errorMessage = "", provisioning } = host.status ?? {};
  const state = provisioning?.state ?? "";
  if (errorMessage !== "")
    return failed(
      "HostError",
      `BareMetalHost ${name} (${state}): ${errorType ?? "error"}: ${errorMessage}`,
      "The controller retries",
    );
  return wait("HostProvisioning", `BareMetalHost ${name} is ${state === "" ? "new" : state}`);
}

const contended = (host: BareMetalHost): Outcome =>
  wait(
    "HostContended",
    `BareMetalHost ${host.metadata.name} changed while it was being written; retrying`,
    CONTENDED_MS,
  );

const ASSOCIATED = "AssociateBareMetalHost";
const associated = (host: BareMetalHost): ConditionInput => ({
  type: ASSOCIATED,
  status: "True",
  reason: "AssociateBareMetalHostSuccess",
  message: `BareMetalHost ${host.metadata.name}`,
});
const notAssociated = (reason: string, message: string): ConditionInput => ({
  type: ASSOCIATED,
  status: "False",
  reason,
  message,
});

/** Releases hosts that a machine has claimed in addition to its own. */
async function release(surplus: readonly BareMetalHost[], backend: Hosts, signal: AbortSignal): Promise<void> {
  for (const host of surplus) await backend.write(host, released(cleared(host), undefined), signal);
}

/** Pauses the host while the Cluster is paused, and saves its status in an annotation so that it survives a move. */
export async function pauseMachine({
  object,
  cluster,
  backend,
  signal,
}: MachineRemoval<Metal3Machine, Hosts>): Promise<void> {
  backend.claims.stopWaiting(object);
  const host = backend.of(object);
  if (host !== undefined && cluster?.spec?.paused === true) await backend.write(host, pausedHost(host), signal);
}

/** Deprovisions the host, releases the machine's data and addresses, and then releases the host. */
export async function removeMachine(scope: MachineRemoval<Metal3Machine, Hosts>): Promise<Outcome> {
  const { object, machine, cluster, backend, signal } = scope;
  backend.claims.stopWaiting(object);
  const hosts = backend.claims.allOf(object);
  for (const host of hosts) {
    if (!(await backend.write(host, cleared(resumed(host)), signal))) return contended(host);
    if (hasImage(host))
      recordEvent(scope, "HostDeprovisioning", "Release", `BareMetalHost ${host.metadata.name} starts deprovisioning`);
    const { provisioning, poweredOn, errorMessage = "" } = host.status ?? {};
    const state = provisioning?.state ?? "";
    const isBusy = BUSY.has(state) || (state === "externally provisioned" && poweredOn === true);
    if (hasImage(host) || isBusy) {
      const what = `BareMetalHost ${host.metadata.name} is ${state || "new"} and is being deprovisioned`;
      if (errorMessage === "") return wait("DeprovisioningHost", what, NODE_CHECK_MS);
      const cure = "the controller retries; check its management controller, or delete the BareMetalHost to abandon it";
      return trouble("DeprovisioningFailed", `${what}: ${errorMessage}; ${cure}`, NODE_CHECK_MS);
    }
  }
  // Only now: until here the host could still have used its addresses.
  if (!(await removeData(object, backend, signal)))
    return wait("ReleasingData", "waiting for the data and addresses of the machine to be released");
  const label =
    cluster?.metadata.deletionTimestamp === undefined && keepsHost(object, backend.cache)
      ? originOf(machine)
      : undefined;
  const reuse = label === undefined || cluster === undefined ? undefined : { label, cluster };
  for (const host of hosts) {
    if (!(await backend.write(host, released(host, reuse), signal))) return contended(host);
    const kept = reuse === undefined ? "free again" : `kept for ${reuse.label}`;
    recordEvent(scope, "HostReleased", "Release", `BareMetalHost ${host.metadata.name} is ${kept}`);
  }
  const earlier = hosts.length > 0 ? undefined : await backend.claims.doubtful(object, signal);
  return earlier === undefined
    ? gone()
    : wait("ReleasingHost", `BareMetalHost ${earlier} is being released`, CONTENDED_MS);
}
