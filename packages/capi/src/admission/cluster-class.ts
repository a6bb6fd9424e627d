import type { schema as classSchema } from "../kinds/cluster-class.ts";
import { resolveGranted } from "../references/resolve.ts";
import type { AdmissionKind, AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { isLater } from "./class-versions.ts";
import { compatibilityProblems } from "./cluster-class-compatibility.ts";
import { patchProblems } from "./cluster-class-patches.ts";
import { variableProblems } from "./cluster-class-variables.ts";
import { healthCheckProblems } from "./health-checks.ts";
import { forbidden, invalid, metadataProblems, namingProblems, parseVersion, taintProblems } from "./problems.ts";
import { autoscalerProblems } from "./replicas.ts";
import { rolloutProblems } from "./rollout.ts";
import { lostHealthProblems, type WatchedTopology } from "./topology-health.ts";

type ClusterClass = KindObject<Infer<typeof classSchema>>;
type ClassSpec = ClusterClass["spec"];

const CLUSTERS: AdmissionKind = {
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  namespaced: true,
};

const CLUSTER_NAMES = [".cluster.name", ".random"];

interface UsingCluster {
  metadata: { name?: string; namespace?: string };
  spec?: {
    topology?: {
      classRef?: { name?: string; namespace?: string };
      version?: string;
      workers?: {
        machineDeployments?: { class: string; name: string; replicas?: number }[];
        machinePools?: { class: string }[];
      };
    } & WatchedTopology;
  };
}

/** ClusterClass: upstream's rules. */
export const clusterClassAdmission: KindAdmission<ClusterClass> = {
  validate: ({ spec }, old) => [
    ...controlPlaneProblems(spec),
    ...workerProblems(spec),
    ...templateKindProblems(spec),
    ...variableProblems(spec.variables, old?.spec.variables),
    ...patchProblems(spec),
    ...versionsProblems(spec.kubernetesVersions),
    ...namingProblems(
      spec.infrastructure.naming?.template,
      "spec.infrastructure.naming.template",
      CLUSTER_NAMES,
      false,
    ),
    ...(old === undefined ? [] : compatibilityProblems(old.spec, spec)),
  ],
  check: async ({ metadata, spec }, old, lookup) => {
    if (old === undefined) return [];
    const users = usersOf(metadata, (await lookup.list(CLUSTERS)) as readonly UsingCluster[]);
    return users.flatMap((cluster) => [
      ...usedClassProblems(cluster, spec, old.spec),
      ...autoscalerProblems(cluster, spec),
      ...lostHealthProblems({ name: cluster.metadata.name, topology: cluster.spec?.topology ?? {} }, old.spec, spec),
    ]);
  },
  checkDelete: async ({ metadata }, lookup) => {
    const names = usersOf(metadata, (await lookup.list(CLUSTERS)) as readonly UsingCluster[]).map(
      ({ metadata: { namespace, name } }) => `${namespace}/${name}`,
    );
    if (names.length === 0) return [];
    return [
      forbidden(
        "metadata.name",
        `ClusterClass cannot be deleted because it is used by: ${names.slice(0, 10).join(", ")}`,
      ),
    ];
  },
};

function usersOf(metadata: ClusterClass["metadata"], clusters: readonly UsingCluster[]): UsingCluster[] {
  return clusters.filter(({ metadata: { namespace }, spec }) => {
    const reference = spec?.topology?.classRef;
    if (reference === undefined) return false;
    // A Cluster that was not granted the class does not use it, and must not block changes of it.
    const target = resolveGranted({ metadata: { namespace } }, reference, "spec.topology.classRef", { metadata });
    return !("problem" in target) && target.name === metadata.name && target.namespace === metadata.namespace;
  });
}

function usedClassProblems(
  { metadata, spec }: UsingCluster,
  ofClass: ClassSpec,
  before: ClassSpec,
): AdmissionProblem[] {
  const { workers, version = "" } = spec?.topology ?? {};
  const { kubernetesVersions } = ofClass;
  return [
    ...(["machineDeployments", "machinePools"] as const).flatMap((list) => {
      const namesIn = (one: ClassSpec): string[] => one.workers?.[list]?.map((workers) => workers.class) ?? [];
      const kept = new Set(namesIn(ofClass));
      const removed = namesIn(before).filter((name) => !kept.has(name));
      const gone = removed.filter((name) => workers?.[list]?.some((group) => group.class === name) === true);
      return gone.map((name) =>
        forbidden(
          `spec.workers.${list}`,
          `class "${name}" cannot be deleted because it is used by Cluster "${metadata.name}"`,
        ),
      );
    }),
    ...(kubernetesVersions !== undefined && !kubernetesVersions.includes(version)
      ? [
          forbidden(
            "spec.kubernetesVersions",
            `version ${version} is used by Cluster "${metadata.name}" but is not listed`,
          ),
        ]
      : []),
  ];
}

function controlPlaneProblems({ controlPlane }: ClassSpec): AdmissionProblem[] {
  const path = "spec.controlPlane";
  return [
    ...metadataProblems(controlPlane.metadata, `${path}.metadata`),
    ...taintProblems(controlPlane.taints, `${path}.taints`, false),
    ...healthCheckProblems(controlPlane.healthCheck, `${path}.healthCheck`),
    ...(controlPlane.healthCheck !== undefined && controlPlane.machineInfrastructure === undefined
      ? [forbidden(`${path}.healthCheck`, "can be only set if spec.controlPlane.machineInfrastructure is set")]
      : []),
    ...namingProblems(controlPlane.naming?.template, `${path}.naming.template`, CLUSTER_NAMES, false),
  ];
}

function workerProblems({ workers }: ClassSpec): AdmissionProblem[] {
  return [
    ...(workers?.machineDeployments ?? []).flatMap((deployment) => {
      const at = `spec.workers.machineDeployments[${deployment.class}]`;
      const names = [...CLUSTER_NAMES, ".machineDeployment.topologyName"];
      return [
        ...metadataProblems(deployment.metadata, `${at}.metadata`),
        ...taintProblems(deployment.taints, `${at}.taints`, true),
        ...healthCheckProblems(deployment.healthCheck, `${at}.healthCheck`),
        ...rolloutProblems(deployment.rollout?.strategy, `${at}.rollout.strategy`),
        ...namingProblems(deployment.naming?.template, `${at}.naming.template`, names, false),
      ];
    }),
    ...(workers?.machinePools ?? []).flatMap((pool) => {
      const at = `spec.workers.machinePools[${pool.class}]`;
      const names = [...CLUSTER_NAMES, ".machinePool.topologyName"];
      return [
        ...metadataProblems(pool.metadata, `${at}.metadata`),
        ...taintProblems(pool.taints, `${at}.taints`, true),
        ...namingProblems(pool.naming?.template, `${at}.naming.template`, names, false),
      ];
    }),
  ];
}

/** A class may refer only to templates, because what it refers to is cloned for each cluster. */
function templateKindProblems({ infrastructure, controlPlane, workers }: ClassSpec): AdmissionProblem[] {
  const references = [
    { path: "spec.infrastructure", part: infrastructure },
    { path: "spec.controlPlane", part: controlPlane },
    { path: "spec.controlPlane.machineInfrastructure", part: controlPlane.machineInfrastructure },
    ...(["machineDeployments", "machinePools"] as const).flatMap((list) =>
      (workers?.[list] ?? []).flatMap((one, index) => [
        { path: `spec.workers.${list}[${index}].bootstrap`, part: one.bootstrap },
        { path: `spec.workers.${list}[${index}].infrastructure`, part: one.infrastructure },
      ]),
    ),
  ];
  return references.flatMap(({ path, part }) =>
    part === undefined || /.Template$/.test(part.templateRef.kind)
      ? []
      : [invalid(`${path}.templateRef.kind`, part.templateRef.kind, 'template kind must be of form "<name>Template"')],
  );
}

/** Upgrades go through these versions one after the other: each the same or the next minor. */
function versionsProblems(versions: readonly string[] | undefined): AdmissionProblem[] {
  return (versions ?? []).flatMap((text, index) => {
    const field = `spec.kubernetesVersions[${index}]`;
    const version = parseVersion(text);
    if (version === undefined) return [invalid(field, text, "version must be a valid semantic version")];
    const before = parseVersion(versions?.[index - 1] ?? "");
    if (before === undefined) return [];
    if (!isLater(text, versions?.[index - 1] ?? ""))
      return [invalid(field, text, `version must be greater than ${versions?.[index - 1]}`)];
    return version.major === before.major && version.minor <= before.minor + 1
      ? []
      : [invalid(field, text, `expecting a version with minor ${before.minor} or ${before.minor + 1}`)];
  });
}
