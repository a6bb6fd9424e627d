import { templateProblem } from "../go-template/check.ts";
import type { schema as classSchema } from "../kinds/cluster-class.ts";
import type { AdmissionProblem, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { invalid, required } from "./problems.ts";

type ClassSpec = KindObject<Infer<typeof classSchema>>["spec"];
type Patch = NonNullable<ClassSpec["patches"]>[number];
type Definition = NonNullable<Patch["definitions"]>[number];
type JsonPatch = Definition["jsonPatches"][number];
type Selector = Definition["selector"];

interface Reference {
  apiVersion: string;
  kind: string;
}

/** Variables that every class has. */
const BUILTIN = "builtin";
const METADATA = ["metadata.labels", "metadata.annotations"];
const GROUP = ["class", "name", "replicas", "topologyName", "version", ...METADATA];
const GROUP_REFS = ["bootstrap.configRef.name", "infrastructureRef.name"];
const BUILTINS: Record<string, readonly string[]> = {
  cluster: [
    "name",
    "namespace",
    "uid",
    ...METADATA,
    "topology",
    "topology.version",
    "topology.class",
    "topology.classNamespace",
    "topology.classRef.name",
    "topology.classRef.namespace",
    "network",
    "network.serviceDomain",
    "network.services",
    "network.pods",
  ],
  controlPlane: ["name", "replicas", "version", ...METADATA, "machineTemplate.infrastructureRef.name"],
  machineDeployment: [...GROUP, ...GROUP_REFS],
  machinePool: [...GROUP, ...GROUP_REFS],
};
const RESERVED_PATCH_NAME = "inline";
const CLASS_NAME = /^(\*|\*?[a-zA-Z0-9]([-a-zA-Z0-9_.]*[a-zA-Z0-9])?\*?|[a-zA-Z0-9]([-a-zA-Z0-9_.]*)\*)$/;

/** Patches of a class: names, selectors that match something, operations that can work. */
export function patchProblems(spec: ClassSpec): AdmissionProblem[] {
  const seen = new Set<string>();
  return (spec.patches ?? []).flatMap((patch, index) => {
    const path = `spec.patches[${index}]`;
    const twice = seen.has(patch.name);
    seen.add(patch.name);
    return [
      ...(twice ? [invalid(`${path}.name`, patch.name, "patch names must be unique")] : []),
      ...(patch.name === RESERVED_PATCH_NAME
        ? [invalid(`${path}.name`, patch.name, `"${RESERVED_PATCH_NAME}" can not be used as the name of a patch`)]
        : []),
      ...sourceProblems(patch, path),
      ...templateProblems(patch.enabledIf, `${path}.enabledIf`),
      ...(patch.definitions ?? []).flatMap((definition, i) =>
        definitionProblems(definition, spec, `${path}.definitions[${i}]`),
      ),
    ];
  });
}

function sourceProblems({ definitions, external }: Patch, path: string): AdmissionProblem[] {
  if (definitions === undefined && external === undefined)
    return [required(path, "one of definitions or external must be defined")];
  if (definitions !== undefined && external !== undefined)
    return [invalid(path, "definitions and external", "only one of definitions or external can be defined")];
  if (external === undefined) return [];
  const { generatePatchesExtension, validateTopologyExtension } = external;
  return generatePatchesExtension === undefined && validateTopologyExtension === undefined
    ? [
        invalid(
          `${path}.external`,
          external,
          "one of validateTopologyExtension and generatePatchesExtension must be defined",
        ),
      ]
    : [];
}

function definitionProblems(definition: Definition, spec: ClassSpec, path: string): AdmissionProblem[] {
  return [
    ...selectorProblems(definition.selector, spec, `${path}.selector`),
    ...definition.jsonPatches.flatMap((jsonPatch, i) =>
      jsonPatchProblems(jsonPatch, spec, `${path}.jsonPatches[${i}]`),
    ),
  ];
}

function selectorProblems(selector: Selector, spec: ClassSpec, path: string): AdmissionProblem[] {
  const { controlPlane, infrastructureCluster, machineDeploymentClass, machinePoolClass } = selector.matchResources;
  const matches = (reference: Reference | undefined): boolean =>
    reference?.kind === selector.kind && reference.apiVersion === selector.apiVersion;
  const at = `${path}.matchResources`;
  if (
    controlPlane !== true &&
    infrastructureCluster !== true &&
    (machineDeploymentClass?.names ?? []).length === 0 &&
    (machinePoolClass?.names ?? []).length === 0
  )
    return [invalid(path, selector.kind, "no selector enabled")];
  const ofControlPlane = [spec.controlPlane.templateRef, spec.controlPlane.machineInfrastructure?.templateRef];
  return [
    ...(infrastructureCluster === true && !matches(spec.infrastructure.templateRef)
      ? [invalid(`${at}.infrastructureCluster`, true, "selector is enabled but does not match the infrastructure ref")]
      : []),
    ...(controlPlane === true && !ofControlPlane.some(matches)
      ? [
          invalid(
            `${at}.controlPlane`,
            true,
            "selector is enabled but matches neither the controlPlane ref nor the controlPlane machineInfrastructure ref",
          ),
        ]
      : []),
    ...classProblems(
      machineDeploymentClass?.names,
      spec.workers?.machineDeployments,
      matches,
      `${at}.machineDeploymentClass`,
    ),
    ...classProblems(machinePoolClass?.names, spec.workers?.machinePools, matches, `${at}.machinePoolClass`),
  ];
}

interface WorkerClass {
  class: string;
  bootstrap: { templateRef: Reference };
  infrastructure: { templateRef: Reference };
}

function classProblems(
  names: readonly string[] | undefined,
  classes: readonly WorkerClass[] | undefined,
  matches: (reference: Reference) => boolean,
  path: string,
): AdmissionProblem[] {
  return (names ?? []).flatMap((name, index) => {
    const field = `${path}.names[${index}]`;
    if (!CLASS_NAME.test(name) || name.split("*").length > 2)
      return [invalid(field, name, 'selector must be a class name with at most one "*" at its beginning or end')];
    const found = (classes ?? []).some(
      (worker) =>
        matchesName(name, worker.class) &&
        (matches(worker.bootstrap.templateRef) || matches(worker.infrastructure.templateRef)),
    );
    const detail = "selector is enabled but matches neither the bootstrap ref nor the infrastructure ref of a class";
    return found ? [] : [invalid(field, name, detail)];
  });
}

function matchesName(pattern: string, name: string): boolean {
  if (pattern === "*") return true;
  if (pattern.startsWith("*")) return name.endsWith(pattern.slice(1));
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

function jsonPatchProblems(patch: JsonPatch, spec: ClassSpec, path: string): AdmissionProblem[] {
  return [...pathProblems(patch, path), ...valueProblems(patch, spec, path)];
}

function pathProblems({ op, path: pointer }: JsonPatch, path: string): AdmissionProblem[] {
  if (!/^\/(spec|metadata)(\/|$)/.test(pointer))
    return [invalid(`${path}.path`, pointer, 'jsonPatch path must start with "/spec" or "/metadata"')];
  const index = pointer.split("/").find((step) => /^(\d+|-)$/.test(step));
  if (index === undefined) return [];
  if (op !== "add")
    return [invalid(`${path}.path`, pointer, `elements in arrays can not be accessed in a ${op} operation`)];
  return index === "0" || index === "-"
    ? []
    : [invalid(`${path}.path`, pointer, 'arrays can only be accessed using "0" (prepend) or "-" (append)')];
}

function valueProblems({ op, value, valueFrom }: JsonPatch, spec: ClassSpec, path: string): AdmissionProblem[] {
  if (op === "remove") return [];
  if (value === undefined && valueFrom === undefined)
    return [invalid(path, op, "jsonPatch must define one of value or valueFrom")];
  if (value !== undefined && valueFrom !== undefined)
    return [invalid(path, op, "jsonPatch can not define both value and valueFrom")];
  if (valueFrom === undefined) return [];
  const { variable, template } = valueFrom;
  if (variable === undefined && template === undefined)
    return [invalid(`${path}.valueFrom`, {}, "valueFrom must set either template or variable")];
  if (variable !== undefined && template !== undefined)
    return [invalid(`${path}.valueFrom`, variable, "valueFrom can not set both template and variable")];
  if (template !== undefined) return templateProblems(template, `${path}.valueFrom.template`);
  const name = variable?.split(/[.[]/)[0];
  if (name === undefined || variable === BUILTIN || spec.variables?.some((known) => known.name === name) === true)
    return [];
  if (name === BUILTIN)
    return isBuiltin(variable)
      ? []
      : [invalid(`${path}.valueFrom.variable`, variable, "not a defined builtin variable")];
  // Variables may also come from an extension, which is asked later.
  if (spec.patches?.some(({ external }) => external?.discoverVariablesExtension !== undefined) === true) return [];
  return [invalid(`${path}.valueFrom.variable`, variable, `variable with name ${name} cannot be found`)];
}

/** Only whole parts can be named: `builtin.cluster`, `builtin.cluster.name`. */
function isBuiltin(variable: string | undefined): boolean {
  const [, part = "", ...path] = variable?.split(".") ?? [];
  const known = Object.hasOwn(BUILTINS, part) ? BUILTINS[part] : undefined;
  return known !== undefined && (path.length === 0 || known.includes(path.join(".")));
}

function templateProblems(template: string | undefined, field: string): AdmissionProblem[] {
  const problem = template === undefined ? undefined : templateProblem(template);
  return problem === undefined ? [] : [invalid(field, template, `template can not be parsed: ${problem}`)];
}
