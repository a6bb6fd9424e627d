/** Describes the objects of a story without what is made by chance or depends on timing. */

const CLUSTERS = "cluster.x-k8s.io/v1beta2";
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const ADDRESS = /\b\d+\.\d+\.\d+\.\d+:\d+\b/g;
/** Machines of the MachineDeployment md. */
const WORKER = /\bmd-[a-z0-9]{5,10}-[a-z0-9]{5}\b/g;
/** Annotations of the infrastructure provider that plays along, and of the store. */
const FOREIGN = /(inmemory|memory)\.infrastructure\.cluster\.x-k8s\.io|kubectl\.kubernetes\.io/;

/** Names of Machines by the order of creation: cp-1, cp-2 … */
export function namesOf() {
  const byReal = new Map();
  const domains = new Map();
  return {
    addDomain: (real) => domains.set(real, "domain"),
    /** The topology names it by chance. */
    addTemplate: (real) => domains.set(real, "template"),
    add: (real) => {
      byReal.set(real, `cp-${byReal.size + 1}`);
      return byReal.get(real);
    },
    of: (real) => byReal.get(real),
    real: (name) => [...byReal].find(([, each]) => each === name)?.[0],
    /** Longest first, as one name can begin with another. */
    all: () => [...byReal, ...domains].sort(([a], [b]) => b.length - a.length),
  };
}

export async function describeState(world, names) {
  const { client, namespace, kinds } = world;
  const normalise = normaliser(world, names);
  const list = async (apiVersion, kind) =>
    (await client.list(await client.kindOf({ apiVersion, kind }), { namespace })).items;
  const owned = ({ metadata }) => names.of(metadata.name) !== undefined;
  const [plane] = await list("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane");
  const machines = (await list(CLUSTERS, "Machine")).filter(owned);
  const configs = (await list("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig")).filter(owned);
  const infra = (await list("infrastructure.cluster.x-k8s.io/v1beta2", kinds.machine)).filter(owned);
  const byName = (objects, describe) =>
    Object.fromEntries(
      objects
        .map((object) => [names.of(object.metadata.name), describe(object)])
        .sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true })),
    );
  const state = {
    controlPlane: plane === undefined ? null : controlPlane(plane),
    machines: byName(machines, machine),
    configs: byName(configs, (config) => ({ ...metadata(config), spec: configSpec(config.spec) })),
    infraMachines: byName(infra, (object) => ({ ...metadata(object), finalizers: [] })),
    workload: await world.workloadState(),
  };
  return JSON.parse(normalise(JSON.stringify(state)));
}

function normaliser({ namespace, kinds }, names) {
  const words = [
    ...names.all(),
    [kinds.template, "InfraMachineTemplate"],
    [kinds.machine, "InfraMachine"],
    [kinds.machine.toLowerCase(), "inframachine"],
    [kinds.cluster, "InfraCluster"],
    [namespace, "NAMESPACE"],
  ];
  return (text) => {
    let out = text;
    for (const [from, to] of words) out = out.replaceAll(from, to);
    return out.replaceAll(TIME, "TIME").replaceAll(ADDRESS, "ADDRESS").replaceAll(WORKER, "WORKER");
  };
}

function controlPlane({ metadata: { annotations, finalizers, deletionTimestamp }, status = {} }) {
  const { replicas, readyReplicas, availableReplicas, upToDateReplicas, version, initialization, lastRemediation } =
    status;
  return {
    annotations: own(annotations),
    finalizers: finalizers ?? [],
    deleting: deletionTimestamp !== undefined,
    status: { replicas, readyReplicas, availableReplicas, upToDateReplicas, version, initialization, lastRemediation },
    conditions: conditions(status.conditions),
    v1beta1: v1beta1(status.deprecated?.v1beta1?.conditions),
  };
}

function machine(object) {
  const { spec, status = {} } = object;
  const { version, failureDomain, readinessGates, deletion, taints, bootstrap, infrastructureRef } = spec;
  return {
    ...metadata(object),
    spec: { version, failureDomain, readinessGates, deletion, taints, config: bootstrap.configRef, infrastructureRef },
    conditions: conditions(status.conditions),
  };
}

/** kubeadm's token and what conversion keeps in an annotation are made by chance. */
function configSpec({ joinConfiguration, ...rest } = {}) {
  if (joinConfiguration === undefined) return rest;
  const { discovery: _, ...join } = joinConfiguration;
  return { ...rest, joinConfiguration: join };
}

function metadata({ metadata: { labels, annotations, ownerReferences, finalizers, deletionTimestamp } }) {
  return {
    labels: own(labels),
    annotations: own(annotations),
    owners: (ownerReferences ?? []).map(
      ({ kind, name, controller, blockOwnerDeletion }) =>
        `${kind}/${name}${controller ? " controller" : ""}${blockOwnerDeletion ? " blocks" : ""}`,
    ),
    finalizers: (finalizers ?? []).map((each) => (FOREIGN.test(each) ? "infrastructure" : each)),
    ...(deletionTimestamp === undefined ? {} : { deleting: true }),
  };
}

function own(entries = {}) {
  return Object.fromEntries(
    Object.entries(entries)
      .filter(([name]) => !FOREIGN.test(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const conditions = (list = []) =>
  Object.fromEntries(
    list
      .map(({ type, status, reason, message }) => [type, `${status} ${reason}${message ? `: ${message}` : ""}`])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

const v1beta1 = (list = []) =>
  Object.fromEntries(
    list
      .map(({ type, status, reason, severity }) => [type, [status, reason, severity].filter(Boolean).join(" ")])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
