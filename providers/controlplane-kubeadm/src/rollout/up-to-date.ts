import { deepEqual } from "@capstan/apimachinery";
import {
  CLONED_FROM_GROUP_KIND_ANNOTATION,
  CLONED_FROM_NAME_ANNOTATION,
  type ContractObject,
  type KubeadmConfigSpec,
  type KubeadmControlPlane,
  type Machine,
} from "@capstan/capi";
import { desiredConfig } from "../desired-config.ts";
import { asJoin, comparableConfig, isInitConfig } from "./comparable-config.ts";

const DAY_MS = 86_400_000;

/** A Machine with the objects that it was built from; an object that is not found never replaces it. */
export interface BuiltMachine {
  readonly machine: Machine;
  readonly config: KubeadmConfigSpec | undefined;
  readonly infrastructure: ContractObject | undefined;
}

/** Returns why a Machine has to be replaced, as its UpToDate condition says it; empty if it is up to date. */
export function rolloutReasons(plane: KubeadmControlPlane, built: BuiltMachine, nowMs: number): string[] {
  const { spec } = plane;
  const { machine, config, infrastructure } = built;
  return [
    ...(expiresSoon(plane, machine, nowMs) ? ["Certificates will expire soon"] : []),
    ...(isOlder(plane, machine, nowMs) ? ["KubeadmControlPlane spec.rolloutAfter expired"] : []),
    ...(machine.spec.version === spec.version
      ? []
      : [`Version ${machine.spec.version ?? ""}, ${spec.version} required`]),
    ...(config === undefined || matchesConfig(plane, config) ? [] : ["KubeadmConfig is not up-to-date"]),
    ...(infrastructure === undefined || isFromTemplate(plane, infrastructure)
      ? []
      : [`${machine.spec.infrastructureRef.kind} is not up-to-date`]),
  ];
}

/** Returns when a Machine that is up to date has to be replaced because time passes; Infinity if never. */
export function rolloutDueMs({ spec }: KubeadmControlPlane, machines: readonly Machine[], nowMs: number): number {
  const days = spec.rollout?.before?.certificatesExpiryDays;
  const after = spec.rollout?.after === undefined ? [] : [Date.parse(spec.rollout.after) + 1000];
  const expiries = days === undefined ? [] : machines.flatMap((each) => expiryMs(each) ?? []);
  return [...after, ...expiries.map((ms) => ms - (days ?? 0) * DAY_MS + 1)]
    .filter((dueMs) => dueMs > nowMs)
    .reduce((a, b) => Math.min(a, b), Infinity);
}

function expiresSoon({ spec }: KubeadmControlPlane, machine: Machine, nowMs: number): boolean {
  const days = spec.rollout?.before?.certificatesExpiryDays;
  const endMs = expiryMs(machine);
  return days !== undefined && endMs !== undefined && nowMs + days * DAY_MS > endMs;
}

function expiryMs({ status }: Machine): number | undefined {
  const end = status?.certificatesExpiryDate;
  return end === undefined ? undefined : Date.parse(end);
}

function isOlder({ spec }: KubeadmControlPlane, { metadata }: Machine, nowMs: number): boolean {
  if (spec.rollout?.after === undefined) return false;
  const afterMs = Date.parse(spec.rollout.after);
  return Date.parse(metadata.creationTimestamp ?? "") < afterMs && afterMs < nowMs;
}

/** The template's own content is immutable, so that its name and kind decide. Adopted Machines do not say where they are from. */
function isFromTemplate({ spec }: KubeadmControlPlane, { metadata }: ContractObject): boolean {
  const name = metadata.annotations?.[CLONED_FROM_NAME_ANNOTATION];
  const kind = metadata.annotations?.[CLONED_FROM_GROUP_KIND_ANNOTATION];
  if (name === undefined || kind === undefined) return true;
  const { infrastructureRef } = spec.machineTemplate.spec;
  return name === infrastructureRef.name && kind === `${infrastructureRef.kind}.${infrastructureRef.apiGroup}`;
}

/**
 * Compares what a Machine was built from with what a joining one would get. The first Machine matches if either its init configuration
 * does, or that configuration taken as one to join with.
 */
function matchesConfig(plane: KubeadmControlPlane, current: KubeadmConfigSpec): boolean {
  const known = compared.get(plane) ?? new WeakMap<KubeadmConfigSpec, boolean>();
  compared.set(plane, known);
  const matches = known.get(current) ?? compareConfig(plane, current);
  known.set(current, matches);
  return matches;
}

/** The cache hands out the same frozen objects until they change: compared once. */
const compared = new WeakMap<KubeadmControlPlane, WeakMap<KubeadmConfigSpec, boolean>>();

function compareConfig(plane: KubeadmControlPlane, current: KubeadmConfigSpec): boolean {
  const same = (a: KubeadmConfigSpec, b: KubeadmConfigSpec): boolean =>
    deepEqual(comparableConfig(a), comparableConfig(b));
  const join = desiredConfig(plane, "join");
  if (!isInitConfig(current)) return same(current, join);
  return same(asJoin(current, join), join) || same(current, desiredConfig(plane, "init"));
}
