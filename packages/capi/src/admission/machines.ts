import {
  CLUSTER_NAME_LABEL,
  CONTROL_PLANE_LABEL,
  DEPLOYMENT_NAME_LABEL,
  POOL_NAME_LABEL,
  SET_NAME_LABEL,
} from "../contract/constants.ts";
import type { schema as machineSchema } from "../kinds/machine.ts";
import type { schema as machineDeploymentSchema } from "../kinds/machine-deployment.ts";
import type { schema as machinePoolSchema } from "../kinds/machine-pool.ts";
import type { schema as machineSetSchema } from "../kinds/machine-set.ts";
import type { MachineSpec } from "../kinds/machine-spec.ts";
import type { AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import {
  amountProblems,
  immutable,
  invalid,
  labelNameProblems,
  metadataProblems,
  namingProblems,
  parseSelector,
  required,
  taintProblems,
  versionProblems,
  withPrefix,
} from "./problems.ts";
import { fillReplicas, replicasProblems } from "./replicas.ts";
import { rolloutProblems } from "./rollout.ts";

type Machine = KindObject<Infer<typeof machineSchema>>;
type MachineSet = KindObject<Infer<typeof machineSetSchema>>;
type MachineDeployment = KindObject<Infer<typeof machineDeploymentSchema>>;
type MachinePool = KindObject<Infer<typeof machinePoolSchema>>;

/** Seconds that deleting a Node may take. */
const NODE_DELETION_TIMEOUT_SECONDS = 10;
const NAME_VARIABLES = [".cluster.name", ".machineSet.name", ".random"];
const SKIP_PREFLIGHT_ANNOTATION = "machineset.cluster.x-k8s.io/skip-preflight-checks";
const PREFLIGHT_CHECKS = [
  "All",
  "ControlPlaneIsStable",
  "ControlPlaneVersionSkew",
  "KubeadmVersionSkew",
  "KubernetesVersionSkew",
];

/** Sets a label by which controllers find the object. */
function setClusterLabel(object: KindObject<{ spec: { clusterName: string } }>): void {
  object.metadata.labels = { ...object.metadata.labels, [CLUSTER_NAME_LABEL]: object.spec.clusterName };
}

function defaultVersion(spec: { version?: string }): void {
  if (spec.version !== undefined) spec.version = withPrefix(spec.version);
}

function bootstrapProblems(spec: MachineSpec, path: string): AdmissionProblem[] {
  if (spec.bootstrap.configRef !== undefined || spec.bootstrap.dataSecretName !== undefined) return [];
  const detail = `expected either ${path}.bootstrap.dataSecretName or ${path}.bootstrap.configRef to be populated`;
  return [required(`${path}.bootstrap`, detail)];
}

interface Template {
  clusterName: string;
  template: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: MachineSpec };
}

/** Rules of MachineSets, MachineDeployments and MachinePools. */
function templateProblems(spec: Template, old: Template | undefined): AdmissionProblem[] {
  return [
    ...bootstrapProblems(spec.template.spec, "spec.template.spec"),
    ...(old === undefined ? [] : immutable("spec.clusterName", old.clusterName, spec.clusterName)),
    ...(spec.clusterName === spec.template.spec.clusterName
      ? []
      : [
          invalid(
            "spec.clusterName",
            spec.clusterName,
            "spec.clusterName and spec.template.spec.clusterName must be set to the same value",
          ),
        ]),
    ...versionProblems(spec.template.spec.version, "spec.template.spec.version"),
    ...metadataProblems(spec.template.metadata, "spec.template.metadata"),
  ];
}

function selectorProblems(spec: MachineSet["spec"] | MachineDeployment["spec"]): AdmissionProblem[] {
  const { selector, problems } = parseSelector(spec.selector, "spec.selector");
  if (selector === undefined) return problems;
  const labels = spec.template.metadata?.labels;
  if (selector.matches(labels)) return [];
  return [invalid("spec.template.metadata.labels", labels ?? {}, `must match spec.selector "${selector.toString()}"`)];
}

function preflightProblems({ metadata }: MachineSet | MachineDeployment): AdmissionProblem[] {
  const skip = metadata.annotations?.[SKIP_PREFLIGHT_ANNOTATION];
  if (skip === undefined || skip === "") return [];
  const unknown = skip
    .split(",")
    .map((name) => name.trim())
    .filter((name) => !PREFLIGHT_CHECKS.includes(name));
  if (unknown.length === 0) return [];
  const field = `metadata.annotations.${SKIP_PREFLIGHT_ANNOTATION}`;
  return [invalid(field, unknown, `skipped preflight check(s) must be among: ${PREFLIGHT_CHECKS.join(", ")}`)];
}

/** The label holds the owner's name; hashed names are left to the controller. */
function selectByName(spec: MachineSet["spec"], label: string, name: string): void {
  const { matchLabels, matchExpressions } = spec.selector;
  if (Object.keys(matchLabels ?? {}).length > 0 || (matchExpressions ?? []).length > 0) return;
  spec.selector = { ...spec.selector, matchLabels: { [label]: name } };
  addTemplateLabels(spec, { [label]: name });
}

function addTemplateLabels(spec: Template, labels: Record<string, string>): void {
  spec.template.metadata = { ...spec.template.metadata, labels: { ...spec.template.metadata?.labels, ...labels } };
}

/** Machine: upstream's rules. */
export const machineAdmission: KindAdmission<Machine> = {
  default: (machine) => {
    setClusterLabel(machine);
    defaultVersion(machine.spec);
    machine.spec.deletion = { nodeDeletionTimeoutSeconds: NODE_DELETION_TIMEOUT_SECONDS, ...machine.spec.deletion };
  },
  validate: ({ metadata, spec }, old) => [
    // Machines of pools have no bootstrap configuration of their own.
    ...(metadata.labels?.[POOL_NAME_LABEL] === undefined ? bootstrapProblems(spec, "spec") : []),
    ...(old === undefined ? [] : immutable("spec.clusterName", old.spec.clusterName, spec.clusterName)),
    ...versionProblems(spec.version, "spec.version"),
    ...taintProblems(spec.taints, "spec.taints", metadata.labels?.[CONTROL_PLANE_LABEL] === undefined),
  ],
};

/** MachineSet: upstream's rules. */
export const machineSetAdmission: KindAdmission<MachineSet> = {
  default: (set, old) => {
    setClusterLabel(set);
    fillReplicas(set, old);
    selectByName(set.spec, SET_NAME_LABEL, set.metadata.name ?? "");
    defaultVersion(set.spec.template.spec);
  },
  validate: (set, old) => [
    ...templateProblems(set.spec, old?.spec),
    ...replicasProblems(set),
    ...selectorProblems(set.spec),
    ...preflightProblems(set),
    ...taintProblems(set.spec.template.spec.taints, "spec.template.spec.taints", true),
    ...namingProblems(set.spec.machineNaming?.template, "spec.machineNaming.template", NAME_VARIABLES, true),
  ],
};

/** MachineDeployment: upstream's rules. */
export const machineDeploymentAdmission: KindAdmission<MachineDeployment> = {
  default: (deployment, old) => {
    const { metadata, spec } = deployment;
    setClusterLabel(deployment);
    fillReplicas(deployment, old);
    const strategy = { type: "RollingUpdate" as const, ...spec.rollout?.strategy };
    if (strategy.type === "RollingUpdate")
      strategy.rollingUpdate = { maxSurge: 1, maxUnavailable: 0, ...strategy.rollingUpdate };
    spec.rollout = { ...spec.rollout, strategy };
    selectByName(spec, DEPLOYMENT_NAME_LABEL, metadata.name ?? "");
    const cluster = { [CLUSTER_NAME_LABEL]: spec.clusterName };
    spec.selector = { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, ...cluster } };
    addTemplateLabels(spec, cluster);
    defaultVersion(spec.template.spec);
  },
  validate: (deployment, old) => {
    const { metadata, spec } = deployment;
    return [
      ...labelNameProblems(metadata.name),
      ...templateProblems(spec, old?.spec),
      ...replicasProblems(deployment),
      ...selectorProblems(spec),
      ...preflightProblems(deployment),
      ...rolloutProblems(spec.rollout?.strategy, "spec.rollout.strategy"),
      ...amountProblems(spec.remediation?.maxInFlight, "spec.remediation.maxInFlight"),
      ...taintProblems(spec.template.spec.taints, "spec.template.spec.taints", true),
      ...namingProblems(spec.machineNaming?.template, "spec.machineNaming.template", NAME_VARIABLES, true),
    ];
  },
};

/** MachinePool: upstream's rules. */
export const machinePoolAdmission: KindAdmission<MachinePool> = {
  default: (pool, old) => {
    setClusterLabel(pool);
    fillReplicas(pool, old);
    const { spec } = pool.spec.template;
    spec.deletion = { nodeDeletionTimeoutSeconds: NODE_DELETION_TIMEOUT_SECONDS, ...spec.deletion };
    defaultVersion(spec);
  },
  validate: ({ metadata, spec }, old) => [
    ...templateProblems(spec, old?.spec),
    ...replicasProblems({ metadata, spec }),
    ...((spec.template.spec.taints ?? []).length > 0
      ? [
          invalid(
            "spec.template.spec.taints",
            spec.template.spec.taints,
            "MachinePools cannot set taints yet; set them in the bootstrap configuration",
          ),
        ]
      : []),
  ],
};
