import { findCondition, formatDuration, parseDuration } from "@capstan/apimachinery";
import {
  type ConditionInput,
  conditionsOf,
  failed,
  identifyNode,
  isControlPlaneMachine,
  type MachineAddress,
  type MachineScope,
  noCapacity,
  type Outcome,
  ready,
  trouble,
  wait,
} from "@capstan/capi";
import { Pod } from "@capstan/workloads";
import type { Backend, Place } from "../backend.ts";
import { networkOverlap } from "../cluster/networks.ts";
import { hostOutcome } from "../host-outcome.ts";
import { KubernetesCluster } from "../kinds/kubernetes-cluster.ts";
import type { KubernetesMachine } from "../kinds/kubernetes-machine.ts";
import { type Key, keyOf, ownerOf, providerIdOf } from "../names.ts";
import { checkNamespace } from "../namespace.ts";
import { type CheckedPod, needsPrivileges } from "../pod/baseline.ts";
import { ensurePriorityClass } from "../pod/priority.ts";
import { imageOf, type PodInput, renderPod } from "../pod/render.ts";
import { nodeContainer, sharedProblems, templateProblems, templateSpec } from "../pod/template.ts";
import { dropBootstrap, ensureScripts } from "./bootstrap.ts";
import { claimsOf, ensureClaims } from "./claims.ts";
import { recreationProblem } from "./kept-data.ts";
import { continueReplacement, followOuterDrain } from "./outer-drain.ts";
import { startWarning } from "./pod-events.ts";
import { type PodState, stateOfPod } from "./pod-state.ts";
import { recreation, recreationLimitMs } from "./recreate.ts";

/** What `ensure` of a machine gets. */
export type Scope = MachineScope<KubernetesMachine, Backend, KubernetesCluster>;

const DEFAULT_ZONE_LABEL = "topology.kubernetes.io/zone";
const API_PORT = 6443;
/** The workload cluster announces new Nodes to core only. */
const NODE_CHECK_MS = 10_000;
/** After this time the events of a pod that does not start are read. */
const USUAL_START_MS = 60_000;
/** How long something lasts shows in no event. */
const STUCK_CHECK_MS = 60_000;

/** Makes the machine's pod, follows what happens to it, and reports ready once its node is bootstrapped. */
export async function ensureMachine(scope: Scope): Promise<Outcome> {
  const key = keyOf(scope.object);
  try {
    return await follow(scope, key);
  } catch (error) {
    const outcome = hostOutcome(error, key.namespace);
    if (outcome === undefined) throw error;
    return outcome;
  }
}

async function follow(scope: Scope, key: Key): Promise<Outcome> {
  const { object, infraCluster, backend } = scope;
  const known = object.status?.podRef;
  if (known === undefined && infraCluster === undefined && isDeleted(scope))
    return trouble(
      "WaitingForKubernetesCluster",
      "The KubernetesCluster, which says in which cluster the pod is to be, does not exist",
      STUCK_CHECK_MS,
    );
  // Its pod is where it was made, even when the KubernetesCluster is created again.
  const secretName = known === undefined ? infraCluster?.spec?.hostCluster?.secretName : known.hostCluster;
  const place = await backend.place(ownerOf("kubernetesmachine", key), secretName, scope.signal);
  const pod = place.host.get(Pod, key);
  if (pod === undefined) return await create(scope, place, key);
  if (place.host.of(Pod, ownerOf("kubernetesmachine", key)).length === 0)
    return failed(
      "NameTaken",
      `Pod ${key.namespace}/${key.name} belongs to another owner`,
      "Delete it, or the Machine",
    );
  const state = stateOfPod(pod, containerName(object), claimsOf(place.host, key));
  return report(scope, place, pod, await outcomeOf(scope, place, key, pod, state), state);
}

/** Whether the Cluster's own KubernetesCluster, once there, is gone, as core says; in other Clusters none need exist. */
function isDeleted({ cluster }: Scope): boolean {
  const { apiGroup, kind } = cluster.spec?.infrastructureRef ?? {};
  const isMain = apiGroup === KubernetesCluster.group && kind === KubernetesCluster.kind;
  return isMain && findCondition(conditionsOf(cluster), "InfrastructureReady")?.status === "False";
}

function containerName(object: KubernetesMachine): string {
  return nodeContainer(templateSpec(object.spec ?? {}))?.name ?? "node";
}

async function outcomeOf(scope: Scope, place: Place, key: Key, pod: Pod, state: PodState): Promise<Outcome> {
  if (state.type === "up") return await up(scope, place, key, pod, state);
  await continueReplacement(scope);
  const again = recreation(scope);
  if (state.type === "ended") return await again.ended(place, pod, state);
  const tooLong = await again.timeout(state.message);
  if (tooLong !== undefined) return tooLong;
  switch (state.type) {
    case "starting":
      return state.reason === "Starting"
        ? await starting(scope, place, pod, state.message)
        : wait(state.reason, state.message, again.recheckMs);
    case "stuck":
      return trouble(state.reason, state.message, STUCK_CHECK_MS);
    case "noRoom":
      return noCapacity(`No outer node has room for pod ${key.name}: ${state.message}`);
  }
}

/** A pod that has a node and does not start has no reason in its status: the outer node reports it in events. */
async function starting({ clock }: Scope, place: Place, pod: Pod, message: string): Promise<Outcome> {
  const leftMs = Date.parse(pod.metadata.creationTimestamp ?? "") + USUAL_START_MS - clock.now();
  if (leftMs > 0) return wait("Starting", message, leftMs);
  const warning = await startWarning(place, pod);
  return warning === undefined
    ? wait("Starting", message, STUCK_CHECK_MS)
    : trouble("ContainerCannotStart", `${message}: ${warning}`, STUCK_CHECK_MS);
}

async function up(scope: Scope, place: Place, key: Key, pod: Pod, state: PodState & { type: "up" }): Promise<Outcome> {
  await dropBootstrap(place, key);
  const providerID = providerIdOf(key);
  const identity = await identifyNode(scope, key.name, providerID);
  const domain = await failureDomainOf(scope, place, pod);
  const drain = await followOuterDrain(scope, place, pod);
  const drained = { type: "OuterNodeStays", status: drain.message === undefined ? "True" : "False" } as const;
  const conditions: ConditionInput[] = [
    ...(identity.condition === undefined ? [] : [identity.condition]),
    {
      ...drained,
      reason: drain.message === undefined ? "OuterNodeStays" : "OuterNodeDrained",
      message: drain.message ?? "",
    },
  ];
  // A control plane that is not ready for a moment is a machine nevertheless; its Node and its control plane say more.
  const patienceMs = state.ready ? Number.POSITIVE_INFINITY : patienceWith(scope, pod);
  if (patienceMs <= 0) return { ...wait("PodNotReady", `${state.message} for ${limitText(scope)}`), conditions };
  if (!state.ready && scope.object.status?.initialization?.provisioned !== true)
    return { ...wait("PodNotReady", state.message), conditions };
  const nodeCheckMs = identity.settled ? Number.POSITIVE_INFINITY : NODE_CHECK_MS;
  const recheckAfterMs = Math.min(drain.recheckAfterMs, nodeCheckMs, patienceMs);
  return {
    ...ready({
      providerID,
      addresses: addressesOf(key, pod),
      ...(domain === undefined ? {} : { failureDomain: domain }),
      ...(recheckAfterMs === Number.POSITIVE_INFINITY ? {} : { recheckAfterMs }),
    }),
    conditions,
  };
}

/** How much longer a pod that runs may be not ready before its machine is not ready either. */
function patienceWith({ object, clock }: Scope, { metadata, status }: Pod): number {
  const condition = status?.conditions?.find(({ type }) => type === "Ready");
  const since = condition?.lastTransitionTime ?? metadata.creationTimestamp;
  const sinceMs = Date.parse(since ?? "");
  return Number.isNaN(sinceMs) ? recreationLimitMs(object) : sinceMs + recreationLimitMs(object) - clock.now();
}

const limitText = ({ object }: Scope): string => formatDuration(recreationLimitMs(object));

/** Adds what every outcome reports of the pod. */
function report({ object }: Scope, { secretName }: Place, pod: Pod, outcome: Outcome, state: PodState): Outcome {
  const before = object.status?.podRef;
  const { name = "", uid = "", creationTimestamp } = pod.metadata;
  const again = before?.uid !== undefined && before.uid !== uid;
  const status = {
    podRef: { name, uid, ...(creationTimestamp === undefined ? {} : { creationTimestamp }), ...hostOf(secretName) },
    ...(pod.spec?.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    restarts: (object.status?.restarts ?? 0) + (again ? 1 : 0),
  };
  const conditions = [bootstrapCondition(object, state), ...(outcome.conditions ?? [])].filter(
    (each) => each !== undefined,
  );
  return { ...outcome, status: { ...status, ...outcome.status }, conditions };
}

function hostOf(secretName: string | undefined): { hostCluster?: string } {
  return secretName === undefined ? {} : { hostCluster: secretName };
}

/** What has succeeded once stays so: a later life of the pod starts from what the first one left. */
function bootstrapCondition(object: KubernetesMachine, state: PodState): ConditionInput | undefined {
  const type = "BootstrapSucceeded";
  if (state.type === "up") return { type, status: "True", reason: "BootstrapSucceeded", message: "" };
  if (findCondition(conditionsOf(object), type)?.status === "True") return undefined;
  if (state.type === "ended" && state.bootstrap === true)
    return { type, status: "False", reason: "BootstrapFailed", message: state.message };
  const { message } = state;
  return { type, status: "Unknown", reason: "WaitingForBootstrap", message };
}

async function create(scope: Scope, place: Place, key: Key): Promise<Outcome> {
  const lost = await recreation(scope).lost(place, key);
  if (lost !== undefined) return lost;
  const input = inputOf(scope, key);
  const refused = await refusal(scope, place, input);
  if (refused !== undefined) return refused;
  const creating = `pod ${key.name} is being created`;
  // Whoever deletes the machine has to know where its objects are, also when the KubernetesCluster is gone before any pod exists.
  if (scope.object.status?.podRef === undefined)
    return { ...wait("Creating", creating, 0), status: { podRef: { name: key.name, ...hostOf(place.secretName) } } };
  await ensureClaims(place, scope.object, key);
  const notDone = await ensureScripts(scope, place, key, input.bootstrapTimeoutSeconds);
  if (notDone !== undefined) return notDone;
  const priorityClassName = input.controlPlane ? await ensurePriorityClass(place, input.settings) : undefined;
  await place.host.create(Pod, renderPod({ ...input, priorityClassName }), place.signal);
  return wait("Creating", creating);
}

/** Returns why a pod must not be created. */
async function refusal(scope: Scope, place: Place, input: PodInput): Promise<Outcome | undefined> {
  const replace = "Correct it in a new template; this Machine must be replaced";
  const shared = place.secretName === undefined ? sharedProblems(input.settings) : [];
  const unsafe = recreationProblem(scope);
  const problems = [...templateProblems(input.settings), ...shared, ...(unsafe === undefined ? [] : [unsafe])];
  if (problems.length > 0)
    return failed("PodTemplateInvalid", `The pod template is refused: ${problems.join("; ")}`, replace);
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(input.key.name))
    return failed(
      "NameNotUsable",
      `${input.key.name} cannot be the host name of a node`,
      "Use a name with at most 63 letters, digits and dashes",
    );
  if (imageOf(input) === undefined)
    return failed(
      "ImageUnknown",
      "Neither spec.image nor the version of the Machine says which image to use",
      "Set one of them",
    );
  const overlap = await networkOverlap(scope.backend, place, scope.cluster);
  if (overlap !== undefined)
    return failed("NetworksOverlap", overlap, "Create the Cluster with networks that the outer one does not use");
  const pod = renderPod(input) as unknown as CheckedPod;
  return await checkNamespace(place, input.key.namespace, needsPrivileges(pod));
}

function inputOf({ object, machine, cluster, infraCluster }: Scope, key: Key): PodInput {
  const { failureDomain } = machine.spec;
  const label = infraCluster?.spec?.failureDomains?.label ?? DEFAULT_ZONE_LABEL;
  return {
    key,
    cluster: cluster.metadata.name ?? "",
    controlPlane: isControlPlaneMachine(machine),
    version: machine.spec.version,
    apiPort: cluster.spec?.clusterNetwork?.apiServerPort ?? API_PORT,
    settings: object.spec ?? {},
    failureDomain: failureDomain === undefined ? undefined : { label, value: failureDomain },
    bootstrapTimeoutSeconds: parseDuration(object.spec?.bootstrapTimeout ?? "10m") / 1000,
  };
}

/** Where the pod is; the scheduler was bound to a requested domain. */
async function failureDomainOf(scope: Scope, place: Place, pod: Pod): Promise<string | undefined> {
  const { machine, infraCluster, backend } = scope;
  const label = infraCluster?.spec?.failureDomains?.label;
  if (machine.spec.failureDomain !== undefined || label === undefined) return machine.spec.failureDomain;
  const nodes = await backend.nodes(place);
  return nodes.find(({ metadata }) => metadata.name === pod.spec?.nodeName)?.metadata.labels?.[label];
}

function addressesOf({ name }: Key, { status }: Pod): MachineAddress[] {
  const ips = status?.podIPs?.map(({ ip }) => ip) ?? [status?.podIP];
  return [
    ...ips
      .filter((ip) => ip !== undefined && ip !== "")
      .map((address) => ({ type: "InternalIP" as const, address: address ?? "" })),
    { type: "Hostname", address: name },
  ];
}
