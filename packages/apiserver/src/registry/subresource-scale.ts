import {
  badRequest,
  conflict,
  deepCopy,
  internalError,
  isObject,
  labelSelectorFromObject,
  type Unstructured,
} from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";
import { applyObject } from "./apply.ts";
import { apiVersionOf, type WriteOutcome, type WriteRequest } from "./core.ts";
import type { FieldValidation } from "./decode.ts";
import { type Change, updateObject } from "./update.ts";

type ScaleSpec = NonNullable<ResourceType["scale"]>;

/** The autoscaling/v1 Scale of an object, built from the paths its CRD names. */
export function scaleOf(scale: ScaleSpec, object: Unstructured): Unstructured {
  const replicas = at(object, scale.specReplicasPath);
  if (typeof replicas !== "number") {
    throw internalError(`the spec replicas field "${scale.specReplicasPath}" does not exist`);
  }
  const selector = selectorText(
    scale.labelSelectorPath === undefined ? undefined : at(object, scale.labelSelectorPath),
  );
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const status: Record<string, unknown> = { replicas: numberOr(at(object, scale.statusReplicasPath), 0) };
  if (selector !== "") status["selector"] = selector;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: pick({ name, namespace, uid, resourceVersion, creationTimestamp }),
    spec: replicas === 0 ? {} : { replicas },
    status,
  };
}

/** Custom resources keep the text of a selector, built-in kinds the selector itself. */
function selectorText(selector: unknown): string {
  if (typeof selector === "string") return selector;
  return isObject(selector) ? labelSelectorFromObject(selector).toString() : "";
}

/** Changes only the replicas: `change` sees the current Scale and returns the wanted one. */
export async function updateScale(
  write: WriteRequest,
  scale: ScaleSpec,
  change: (current: Unstructured) => unknown,
): Promise<WriteOutcome> {
  const outcome = await updateObject(write, (old): Change => {
    const wanted = change(scaleOf(scale, old));
    if (!isObject(wanted)) throw badRequest("the body is not a Scale");
    const replicas = replicasOf(wanted) ?? 0;
    const draft = deepCopy(old);
    const metadata = isObject(wanted["metadata"]) ? wanted["metadata"] : {};
    const version = metadata["resourceVersion"];
    if (typeof version === "string" && version !== "") draft.metadata.resourceVersion = version;
    checkUid(write, draft, metadata["uid"]);
    setAt(draft, scale.specReplicasPath, replicas);
    return { draft, owned: false };
  });
  return { status: outcome.status, object: scaleOf(scale, outcome.object) };
}

/** Applies a Scale as a configuration of the replicas alone: who else owns them is a conflict unless the request forces it. */
export async function applyScale(
  write: WriteRequest,
  scale: ScaleSpec,
  applied: Record<string, unknown>,
  validation: FieldValidation,
): Promise<WriteOutcome> {
  const { type } = write;
  const metadata = isObject(applied["metadata"]) ? applied["metadata"] : {};
  const { name, uid, resourceVersion } = metadata as Unstructured["metadata"];
  const config: Unstructured = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: pick({ name, uid, resourceVersion }),
  };
  const replicas = replicasOf(applied);
  if (replicas !== undefined) setAt(config, scale.specReplicasPath, replicas);
  const outcome = await applyObject(write, config, validation);
  return { status: outcome.status, object: scaleOf(scale, outcome.object) };
}

function replicasOf(scale: Record<string, unknown>): number | undefined {
  const { replicas } = isObject(scale["spec"]) ? scale["spec"] : {};
  if (replicas === undefined || replicas === null) return undefined;
  if (typeof replicas === "number" && Number.isInteger(replicas)) return replicas;
  throw badRequest(
    `json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
  );
}

/** The UID of a Scale must be its object's: for a PUT as in any update, for a patch only where the kind is built in (as upstream). */
function checkUid(write: WriteRequest, draft: Unstructured, asked: unknown): void {
  const { uid = "" } = draft.metadata;
  if (typeof asked !== "string" || asked === "" || asked === uid) return;
  if (write.attributes.verb !== "patch") draft.metadata.uid = asked;
  else if (write.type.builtin)
    throw conflict(
      { group: write.type.group, resource: `${write.type.plural}/scale` },
      write.name,
      `Precondition failed: UID in precondition: ${asked}, UID in object meta: ${uid}`,
    );
}

/** Paths of scale subresources are plain: `.spec.replicas`, no lists. */
function segments(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

function at(object: Record<string, unknown>, path: string): unknown {
  let value: unknown = object;
  for (const name of segments(path)) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function setAt(object: Record<string, unknown>, path: string, value: unknown): void {
  const names = segments(path);
  let parent = object;
  for (const name of names.slice(0, -1)) {
    const child = parent[name];
    if (isObject(child)) parent = child;
    else {
      const made: Record<string, unknown> = {};
      parent[name] = made;
      parent = made;
    }
  }
  parent[names[names.length - 1] ?? ""] = value;
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === "number" ? value : fallback;
}

function pick<T extends Record<string, unknown>>(fields: T): Unstructured["metadata"] {
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)) as Unstructured["metadata"];
}
