import {
  duplicate,
  type FieldError,
  invalidValue,
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  notSupported,
  required,
} from "@capstan/apimachinery";
import { labelErrors } from "../label-selector-errors.ts";
import { at, list, obj, text } from "../read.ts";
import { affinityErrors } from "./affinity-errors.ts";
import { containerErrors } from "./container-errors.ts";
import { dnsConfigErrors, hostAliasErrors } from "./pod-network-errors.ts";
import { hostUsersErrors, podSecurityErrors } from "./security-context-errors.ts";
import { topologySpreadErrors } from "./topology-spread-errors.ts";
import { volumeErrors } from "./volume-errors.ts";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];
const SYSTEMS = ["linux", "windows"];
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const MAX_INT32 = 2 ** 31 - 1;

/** What is wrong with a PodSpec, in the order of the real server. */
export function podSpecErrors(spec: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = volumeErrors(list(at(spec, "volumes")), `${path}.volumes`);
  errors.push(...volumes.errors);
  const containers = list(at(spec, "containers"));
  const names = new Set<string>();
  const hostNetwork = at(spec, "hostNetwork") === true;
  if (containers.length === 0) errors.push(required(`${path}.containers`));
  const around = { names, volumes: volumes.names, hostNetwork, hostUsers: at(spec, "hostUsers") !== false };
  errors.push(...containerErrors(containers, `${path}.containers`, { ...around, probes: true }));
  errors.push(...containerErrors(list(at(spec, "initContainers")), `${path}.initContainers`, around));
  const choice = (field: string, allowed: readonly string[]): void => {
    const value = text(at(spec, field));
    if (!allowed.includes(value)) errors.push(notSupported(`${path}.${field}`, value, allowed));
  };
  choice("restartPolicy", RESTART_POLICIES);
  choice("dnsPolicy", DNS_POLICIES);
  errors.push(...labelErrors(obj(at(spec, "nodeSelector")), `${path}.nodeSelector`));
  errors.push(...podSecurityErrors(spec, path));
  errors.push(...affinityErrors(at(spec, "affinity"), `${path}.affinity`));
  errors.push(...dnsConfigErrors(spec, path));
  errors.push(...gateErrors(spec, path));
  errors.push(
    ...topologySpreadErrors(list(at(spec, "topologySpreadConstraints")), `${path}.topologySpreadConstraints`),
  );
  errors.push(...hostUsersErrors(spec, path));
  const named = (field: string, rule: (name: string) => string[]): void => {
    const value = text(at(spec, field));
    if (value !== "") errors.push(...rule(value).map((m) => invalidValue(`${path}.${field}`, value, m)));
  };
  named("serviceAccountName", isDns1123Subdomain);
  named("nodeName", isDns1123Subdomain);
  const deadline = at(spec, "activeDeadlineSeconds");
  if (typeof deadline === "number" && (deadline < 1 || deadline > MAX_INT32))
    errors.push(
      invalidValue(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${MAX_INT32}, inclusive`),
    );
  named("hostname", isDns1123Label);
  named("subdomain", isDns1123Label);
  list(at(spec, "tolerations")).forEach((t, i) => errors.push(...tolerationErrors(t, `${path}.tolerations[${i}]`)));
  errors.push(...hostAliasErrors(list(at(spec, "hostAliases")), `${path}.hostAliases`));
  named("priorityClassName", isDns1123Subdomain);
  named("runtimeClassName", isDns1123Subdomain);
  if (at(spec, "preemptionPolicy") !== undefined) choice("preemptionPolicy", PREEMPTION_POLICIES);
  const os = at(spec, "os");
  if (os !== undefined && !SYSTEMS.includes(text(at(os, "name"))))
    errors.push(
      text(at(os, "name")) === "" ? required(`${path}.os.name`) : notSupported(`${path}.os`, at(os, "name"), SYSTEMS),
    );
  return errors;
}

/** Gates are named by who opens them. */
function gateErrors(spec: unknown, path: string): FieldError[] {
  const errors = list(at(spec, "readinessGates")).flatMap((gate, i) => {
    const type = text(at(gate, "conditionType"));
    return isQualifiedName(type).map((m) => invalidValue(`${path}.readinessGates[${i}].conditionType`, type, m));
  });
  const seen = new Set<string>();
  list(at(spec, "schedulingGates")).forEach((gate, i) => {
    const name = text(at(gate, "name"));
    const field = `${path}.schedulingGates[${i}]`;
    errors.push(...isQualifiedName(name).map((m) => invalidValue(field, name, m)));
    if (seen.has(name)) errors.push(duplicate(field, name));
    seen.add(name);
  });
  return errors;
}

function tolerationErrors(toleration: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const key = text(at(toleration, "key"));
  const operator = text(at(toleration, "operator"));
  const effect = text(at(toleration, "effect"));
  if (key !== "") errors.push(...isQualifiedName(key).map((m) => invalidValue(`${path}.key`, key, m)));
  if (key === "" && operator !== "Exists")
    errors.push(
      invalidValue(
        `${path}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  if (at(toleration, "tolerationSeconds") !== undefined && effect !== "NoExecute")
    errors.push(invalidValue(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  if (operator === "Exists" && text(at(toleration, "value")) !== "")
    errors.push(
      invalidValue(`${path}.operator`, at(toleration, "value"), "value must be empty when `operator` is 'Exists'"),
    );
  if (operator !== "" && operator !== "Exists" && operator !== "Equal")
    errors.push(notSupported(`${path}.operator`, operator, ["Equal", "Exists"]));
  if (effect !== "" && !EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, EFFECTS));
  return errors;
}

/** What is wrong with a template's labels and PodSpec. */
export function podTemplateErrors(template: unknown, path: string): FieldError[] {
  return [
    ...labelErrors(obj(at(template, "metadata", "labels")), `${path}.labels`),
    ...podSpecErrors(at(template, "spec"), `${path}.spec`),
  ];
}
