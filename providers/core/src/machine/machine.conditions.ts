import { type Condition, findCondition } from "@capstan/apimachinery";
import {
  bootstrapDataSecretName,
  type ConditionInput,
  conditionsOf,
  field,
  infrastructureProvisioned,
  type Machine,
  mirror,
  type Referenced,
  referenceText,
  type SummaryInput,
  summarize,
} from "@capstan/capi";
import semver from "semver";
import { isExpired, rolloutDifferences } from "../machine-deployment/template-diff.ts";
import { nodeConditions } from "./machine.node-conditions.ts";
import type { MachineScope } from "./machine-scope.ts";

/** Everything that the conditions of a Machine are computed from. */
export interface MachineConditionsInput {
  scope: MachineScope;
  paused: ConditionInput;
  /** Set while the Machine is being deleted. */
  deleting: { reason: string; message: string } | undefined;
  /** Error of a call to the workload cluster in this reconcile. */
  nodeProblem: string | undefined;
  nowMs: number;
}

/** Computes all conditions of a Machine except Available, which depends on when Ready last changed. */
export function machineConditions(input: MachineConditionsInput): ConditionInput[] {
  const { scope } = input;
  const deleting: ConditionInput =
    input.deleting === undefined
      ? { type: "Deleting", status: "False", reason: "NotDeleting", message: "" }
      : { type: "Deleting", status: "True", reason: input.deleting.reason, message: input.deleting.message };
  const updating: ConditionInput = { type: "Updating", status: "False", reason: "NotUpdating", message: "" };
  const bootstrap = bootstrapReady(scope);
  const infrastructure = infrastructureReady(scope);
  const node = nodeConditions(input);
  const existing = conditionsOf(scope.machine);
  const health = findCondition(existing, "HealthCheckSucceeded");
  const ready = summarize(
    "Ready",
    [
      { condition: deletingForSummary(deleting, input), negative: true },
      { condition: updating, negative: true },
      { condition: bootstrap },
      { condition: infrastructure },
      { condition: node.healthy },
      ...(health === undefined ? [] : [{ condition: health }]),
      ...(scope.machine.spec.readinessGates ?? []).map((gate) => gateInput(existing, gate)),
    ],
    { good: "Ready", bad: "NotReady", unknown: "ReadyUnknown" },
  );
  const upToDate = upToDateCondition(scope, input.nowMs);
  return [
    ready,
    ...(upToDate === undefined ? [] : [upToDate]),
    updating,
    bootstrap,
    infrastructure,
    node.healthy,
    node.ready,
    deleting,
    input.paused,
  ];
}

const LONG_MS = 15 * 60_000;

/** The summary of a deletion is short, until it takes long: then it says what blocks it. */
function deletingForSummary(deleting: ConditionInput, input: MachineConditionsInput): ConditionInput {
  const since = input.scope.machine.metadata.deletionTimestamp;
  if (deleting.status !== "True" || since === undefined) return deleting;
  const long = input.nowMs - Date.parse(since) > LONG_MS;
  return {
    ...deleting,
    message: long
      ? `Machine deletion in progress since more than 15m, stage: ${deleting.reason}${deleting.message === "" ? "" : `\n${deleting.message}`}`
      : `Machine deletion in progress, stage: ${deleting.reason}`,
  };
}

function gateInput(existing: readonly Condition[], gate: { conditionType: string; polarity?: string }): SummaryInput {
  const found = findCondition(existing, gate.conditionType);
  const missing: ConditionInput = {
    type: gate.conditionType,
    status: "Unknown",
    reason: "NotYetReported",
    message: `Condition ${gate.conditionType} not yet reported`,
  };
  return { condition: found ?? missing, negative: gate.polarity === "Negative" };
}

/** A sentence for a reference that leads nowhere, or undefined when it leads somewhere. */
function referenceProblem(scope: MachineScope, referenced: Referenced, wasThere: boolean): ConditionInput | undefined {
  const type = "";
  if (referenced.state === "unresolved")
    return { type, status: "Unknown", reason: "InvalidConditionReported", message: referenced.message };
  if (referenced.state !== "missing") return undefined;
  const what = referenceText(referenced.reference);
  if (scope.machine.metadata.deletionTimestamp !== undefined && wasThere)
    return { type, status: "False", reason: "ObjectDeleted", message: `${what} has been deleted` };
  return wasThere
    ? {
        type,
        status: "False",
        reason: "ObjectDeleted",
        message: `${what} has been deleted while the Machine still exists`,
      }
    : { type, status: "False", reason: "ObjectDoesNotExist", message: `${what} does not exist` };
}

function clusterMissing(scope: MachineScope): ConditionInput | undefined {
  if (scope.cluster !== undefined || scope.machine.metadata.deletionTimestamp !== undefined) return undefined;
  const message = `Cluster ${scope.machine.spec.clusterName} does not exist; create it or correct spec.clusterName`;
  return { type: "", status: "Unknown", reason: "ObjectDoesNotExist", message };
}

function bootstrapReady(scope: MachineScope): ConditionInput {
  const type = "BootstrapConfigReady";
  const { bootstrap, machine } = scope;
  if (bootstrap.state === "none") return { type, status: "True", reason: "DataSecretProvided", message: "" };
  const created = machine.status?.initialization?.bootstrapDataSecretCreated === true;
  const problem = clusterMissing(scope) ?? referenceProblem(scope, bootstrap, created);
  if (problem !== undefined) return { ...problem, type };
  if (bootstrap.state !== "found") return { type, status: "Unknown", reason: "InternalError", message: "" };
  const ready = created || bootstrapDataSecretName(bootstrap.object, bootstrap.contract) !== undefined;
  const flag = bootstrap.contract === "v1beta2" ? "status.initialization.dataSecretCreated" : "status.ready";
  return mirror(findCondition(conditionsOf(bootstrap.object), "Ready"), type, {
    type,
    status: ready ? "True" : "False",
    reason: ready ? "Ready" : "NotReady",
    message: ready ? "" : `${bootstrap.reference.kind} ${flag} is false`,
  });
}

function infrastructureReady(scope: MachineScope): ConditionInput {
  const type = "InfrastructureReady";
  const { infrastructure, machine } = scope;
  const before = machine.status?.initialization?.infrastructureProvisioned === true;
  const problem = clusterMissing(scope) ?? referenceProblem(scope, infrastructure, before);
  if (problem !== undefined) return { ...problem, type };
  if (infrastructure.state !== "found") return { type, status: "Unknown", reason: "InternalError", message: "" };
  const { object, contract, reference } = infrastructure;
  const provisioned = infrastructureProvisioned(object, contract);
  if (provisioned && typeof field(object, "spec", "providerID") !== "string" && machine.spec.providerID === undefined)
    return {
      type,
      status: "False",
      reason: "NotReady",
      message: `${referenceText(reference)} reports that it is provisioned but has no spec.providerID`,
    };
  const flag = contract === "v1beta2" ? "status.initialization.provisioned" : "status.ready";
  const ready = before || provisioned;
  return mirror(findCondition(conditionsOf(object), "Ready"), type, {
    type,
    status: ready ? "True" : "False",
    reason: ready ? "Ready" : "NotReady",
    message: ready ? "" : `${reference.kind} ${flag} is false`,
  });
}

/** Only for Machines of a MachineDeployment: control planes say it of theirs. */
function upToDateCondition(scope: MachineScope, nowMs: number): ConditionInput | undefined {
  const { machineDeployment, machineSet, machine } = scope;
  if (machineDeployment === undefined || machineSet === undefined) return undefined;
  const type = "UpToDate";
  const differences = rolloutDifferences(machineSet.spec.template, machineDeployment.spec.template);
  if (isExpired(machineDeployment, machineSet.metadata.creationTimestamp, nowMs))
    differences.push("MachineDeployment spec.rollout.after expired");
  if (differences.length > 0)
    return { type, status: "False", reason: "NotUpToDate", message: differences.map((text) => `* ${text}`).join("\n") };
  const good = { type, status: "True", reason: "UpToDate" } as const;
  const kubelet = kubeletVersion(scope, machine);
  const { version } = machine.spec;
  if (kubelet === undefined || version === undefined || kubelet === version) return { ...good, message: "" };
  if (sameMinor(kubelet, version))
    return { ...good, message: `* Node runs ${kubelet}, a different patch release of ${version}` };
  return {
    type,
    status: "False",
    reason: "Updating",
    message: `* Node runs version ${kubelet}, ${version} required`,
  };
}

/** Kubernetes supports every patch release of a minor alike: another one is no reason to replace the Machine. */
function sameMinor(a: string, b: string): boolean {
  const left = semver.parse(a);
  const right = semver.parse(b);
  return left !== null && right !== null && left.major === right.major && left.minor === right.minor;
}

function kubeletVersion(scope: MachineScope, machine: Machine): string | undefined {
  const version = scope.node?.status?.nodeInfo?.["kubeletVersion"] ?? machine.status?.nodeInfo?.["kubeletVersion"];
  return version === "" ? undefined : version;
}
