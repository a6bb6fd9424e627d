import {
  duplicate,
  type FieldError,
  invalidValue,
  isDns1123Label,
  notSupported,
  required,
} from "@capstan/apimachinery";
import { labelErrors } from "./label-selector-errors.ts";
import { at, list, obj, text } from "./read.ts";

const POLICIES = ["Always", "OnFailure", "Never"];

/** What is wrong with a PodSpec: the checks that matter for objects nobody runs here. */
export function podSpecErrors(spec: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = volumeErrors(list(at(spec, "volumes")), `${path}.volumes`);
  errors.push(...volumes.errors);
  const containers = list(at(spec, "containers"));
  if (containers.length === 0) errors.push(required(`${path}.containers`));
  const names = new Set<string>();
  errors.push(...containerErrors(containers, `${path}.containers`, names, volumes.names));
  errors.push(...containerErrors(list(at(spec, "initContainers")), `${path}.initContainers`, names, volumes.names));
  const policy = text(at(spec, "restartPolicy"));
  if (!POLICIES.includes(policy)) errors.push(notSupported(`${path}.restartPolicy`, policy, POLICIES));
  errors.push(...labelErrors(obj(at(spec, "nodeSelector")), `${path}.nodeSelector`));
  return errors;
}

/** What is wrong with a template's labels and PodSpec. */
export function podTemplateErrors(template: unknown, path: string): FieldError[] {
  return [
    ...labelErrors(obj(at(template, "metadata", "labels")), `${path}.labels`),
    ...podSpecErrors(at(template, "spec"), `${path}.spec`),
  ];
}

function nameErrors(name: string, field: string, seen: Set<string>): FieldError[] {
  if (name === "") return [required(field)];
  const errors = isDns1123Label(name).map((m) => invalidValue(field, name, m));
  if (errors.length === 0 && seen.has(name)) errors.push(duplicate(field, name));
  seen.add(name);
  return errors;
}

function volumeErrors(volumes: readonly unknown[], path: string): { errors: FieldError[]; names: Set<string> } {
  const names = new Set<string>();
  const errors = volumes.flatMap((v, i) => nameErrors(text(at(v, "name")), `${path}[${i}].name`, names));
  return { errors, names };
}

function containerErrors(
  containers: readonly unknown[],
  path: string,
  names: Set<string>,
  volumes: ReadonlySet<string>,
): FieldError[] {
  return containers.flatMap((container, i) => {
    const here = `${path}[${i}]`;
    const errors = nameErrors(text(at(container, "name")), `${here}.name`, names);
    const image = text(at(container, "image"));
    if (image === "") errors.push(required(`${here}.image`));
    else if (image !== image.trim())
      errors.push(invalidValue(`${here}.image`, image, "must not have leading or trailing whitespace"));
    errors.push(...containerPortErrors(list(at(container, "ports")), `${here}.ports`));
    list(at(container, "env")).forEach((env, j) => {
      if (text(at(env, "name")) === "") errors.push(required(`${here}.env[${j}].name`));
    });
    list(at(container, "volumeMounts")).forEach((mount, j) => {
      const field = `${here}.volumeMounts[${j}]`;
      const name = text(at(mount, "name"));
      if (name === "") errors.push(required(`${field}.name`));
      else if (!volumes.has(name))
        errors.push({ type: "FieldValueNotFound", field: `${field}.name`, badValue: name, detail: "" });
      if (text(at(mount, "mountPath")) === "") errors.push(required(`${field}.mountPath`));
    });
    return errors;
  });
}

function containerPortErrors(ports: readonly unknown[], path: string): FieldError[] {
  return ports.flatMap((port, i) => {
    const value = at(port, "containerPort");
    if (value === undefined || value === 0) return [required(`${path}[${i}].containerPort`)];
    return portErrors(value, `${path}[${i}].containerPort`);
  });
}

/** A port number out of range. */
export function portErrors(port: unknown, field: string): FieldError[] {
  const ok = typeof port === "number" && Number.isInteger(port) && port >= 1 && port <= 65535;
  return ok ? [] : [invalidValue(field, port ?? 0, "must be between 1 and 65535, inclusive")];
}
