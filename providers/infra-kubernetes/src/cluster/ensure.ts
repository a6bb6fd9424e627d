import { isTrue } from "@capstan/apimachinery";
import {
  type Cluster,
  CONTROL_PLANE_LABEL,
  type FailureDomain,
  failed,
  gone,
  type InfraClusterRemoval,
  type InfraClusterScope,
  type Outcome,
  ready,
  trouble,
  wait,
} from "@capstan/capi";
import { HostProblem, Pod, readyNodeAddress, Service } from "@capstan/workloads";
import type { Backend, Place } from "../backend.ts";
import { hostOutcome } from "../host-outcome.ts";
import { KubernetesCluster, serviceType } from "../kinds/kubernetes-cluster.ts";
import { type Key, keyOf, ownerOf } from "../names.ts";
import { ensureBudgets } from "./budget.ts";
import { endpointNode, NODE_CHECK_MS } from "./endpoint-node.ts";
import { networkOverlap } from "./networks.ts";
import { apiService, type Endpoint, endpointOf, serviceEndpoint, serviceName } from "./service.ts";

type Scope = InfraClusterScope<KubernetesCluster, Backend>;

/** Failure domains and a changed outer cluster announce nothing. */
const CHECK_MS = 300_000;

/** Makes the Service of a control plane on machines, and reports the endpoint and the failure domains. */
export async function ensureCluster(scope: Scope): Promise<Outcome> {
  const { object } = scope;
  const key = keyOf(object);
  try {
    return await ensure(scope, key);
  } catch (error) {
    const outcome = hostOutcome(error, key.namespace);
    if (outcome === undefined) throw error;
    return outcome;
  }
}

/** Deletes the Service. */
export async function removeCluster(scope: InfraClusterRemoval<KubernetesCluster, Backend>): Promise<Outcome> {
  const { object, backend } = scope;
  const key = keyOf(object);
  const owner = ownerOf("kubernetescluster", key);
  try {
    const { host, signal } = await backend.place(owner, object.spec?.hostCluster?.secretName, scope.signal);
    const left = await host.removeAll(owner, signal);
    if (left.length > 0)
      return wait(
        "DeletingObjects",
        `waiting until ${left.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ")} is deleted`,
      );
  } catch (error) {
    if (!(error instanceof HostProblem && isNowhere(error, object))) {
      const outcome = hostOutcome(error, key.namespace);
      if (outcome === undefined) throw error;
      return outcome;
    }
  }
  backend.release(owner);
  return gone();
}

/** Without a cluster that runs pods, or before the first contact with it, nothing was made. */
function isNowhere({ reason }: HostProblem, { status }: KubernetesCluster): boolean {
  const isContacted = status?.contacted === true || status?.initialization?.provisioned === true;
  return reason === "NothingRunsPods" || (reason === "HostClusterNotKnown" && !isContacted);
}

async function ensure(scope: Scope, key: Key): Promise<Outcome> {
  const { object, cluster, backend } = scope;
  const place = await backend.place(
    ownerOf("kubernetescluster", key),
    object.spec?.hostCluster?.secretName,
    scope.signal,
  );
  // Nodes and certificates have the networks: afterwards it is too late to refuse them.
  if (object.status?.initialization?.provisioned !== true) {
    const overlap = await networkOverlap(backend, place, cluster);
    if (overlap !== undefined)
      return failed("NetworksOverlap", overlap, "Create the Cluster with networks that the outer one does not use");
  }
  // Before the first write: whoever deletes the cluster has to know that something may be there.
  if (object.status?.contacted !== true)
    return { ...wait("Creating", "the Service is being created", 0), status: { contacted: true } };
  const domains = await failureDomains(object, backend, place);
  const more = { ...(domains === undefined ? {} : { failureDomains: domains }), recheckAfterMs: CHECK_MS };
  await ensureBudgets(scope, place);
  if (!hasMachines(cluster, object)) return ready(more);
  if (serviceType(object) === "None") {
    return endpointOf(object) === undefined
      ? wait(
          "WaitingForEndpoint",
          "controlPlaneService.type is None: set spec.controlPlaneEndpoint to the address of the API servers",
        )
      : ready(more);
  }
  const service = await ensureService(scope, place);
  const wanted = endpointOf(object);
  const nodes = serviceType(object) === "NodePort" ? await backend.nodes(place) : [];
  if (serviceType(object) === "NodePort" && wanted !== undefined) {
    const { name, problem } = endpointNode(object, wanted, nodes);
    const status = name === undefined ? {} : { endpointNode: name };
    return { ...(problem ?? ready({ ...more, recheckAfterMs: NODE_CHECK_MS })), status };
  }
  const seen = serviceEndpoint(object, service, readyNodeAddress(nodes));
  if (seen === undefined && wanted === undefined) return noAddress(object, service);
  const changed = wanted === undefined ? undefined : changedEndpoint(object, wanted, seen);
  return changed ?? ready({ ...more, ...(seen === undefined ? {} : { endpoint: seen }) });
}

/** Machines of a KubeadmControlPlane, or stand-alone ones; other control planes have a Service, and an endpoint, of their own. */
function hasMachines({ spec }: Cluster, object: KubernetesCluster): boolean {
  const { controlPlaneRef, infrastructureRef } = spec ?? {};
  const isMain = infrastructureRef?.kind === KubernetesCluster.kind && infrastructureRef.name === object.metadata.name;
  return isMain && (controlPlaneRef === undefined || controlPlaneRef.kind === "KubeadmControlPlane");
}

async function ensureService({ object, cluster, backend }: Scope, { host, signal }: Place): Promise<Service> {
  const of = keyOf(cluster);
  const live = host.get(Service, { namespace: of.namespace, name: serviceName(of.name) });
  return await host.ensure(Service, apiService(object, of, { anyReady: anyReady(backend, host, of), live }), signal);
}

function anyReady(backend: Backend, host: Place["host"], cluster: Key): boolean {
  return backend
    .machinesOf(cluster)
    .flatMap((machine) => host.of(Pod, ownerOf("kubernetesmachine", keyOf(machine))))
    .some(
      ({ metadata, status }) =>
        metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined &&
        status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true,
    );
}

function noAddress(object: KubernetesCluster, { metadata }: Service): Outcome {
  const name = `${metadata.namespace}/${metadata.name}`;
  switch (serviceType(object)) {
    case "LoadBalancer":
      return trouble(
        "WaitingForLoadBalancer",
        `Service ${name} has no address yet: the outer cluster needs an implementation of type LoadBalancer (a cloud controller manager, MetalLB); without it set controlPlaneService.type to NodePort or ClusterIP`,
        CHECK_MS,
      );
    case "NodePort":
      return wait(
        "WaitingForOuterNode",
        "The outer cluster has no Ready node whose address could be the endpoint",
        CHECK_MS,
      );
    default:
      return wait("WaitingForAddress", `Service ${name} has no cluster IP yet`, CHECK_MS);
  }
}

/** Certificates and nodes have the endpoint: one that changes cannot be followed. An endpoint of a person's own is as given. */
function changedEndpoint(object: KubernetesCluster, wanted: Endpoint, seen: Endpoint | undefined): Outcome | undefined {
  const type = serviceType(object);
  if (seen === undefined || seen.host === wanted.host) return undefined;
  // A name that a person gave leads to the Service by ways that are not ours.
  if (type === "LoadBalancer" && object.status?.initialization?.provisioned !== true) return undefined;
  return failed(
    "EndpointChanged",
    `Service ${serviceName(object.metadata.name ?? "")} has address ${seen.host}, but the endpoint of the cluster is ${wanted.host}`,
    "Give the Service its former address back; certificates and nodes have it",
  );
}

async function failureDomains(
  { spec }: KubernetesCluster,
  backend: Backend,
  place: Place,
): Promise<FailureDomain[] | undefined> {
  const label = spec?.failureDomains?.label;
  if (label === undefined) return undefined;
  const nodes = await backend.nodes(place);
  const values = nodes
    .filter((node) => isTrue((node.status?.conditions ?? []) as never, "Ready"))
    .flatMap(({ metadata }) => metadata.labels?.[label] ?? []);
  return [...new Set(values)].toSorted().map((name) => ({ name, controlPlane: true }));
}
