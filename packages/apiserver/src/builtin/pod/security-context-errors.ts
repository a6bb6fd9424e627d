import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  isObject,
  notSupported,
  required,
  tooLong,
} from "@capstan/apimachinery";
import { at, list, text, texts } from "../read.ts";

const MAX_ID = 2 ** 31 - 1;
const MAX_PROFILE = 4095;
const MAX_SYSCTL = 253;
const SYSCTL = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const SYSCTL_PATTERN = new RegExp(SYSCTL);
const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];
/** What a pod may choose from, field by field. */
const CHOICES = {
  fsGroupChangePolicy: ["Always", "OnRootMismatch"],
  supplementalGroupsPolicy: ["Merge", "Strict"],
  seLinuxChangePolicy: ["MountOption", "Recursive"],
} as const;

/** What is wrong with the security context of a whole PodSpec. */
export function podSecurityErrors(spec: unknown, path: string): FieldError[] {
  const context = at(spec, "securityContext");
  const here = `${path}.securityContext`;
  const errors = ["fsGroup", "runAsUser", "runAsGroup"].flatMap((field) =>
    idErrors(at(context, field), `${here}.${field}`),
  );
  list(at(context, "supplementalGroups")).forEach((id, i) => {
    errors.push(...idErrors(id, `${here}.supplementalGroups[${i}]`));
  });
  errors.push(...sysctlErrors(spec, `${here}.sysctls`));
  errors.push(...choiceErrors(context, "fsGroupChangePolicy", here));
  errors.push(...seccompErrors(at(context, "seccompProfile"), `${here}.seccompProfile`));
  errors.push(...appArmorErrors(at(context, "appArmorProfile"), `${here}.appArmorProfile`));
  errors.push(...choiceErrors(context, "supplementalGroupsPolicy", here));
  errors.push(...choiceErrors(context, "seLinuxChangePolicy", here));
  if (at(spec, "shareProcessNamespace") === true && at(spec, "hostPID") === true)
    errors.push(
      invalidValue(`${path}.shareProcessNamespace`, true, "ShareProcessNamespace and HostPID cannot both be enabled"),
    );
  return errors;
}

/** What is wrong with the security context of a container; `hostUsers`: the pod has no user namespace of its own. */
export function containerSecurityErrors(context: unknown, path: string, hostUsers: boolean): FieldError[] {
  if (!isObject(context)) return [];
  const errors = ["runAsUser", "runAsGroup"].flatMap((field) => idErrors(context[field], `${path}.${field}`));
  const { procMount } = context;
  if (procMount !== undefined && procMount !== "Default" && procMount !== "Unmasked")
    errors.push(notSupported(`${path}.procMount`, procMount, ["Default", "Unmasked"]));
  if (hostUsers && procMount === "Unmasked")
    errors.push(invalidValue(`${path}.procMount`, procMount, "`hostUsers` must be false to use `Unmasked`"));
  errors.push(...seccompErrors(context["seccompProfile"], `${path}.seccompProfile`));
  if (context["allowPrivilegeEscalation"] === false) {
    const refuse = (other: string): void => {
      errors.push(invalidValue(path, context, `cannot set \`allowPrivilegeEscalation\` to false and ${other}`));
    };
    if (context["privileged"] === true) refuse("`privileged` to true");
    for (const added of texts(at(context, "capabilities", "add")))
      if (added === "CAP_SYS_ADMIN") refuse("`capabilities.Add` CAP_SYS_ADMIN");
  }
  errors.push(...appArmorErrors(context["appArmorProfile"], `${path}.appArmorProfile`));
  return errors;
}

/** A user namespace of its own does not go with the host's other namespaces. */
export function hostUsersErrors(spec: unknown, path: string): FieldError[] {
  if (at(spec, "hostUsers") !== false) return [];
  const names = { hostNetwork: "hostNetwork", hostPID: "HostPID", hostIPC: "HostIPC" };
  return Object.entries(names)
    .filter(([field]) => at(spec, field) === true)
    .map(([, name]) => forbiddenField(`${path}.${name}`, "when `hostUsers` is false"));
}

function idErrors(id: unknown, field: string): FieldError[] {
  if (typeof id !== "number" || (id >= 0 && id <= MAX_ID)) return [];
  return [invalidValue(field, id, `must be between 0 and ${MAX_ID}, inclusive`)];
}

function choiceErrors(context: unknown, field: keyof typeof CHOICES, path: string): FieldError[] {
  const value = at(context, field);
  const allowed: readonly string[] = CHOICES[field];
  return value === undefined || allowed.includes(text(value)) ? [] : [notSupported(`${path}.${field}`, value, allowed)];
}

function seccompErrors(profile: unknown, path: string): FieldError[] {
  if (!isObject(profile)) return [];
  const errors: FieldError[] = [];
  const type = text(profile["type"]);
  const file = profile["localhostProfile"];
  if (type === "") errors.push(required(`${path}.type`, "type is required when seccompProfile is set"));
  else if (!PROFILE_TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, PROFILE_TYPES));
  const field = `${path}.localhostProfile`;
  if (type !== "Localhost") {
    if (file !== undefined) errors.push(invalidValue(field, profile, "can only be set when seccomp type is Localhost"));
    return errors;
  }
  if (file === undefined) return [...errors, required(field, "must be set when seccomp type is Localhost")];
  if (text(file).startsWith("/")) errors.push(invalidValue(field, file, "must be a relative path"));
  if (text(file).split("/").includes("..")) errors.push(invalidValue(field, file, "must not contain '..'"));
  return errors;
}

function appArmorErrors(profile: unknown, path: string): FieldError[] {
  if (!isObject(profile)) return [];
  const type = text(profile["type"]);
  const name = profile["localhostProfile"];
  const field = `${path}.localhostProfile`;
  if (type === "") return [required(`${path}.type`, "type is required when appArmorProfile is set")];
  if (!PROFILE_TYPES.includes(type)) return [notSupported(`${path}.type`, type, PROFILE_TYPES)];
  if (type !== "Localhost")
    return name === undefined ? [] : [invalidValue(field, name, "can only be set when AppArmor type is Localhost")];
  if (name === undefined || name === "") return [required(field, "must be set when AppArmor type is Localhost")];
  const errors: FieldError[] = [];
  if (text(name).trim() !== name) errors.push(invalidValue(field, name, "must not be padded with whitespace"));
  if (Buffer.byteLength(text(name)) > MAX_PROFILE) errors.push(tooLong(field, MAX_PROFILE));
  return errors;
}

function sysctlErrors(spec: unknown, path: string): FieldError[] {
  const names = new Set<string>();
  return list(at(spec, "securityContext", "sysctls")).flatMap((sysctl, i) => {
    const name = text(at(sysctl, "name"));
    const field = `${path}[${i}].name`;
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(field));
    else if (name.length > MAX_SYSCTL || !SYSCTL_PATTERN.test(name))
      errors.push(invalidValue(field, name, `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL}`));
    else if (names.has(name)) errors.push(duplicate(field, name));
    names.add(name);
    for (const [flag, owns] of [["hostNetwork", isNetwork] as const, ["hostIPC", isIpc] as const])
      if (at(spec, flag) === true && owns(name))
        errors.push(invalidValue(field, name, `may not be specified when '${flag}' is true`));
    return errors;
  });
}

/** Sysctls are written with dots or slashes. */
function isNetwork(sysctl: string): boolean {
  return /^net[./]/.test(sysctl);
}

function isIpc(sysctl: string): boolean {
  return /^(kernel[./](shm|msg|sem)|fs[./]mqueue[./])/.test(sysctl);
}
