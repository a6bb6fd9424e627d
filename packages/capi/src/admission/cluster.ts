import { deepEqual } from "@capstan/apimachinery";
import type { schema as clusterSchema } from "../kinds/cluster.ts";
import type { schema as classSchema } from "../kinds/cluster-class.ts";
import { namedTarget, type ReferenceTarget, resolveGranted, ungrantedDetail } from "../references/resolve.ts";
import type { AdmissionKind, AdmissionLookup, AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { compatibilityProblems } from "./cluster-class-compatibility.ts";
import { healthCheckProblems } from "./health-checks.ts";
import {
  cidrProblems,
  compareVersions,
  forbidden,
  invalid,
  labelNameProblems,
  metadataProblems,
  parseVersion,
  taintProblems,
  versionProblems,
  withPrefix,
} from "./problems.ts";
import { autoscalerProblems } from "./replicas.ts";
import { rolloutProblems } from "./rollout.ts";
import { topologyHealthProblems } from "./topology-health.ts";
import { defaultVariables, topologyVariableProblems, variableDefinitions } from "./topology-variables.ts";
import { UNSAFE_VERSION, unfinishedUpgradeProblems } from "./topology-version.ts";

type Cluster = KindObject<Infer<typeof clusterSchema>>;
type ClusterClass = KindObject<Infer<typeof classSchema>>;
type Topology = NonNullable<Cluster["spec"]["topology"]>;

const CLASS_REFERENCE = "spec.topology.classRef";
const UPGRADE_CONCURRENCY = "topology.cluster.x-k8s.io/upgrade-concurrency";
const UNSAFE_CLASS = "unsafe.topology.cluster.x-k8s.io/disable-update-class-name-check";

/** The cached ClusterClass of a Cluster. */
export const CLASSES: AdmissionKind = {
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ClusterClass",
  plural: "clusterclasses",
  namespaced: true,
};

/** Cluster: upstream's rules, and that a class of another namespace grants its use. */
export const clusterAdmission: KindAdmission<Cluster> = {
  grantedReferences: [CLASS_REFERENCE],
  default: ({ spec }) => {
    if (spec.topology !== undefined) spec.topology.version = withPrefix(spec.topology.version);
  },
  complete: async (cluster, lookup) => {
    const { topology } = cluster.spec;
    const found = topology === undefined ? undefined : await classOf(cluster, lookup);
    const definitions = found === undefined ? undefined : variableDefinitions(found);
    if (topology !== undefined && definitions !== undefined) defaultVariables(topology, definitions);
  },
  validate: (cluster, old) => {
    const { metadata, spec } = cluster;
    return [
      ...labelNameProblems(metadata.name),
      ...removalProblems(spec, old?.spec),
      ...(spec.controlPlaneRef === undefined && spec.infrastructureRef === undefined && spec.topology === undefined
        ? [forbidden("spec", "one of spec.controlPlaneRef, spec.infrastructureRef or spec.topology must be set")]
        : []),
      ...cidrProblems(spec.clusterNetwork?.pods?.cidrBlocks, "spec.clusterNetwork.pods.cidrBlocks"),
      ...cidrProblems(spec.clusterNetwork?.services?.cidrBlocks, "spec.clusterNetwork.services.cidrBlocks"),
      ...(spec.topology === undefined ? [] : topologyProblems(spec.topology)),
      ...(spec.topology === undefined ? [] : concurrencyProblems(metadata.annotations?.[UPGRADE_CONCURRENCY])),
      ...updateProblems(cluster, old),
    ];
  },
  check: async (cluster, old, lookup) => {
    const { topology } = cluster.spec;
    if (topology === undefined) return [];
    const found = await classOf(cluster, lookup);
    if (found === undefined) {
      const key = classKey(cluster);
      const from = cluster.metadata.namespace ?? "";
      // After its grant is revoked a Cluster can still be paused, labeled and finalized: no controller follows the reference.
      if (key.namespace !== from)
        return old !== undefined && deepEqual(old.spec.topology, topology)
          ? []
          : [invalid(`${CLASS_REFERENCE}.namespace`, key.namespace, ungrantedDetail(key, from))];
      if (old === undefined) return autoscalerProblems(cluster, undefined);
      const detail = `ClusterClass ${topology.classRef.name} not found`;
      return [invalid("spec.topology.classRef", topology.classRef, detail)];
    }
    return [
      ...classUseProblems(topology, found),
      ...topologyHealthProblems(topology, found.spec),
      ...autoscalerProblems(cluster, found.spec),
      ...topologyVariableProblems(topology, old?.spec.topology, variableDefinitions(found)),
      ...ceilingProblems(cluster, old, found),
      ...(await unfinishedUpgradeProblems(cluster, old, lookup)),
      ...(await rebaseProblems(cluster, old, found, lookup)),
    ];
  },
  warnings: async (cluster, lookup) => {
    if (cluster.spec.topology === undefined) return [];
    const found = await classOf(cluster, lookup);
    if (found !== undefined && variableDefinitions(found) !== undefined) return [];
    const { namespace, name } = classKey(cluster);
    return [
      found === undefined
        ? `Cluster refers to ClusterClass ${namespace}/${name}, but this ClusterClass does not exist. Cluster topology has not been fully validated. The ClusterClass must be created to reconcile the Cluster`
        : `Cluster refers to ClusterClass ${namespace}/${name}, but this ClusterClass hasn't been successfully reconciled. Cluster topology has not been fully validated. Please take a look at the ClusterClass status`,
    ];
  },
};

/** A cluster may move to another class as long as its objects keep their kinds. */
async function rebaseProblems(
  cluster: Cluster,
  old: Cluster | undefined,
  found: ClusterClass,
  lookup: AdmissionLookup,
): Promise<AdmissionProblem[]> {
  if (old?.spec.topology === undefined) return [];
  const from = classKey(old);
  const to = classKey(cluster);
  if (from.namespace === to.namespace && from.name === to.name) return [];
  const before = await classOf(old, lookup);
  if (before !== undefined) return compatibilityProblems(before.spec, found.spec);
  const detail = `ClusterClass ${from.namespace}/${from.name} does not exist, so its compatibility with ${to.namespace}/${to.name} cannot be determined; create it again first`;
  return [forbidden("spec.topology.classRef", detail)];
}

function removalProblems(spec: Cluster["spec"], old: Cluster["spec"] | undefined): AdmissionProblem[] {
  const removed = (["infrastructureRef", "controlPlaneRef"] as const).filter(
    (name) => spec[name] === undefined && old?.[name] !== undefined,
  );
  return [
    ...removed.map((name) => forbidden(`spec.${name}`, "cannot be removed")),
    ...(spec.topology === undefined && old?.topology !== undefined
      ? [forbidden("spec.topology", "cannot be removed from an existing Cluster")]
      : []),
  ];
}

function topologyProblems(topology: Topology): AdmissionProblem[] {
  const path = "spec.topology";
  const { controlPlane, workers } = topology;
  return [
    ...versionProblems(topology.version, `${path}.version`),
    ...metadataProblems(controlPlane?.metadata, `${path}.controlPlane.metadata`),
    ...taintProblems(controlPlane?.taints, `${path}.controlPlane.taints`, false),
    ...healthCheckProblems(controlPlane?.healthCheck, `${path}.controlPlane.healthCheck`),
    ...(workers?.machineDeployments ?? []).flatMap((deployment) => {
      const at = `${path}.workers.machineDeployments[${deployment.name}]`;
      return [
        ...metadataProblems(deployment.metadata, `${at}.metadata`),
        ...taintProblems(deployment.taints, `${at}.taints`, true),
        ...rolloutProblems(deployment.rollout?.strategy, `${at}.rollout.strategy`),
        ...healthCheckProblems(deployment.healthCheck, `${at}.healthCheck`),
      ];
    }),
    ...(workers?.machinePools ?? []).flatMap((pool) => {
      const at = `${path}.workers.machinePools[${pool.name}]`;
      return [
        ...metadataProblems(pool.metadata, `${at}.metadata`),
        ...taintProblems(pool.taints, `${at}.taints`, true),
      ];
    }),
  ];
}

function concurrencyProblems(text: string | undefined): AdmissionProblem[] {
  if (text === undefined || /^\+?0*[1-9]\d{0,8}$/.test(text)) return [];
  return [invalid(`metadata.annotations.${UPGRADE_CONCURRENCY}`, text, "must be a number of at least 1")];
}

function updateProblems({ metadata, spec }: Cluster, old: Cluster | undefined): AdmissionProblem[] {
  if (old === undefined || spec.topology === undefined) return [];
  if (old.spec.topology === undefined)
    return metadata.annotations?.[UNSAFE_CLASS] === undefined
      ? [forbidden("spec.topology.classRef", "classRef cannot be set on an existing Cluster")]
      : [];
  if (metadata.annotations?.[UNSAFE_VERSION] !== undefined) return [];
  const from = parseVersion(old.spec.topology.version);
  const to = parseVersion(spec.topology.version);
  if (from === undefined || to === undefined || compareVersions(to, from) >= 0) return [];
  const detail = `version cannot be decreased from "${old.spec.topology.version}" to "${spec.topology.version}"`;
  return [invalid("spec.topology.version", spec.topology.version, detail)];
}

/** One minor at a time, unless the class says which versions upgrades go through. */
function ceilingProblems(
  { metadata, spec }: Cluster,
  old: Cluster | undefined,
  { spec: ofClass }: ClusterClass,
): AdmissionProblem[] {
  const version = spec.topology?.version ?? "";
  const { kubernetesVersions } = ofClass;
  if (kubernetesVersions !== undefined && !kubernetesVersions.includes(version)) {
    const detail = `version must be one of the versions of the ClusterClass: ${kubernetesVersions.join(", ")}`;
    return [invalid("spec.topology.version", version, detail)];
  }
  if (kubernetesVersions !== undefined || ofClass.upgrade?.external?.generateUpgradePlanExtension !== undefined)
    return [];
  const before = old?.spec.topology?.version ?? "";
  const from = parseVersion(before);
  const to = parseVersion(version);
  if (from === undefined || to === undefined || metadata.annotations?.[UNSAFE_VERSION] !== undefined) return [];
  if (compareVersions(to, { major: from.major, minor: from.minor + 2, patch: 0 }) < 0) return [];
  const detail = `version cannot be increased from "${before}" to "${version}": only one minor version at a time`;
  return [invalid("spec.topology.version", version, detail)];
}

function classKey(cluster: Cluster): ReferenceTarget {
  return namedTarget(cluster, cluster.spec.topology?.classRef ?? {});
}

/** Returns the class of a cluster; undefined for one in another namespace that does not grant its use. */
async function classOf(cluster: Cluster, lookup: AdmissionLookup): Promise<ClusterClass | undefined> {
  const { namespace, name } = classKey(cluster);
  if (name === "") return undefined;
  const found = (await lookup.get(CLASSES, namespace, name)) as ClusterClass | undefined;
  const target = resolveGranted(cluster, { namespace, name }, CLASS_REFERENCE, found);
  return "problem" in target ? undefined : found;
}

/** Classes of workers must exist. */
function classUseProblems({ workers }: Topology, { spec }: ClusterClass): AdmissionProblem[] {
  const uses = [
    { list: "machineDeployments", used: workers?.machineDeployments, there: spec.workers?.machineDeployments },
    { list: "machinePools", used: workers?.machinePools, there: spec.workers?.machinePools },
  ];
  return uses.flatMap(({ list, used, there }) =>
    (used ?? []).flatMap((group, index) => {
      if (there?.some((known) => known.class === group.class) === true) return [];
      const detail = `no class of this name in spec.workers.${list} of the ClusterClass`;
      return [invalid(`spec.topology.workers.${list}[${index}].class`, group.class, detail)];
    }),
  );
}
