import type { Unstructured } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, POOL_NAME_LABEL, TOPOLOGY_OWNED_LABEL } from "../contract/constants.ts";
import { field } from "../contract/fields.ts";
import type { schema as clusterSchema } from "../kinds/cluster.ts";
import type { AdmissionKind, AdmissionLookup, AdmissionProblem, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { invalid, parseSelector, withPrefix } from "./problems.ts";

type Selector = Parameters<typeof parseSelector>[0];
type Cluster = KindObject<Infer<typeof clusterSchema>>;

/** Annotation on a Cluster that allows changing spec.topology.version while an earlier upgrade is still in progress. */
export const UNSAFE_VERSION = "unsafe.topology.cluster.x-k8s.io/disable-update-version-check";

const core = (kind: string, plural: string): AdmissionKind => ({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind,
  plural,
  namespaced: true,
});
const DEPLOYMENTS = core("MachineDeployment", "machinedeployments");
const POOLS = core("MachinePool", "machinepools");
const MACHINES = core("Machine", "machines");

/** Rejects a change of spec.topology.version until control plane and workers have reached the previous version, as upstream does. */
export async function unfinishedUpgradeProblems(
  cluster: Cluster,
  old: Cluster | undefined,
  lookup: AdmissionLookup,
): Promise<AdmissionProblem[]> {
  const before = old?.spec.topology?.version;
  const version = cluster.spec.topology?.version;
  if (old === undefined || before === undefined || version === before) return [];
  if (cluster.metadata.annotations?.[UNSAFE_VERSION] !== undefined) return [];
  const [controlPlane, deployments, pools] = await Promise.all([
    controlPlaneTrouble(old, before, lookup),
    workersTrouble("MachineDeployments", DEPLOYMENTS, selectedBy, old, before, lookup),
    workersTrouble("MachinePools", POOLS, labelledFor, old, before, lookup),
  ]);
  const troubles = [controlPlane, deployments, pools].filter((trouble) => trouble !== undefined);
  if (troubles.length === 0) return [];
  const cure = `wait for that, or set the annotation ${UNSAFE_VERSION} to change it nevertheless`;
  return [invalid("spec.topology.version", version, `version cannot be changed: ${troubles.join(", ")}; ${cure}`)];
}

async function controlPlaneTrouble(
  { metadata, spec }: Cluster,
  before: string,
  lookup: AdmissionLookup,
): Promise<string | undefined> {
  const reference = spec.controlPlaneRef;
  // Nothing was created with the previous version, so it may still be corrected.
  if (reference === undefined) return undefined;
  const { apiGroup: group, kind, name } = reference;
  const plural = `${kind.toLowerCase()}s`;
  const found = await lookup.get(
    { group, version: "v1beta2", kind, plural, namespaced: true },
    metadata.namespace ?? "",
    name,
  );
  // The version is unknown if the object is missing or its kind does not report it.
  if (found === undefined) return undefined;
  const wanted = field(found, "spec", "version");
  if (!isVersion(wanted, before))
    return `Cluster.spec.topology.version ${before} was not propagated to control plane yet (control plane version ${String(wanted)})`;
  const reached = field(found, "status", "version");
  if (reached === undefined) return "control plane is currently provisioning";
  return isVersion(reached, before) ? undefined : "control plane is still completing a previous upgrade";
}

async function workersTrouble(
  name: string,
  kind: AdmissionKind,
  membersOf: (group: Unstructured) => (machine: Unstructured) => boolean,
  { metadata }: Cluster,
  before: string,
  lookup: AdmissionLookup,
): Promise<string | undefined> {
  const ofCluster = ({ metadata: { labels } }: Unstructured): boolean => labels?.[CLUSTER_NAME_LABEL] === metadata.name;
  const groups = (await lookup.list(kind, metadata.namespace)).filter(
    (group) => ofCluster(group) && group.metadata.labels?.[TOPOLOGY_OWNED_LABEL] !== undefined,
  );
  if (groups.length === 0) return undefined;
  const machines = (await lookup.list(MACHINES, metadata.namespace)).filter(ofCluster);
  const upgrading = groups.filter(
    (group) =>
      !isVersion(field(group, "spec", "template", "spec", "version"), before) ||
      machines.filter(membersOf(group)).some((machine) => !isVersion(field(machine, "spec", "version"), before)),
  );
  if (upgrading.length === 0) return undefined;
  const names = upgrading.map((group) => group.metadata.name).join(", ");
  return `there are still ${name} completing a previous upgrade: [${names}]`;
}

/** Machines of a MachineDeployment are those that its selector finds. */
function selectedBy(deployment: Unstructured): (machine: Unstructured) => boolean {
  const { selector } = parseSelector(field(deployment, "spec", "selector") as Selector, "spec.selector");
  return ({ metadata }) => selector?.matches(metadata.labels) === true;
}

function labelledFor(pool: Unstructured): (machine: Unstructured) => boolean {
  return ({ metadata }) => metadata.labels?.[POOL_NAME_LABEL] === pool.metadata.name;
}

function isVersion(value: unknown, version: string): boolean {
  return typeof value === "string" && withPrefix(value) === withPrefix(version);
}
