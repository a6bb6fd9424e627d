import {
  compareQuantity,
  duplicate,
  type FieldError,
  invalidValue,
  isDns1123Label,
  isObject,
  isQualifiedName,
  notSupported,
  parseQuantity,
  type Quantity,
  required,
} from "@capstan/apimachinery";
import { portErrors } from "../core/port-errors.ts";
import { at, list, obj, text } from "../read.ts";
import { probeErrors } from "./probe-errors.ts";
import { containerSecurityErrors } from "./security-context-errors.ts";

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const STANDARD_RESOURCES = new Set(["cpu", "memory", "ephemeral-storage"]);

/** What a container stands in. */
export interface ContainerSurroundings {
  /** Names of all containers so far. */
  readonly names: Set<string>;
  readonly volumes: ReadonlySet<string>;
  readonly hostNetwork: boolean;
  readonly hostUsers: boolean;
  /** Containers that run on have probes. */
  readonly probes?: boolean;
}

/** What is wrong with the containers of a PodSpec. */
export function containerErrors(
  containers: readonly unknown[],
  path: string,
  around: ContainerSurroundings,
): FieldError[] {
  return containers.flatMap((container, i) => {
    const here = `${path}[${i}]`;
    const errors = commonErrors(container, here, around);
    const name = text(at(container, "name"));
    if (name !== "" && around.names.has(name)) errors.push(duplicate(`${here}.name`, name));
    around.names.add(name);
    if (around.probes === true)
      for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"] as const)
        errors.push(...probeErrors(at(container, probe), `${here}.${probe}`, probe !== "readinessProbe"));
    return errors;
  });
}

function commonErrors(container: unknown, path: string, around: ContainerSurroundings): FieldError[] {
  const errors: FieldError[] = [];
  const name = text(at(container, "name"));
  if (name === "") errors.push(required(`${path}.name`));
  else errors.push(...isDns1123Label(name).map((m) => invalidValue(`${path}.name`, name, m)));
  const image = text(at(container, "image"));
  if (image === "") errors.push(required(`${path}.image`));
  else if (image !== image.trim())
    errors.push(invalidValue(`${path}.image`, image, "must not have leading or trailing whitespace"));
  const choice = (field: string, allowed: readonly string[]): void => {
    const value = text(at(container, field));
    if (!allowed.includes(value)) errors.push(notSupported(`${path}.${field}`, value, allowed));
  };
  choice("terminationMessagePolicy", MESSAGE_POLICIES);
  errors.push(...containerPortErrors(list(at(container, "ports")), `${path}.ports`, around.hostNetwork));
  errors.push(...envErrors(list(at(container, "env")), `${path}.env`));
  errors.push(...mountErrors(list(at(container, "volumeMounts")), `${path}.volumeMounts`, around.volumes));
  choice("imagePullPolicy", PULL_POLICIES);
  errors.push(...resourceErrors(at(container, "resources"), `${path}.resources`));
  const context = at(container, "securityContext");
  errors.push(...containerSecurityErrors(context, `${path}.securityContext`, around.hostUsers));
  return errors;
}

function containerPortErrors(ports: readonly unknown[], path: string, hostNetwork: boolean): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const here = `${path}[${i}]`;
    const errors: FieldError[] = [];
    const name = text(at(port, "name"));
    if (name !== "") {
      const wrong = portNameProblems(name);
      errors.push(...wrong.map((m) => invalidValue(`${here}.name`, name, m)));
      if (wrong.length === 0 && names.has(name)) errors.push(duplicate(`${here}.name`, name));
      names.add(name);
    }
    const value = at(port, "containerPort");
    if (value === undefined || value === 0) errors.push(required(`${here}.containerPort`));
    else errors.push(...portErrors(value, `${here}.containerPort`));
    const host = at(port, "hostPort");
    if (host !== undefined && host !== 0) errors.push(...portErrors(host, `${here}.hostPort`));
    if (hostNetwork && host !== undefined && host !== value)
      errors.push(invalidValue(`${here}.hostPort`, host, "must match `containerPort` when `hostNetwork` is true"));
    const protocol = text(at(port, "protocol"));
    if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${here}.protocol`, protocol, PROTOCOLS));
    return errors;
  });
}

function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name))
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

const SOURCES = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

function envErrors(env: readonly unknown[], path: string): FieldError[] {
  return env.flatMap((variable, i) => {
    const here = `${path}[${i}]`;
    const errors: FieldError[] = [];
    const name = text(at(variable, "name"));
    if (name === "") errors.push(required(`${here}.name`));
    else if (!/^[ -<>-~]+$/.test(name))
      errors.push(
        invalidValue(
          `${here}.name`,
          name,
          "a valid environment variable name must consist only of printable ASCII characters other than '='",
        ),
      );
    const from = at(variable, "valueFrom");
    if (from === undefined) return errors;
    const given = SOURCES.filter((source) => at(from, source) !== undefined);
    if (given.length === 0)
      errors.push(
        invalidValue(
          `${here}.valueFrom`,
          "",
          "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        ),
      );
    else if (text(at(variable, "value")) !== "")
      errors.push(invalidValue(`${here}.valueFrom`, "", "may not be specified when `value` is not empty"));
    else if (given.length > 1)
      errors.push(invalidValue(`${here}.valueFrom`, "", "may not have more than one field specified at a time"));
    return errors;
  });
}

function mountErrors(mounts: readonly unknown[], path: string, volumes: ReadonlySet<string>): FieldError[] {
  const places = new Set<string>();
  return mounts.flatMap((mount, i) => {
    const here = `${path}[${i}]`;
    const errors: FieldError[] = [];
    const name = text(at(mount, "name"));
    const place = text(at(mount, "mountPath"));
    if (name === "") errors.push(required(`${here}.name`));
    if (!volumes.has(name))
      errors.push({ type: "FieldValueNotFound", field: `${here}.name`, badValue: name, detail: "" });
    if (place === "") errors.push(required(`${here}.mountPath`));
    if (places.has(place)) errors.push(invalidValue(`${here}.mountPath`, place, "must be unique"));
    places.add(place);
    const sub = text(at(mount, "subPath"));
    // Upstream forgets which of the mounts it is.
    if (sub.startsWith("/")) errors.push(invalidValue(`${path}.subPath`, sub, "must be a relative path"));
    if (sub.split("/").includes("..")) errors.push(invalidValue(`${path}.subPath`, sub, "must not contain '..'"));
    return errors;
  });
}

function resourceErrors(resources: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const limits = obj(at(resources, "limits"));
  for (const [name, value] of Object.entries(limits)) {
    errors.push(
      ...resourceNameErrors(name, `${path}.limits[${name}]`),
      ...amountErrors(value, `${path}.limits[${name}]`),
    );
  }
  for (const [name, value] of Object.entries(obj(at(resources, "requests")))) {
    errors.push(
      ...resourceNameErrors(name, `${path}.requests[${name}]`),
      ...amountErrors(value, `${path}.requests[${name}]`),
    );
    const asked = quantityOf(value);
    const limit = Object.hasOwn(limits, name) ? quantityOf(limits[name]) : undefined;
    if (asked !== undefined && limit !== undefined && compareQuantity(asked, limit) > 0)
      errors.push(
        invalidValue(
          `${path}.requests`,
          String(value as string | number),
          `must be less than or equal to ${name} limit of ${String(limits[name] as string | number)}`,
        ),
      );
  }
  return errors;
}

/** Containers know three resources by plain name; everything else has a domain. */
function resourceNameErrors(name: string, path: string): FieldError[] {
  const strange = isQualifiedName(name).map((m) => invalidValue(path, name, m));
  if (strange.length > 0) return strange;
  if (name.includes("/") || STANDARD_RESOURCES.has(name) || name.startsWith("hugepages-")) return [];
  return [
    invalidValue(path, name, "must be a standard resource type or fully qualified"),
    invalidValue(path, name, "must be a standard resource for containers"),
  ];
}

function amountErrors(value: unknown, path: string): FieldError[] {
  const amount = quantityOf(value);
  const negative = amount !== undefined && compareQuantity(amount, parseQuantity("0")) < 0;
  return negative ? [invalidValue(path, String(value as string | number), "must be greater than or equal to 0")] : [];
}

/** A quantity of the object; undefined where the decoder let none through. */
export function quantityOf(value: unknown): Quantity | undefined {
  if (isObject(value) || Array.isArray(value)) return undefined;
  try {
    return parseQuantity(String(value as string | number));
  } catch {
    return undefined;
  }
}
