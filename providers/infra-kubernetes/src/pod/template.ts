import { isObject, parseQuantity } from "@capstan/apimachinery";
import { inlineFields } from "../kinds/pod-fields.ts";
import { SCRIPTS_DIR } from "../node/scripts.ts";
import { needProblems } from "./needs.ts";
import type { Container, PodSpec, Volume } from "./shape.ts";

/** Spec of a machine as far as it says what its pod looks like. */
export interface PodSettings {
  readonly [field: string]: unknown;
  readonly podTemplate?: { readonly spec?: Record<string, unknown> };
  readonly runtimeClassName?: string;
}

/** Names that the container of the node may have in a template; the second is what older manifests call it. */
const NODE_CONTAINERS = ["node", "kind"];
const HOST_FIELDS = ["hostNetwork", "hostPID", "hostIPC"];
const IDENTITY_FIELDS = ["serviceAccountName", "serviceAccount"];

/** Returns the PodSpec of a template: what podTemplate.spec does not set is taken from the fields directly in the spec. */
export function templateSpec(settings: PodSettings): PodSpec {
  const { runtimeClassName } = settings;
  return {
    ...inlineFields(settings),
    ...settings.podTemplate?.spec,
    ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
  } as PodSpec;
}

/** Returns the container of the node, if a template has it. */
export function nodeContainer(spec: PodSpec): Container | undefined {
  const containers: unknown = spec.containers;
  const list = (Array.isArray(containers) ? containers : []) as unknown[];
  return list.find((each): each is Container => isObject(each) && NODE_CONTAINERS.includes(String(each["name"])));
}

/** Returns why a template cannot be a machine, or may not: each problem begins with a field. */
export function templateProblems(settings: PodSettings): string[] {
  const spec = templateSpec(settings);
  const shape = shapeProblems(spec);
  return shape.length > 0
    ? shape
    : [
        ...identityProblems(spec),
        ...hostProblems(spec),
        ...nodeProblems(spec),
        ...needProblems(spec, nodeContainer(spec)),
      ];
}

/** Returns why a template may not be a machine in the management cluster, whose own components tenants must not preempt. */
export function sharedProblems(settings: PodSettings): string[] {
  const name = templateSpec(settings)["priorityClassName"];
  return typeof name === "string" && name.startsWith("system-")
    ? [`priorityClassName ${name} is refused: it is for components of the management cluster`]
    : [];
}

/** What later code relies on; everything else is the outer API server's to check. */
function shapeProblems(spec: PodSpec): string[] {
  const problems: string[] = [];
  for (const field of ["containers", "initContainers", "volumes"]) {
    const list = spec[field];
    if (list === undefined) continue;
    if (!Array.isArray(list) || !list.every((item) => isObject(item) && typeof item["name"] === "string"))
      problems.push(`${field} must be a list of objects with a name`);
  }
  for (const container of problems.length > 0 ? [] : containersOf(spec))
    for (const [field, isRight] of CONTAINER_FIELDS)
      if (container[field] !== undefined && !isRight(container[field]))
        problems.push(`containers ${container.name}: ${field} has the wrong type`);
  if (spec.affinity !== undefined && !isObject(spec.affinity)) problems.push("affinity must be an object");
  const terms: unknown =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (!isList(terms) || !(terms as Record<string, unknown>[]).every((term) => isList(term["matchExpressions"] ?? [])))
    problems.push("affinity: nodeSelectorTerms have the wrong type");
  return problems;
}

const isResources = (value: unknown): boolean =>
  isObject(value) && ["requests", "limits"].every((part) => value[part] === undefined || areAmounts(value[part]));
const areAmounts = (value: unknown): boolean => isObject(value) && Object.values(value).every(isAmount);

/** Returns whether something is a quantity. */
export function isAmount(value: unknown): value is string | number {
  if (typeof value !== "string" && typeof value !== "number") return false;
  try {
    parseQuantity(value);
    return true;
  } catch {
    return false;
  }
}

const isSecurity = (value: unknown): boolean => {
  if (!isObject(value)) return false;
  const capabilities = value["capabilities"] ?? {};
  const add = isObject(capabilities) ? (capabilities["add"] ?? []) : undefined;
  return Array.isArray(add) && add.every((name) => typeof name === "string");
};
const areMounts = (value: unknown): boolean =>
  isList(value) && (value as Record<string, unknown>[]).every(({ mountPath }) => typeof mountPath === "string");
const isList = (value: unknown): boolean => Array.isArray(value) && value.every((item) => isObject(item));
const CONTAINER_FIELDS: readonly [string, (value: unknown) => boolean][] = [
  ["env", isList],
  ["ports", isList],
  ["volumeMounts", areMounts],
  ["resources", isResources],
  ["securityContext", isSecurity],
];

/** A machine acts for its own cluster only; with a token it would act for the tenant, or for more, in the outer one. */
function identityProblems(spec: PodSpec): string[] {
  return [
    ...IDENTITY_FIELDS.filter((field) => spec[field] !== undefined && spec[field] !== "default").map(
      (field) => `${field} is refused: a machine has no service account of the outer cluster`,
    ),
    ...(spec["automountServiceAccountToken"] === true
      ? ["automountServiceAccountToken is refused: a machine has no service account token of the outer cluster"]
      : []),
    ...(spec.volumes ?? [])
      .filter(hasToken)
      .map(
        ({ name }) =>
          `volumes ${name}: a service account token or certificate is refused: a machine has none of the outer cluster`,
      ),
  ];
}

function hasToken(volume: Volume): boolean {
  const projected = volume["projected"];
  const sources = isObject(projected) && Array.isArray(projected["sources"]) ? (projected["sources"] as unknown[]) : [];
  // A certificate of the pod stands for its service account just the same.
  return sources.some(
    (source) =>
      isObject(source) && (source["serviceAccountToken"] !== undefined || source["podCertificate"] !== undefined),
  );
}

/** A node in the namespaces of the outer node would fight with that node's own kubelet. */
function hostProblems(spec: PodSpec): string[] {
  return [
    ...HOST_FIELDS.filter((field) => spec[field] === true).map(
      (field) => `${field} is refused: the machine would share it with the outer node, which has a kubelet itself`,
    ),
    ...containersOf(spec)
      .filter(({ ports }) => (ports ?? []).some((port) => "hostPort" in port))
      .map(({ name }) => `containers ${name}: hostPort is refused: use a Service`),
  ];
}

function nodeProblems(spec: PodSpec): string[] {
  const node = nodeContainer(spec);
  const taken = ["command", "args"].filter((field) => node?.[field] !== undefined);
  return [
    ...(spec["ephemeralContainers"] === undefined ? [] : ["ephemeralContainers are refused: a pod starts without any"]),
    ...taken.map((field) => `containers ${node?.name}: ${field} is refused: the node starts with its entry point`),
    ...(spec["restartPolicy"] === undefined || spec["restartPolicy"] === "Never"
      ? []
      : ["restartPolicy must be Never: recreationPolicy says what happens to a lost pod"]),
    ...containersOf(spec)
      .filter(({ volumeMounts }) => (volumeMounts ?? []).some(({ mountPath }) => isScripts(mountPath)))
      .map(({ name }) => `containers ${name}: volumeMounts at ${SCRIPTS_DIR} are refused: the entry point is there`),
    ...(spec.volumes ?? [])
      .filter(({ name }) => name === "capstan")
      .map(() => "volumes capstan is refused: the entry point is in the volume of that name"),
  ];
}

function isScripts(path: unknown): boolean {
  return typeof path === "string" && `${path.replace(/\/+$/, "")}/`.startsWith(`${SCRIPTS_DIR}/`);
}

/** Returns all containers of a PodSpec. */
export function containersOf(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
}
