import { ApiError, badRequest, conflict, formatTime, notFound, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi, SubresourceHandler } from "../../types.ts";
import { at, child, list, stringMap, text } from "../read.ts";

const PODS = { group: "", plural: "pods" };

/** POST …/pods/x/binding: how a scheduler assigns a pod to a node. */
export async function bindPod(request: Parameters<SubresourceHandler>[0]): ReturnType<SubresourceHandler> {
  const { api, namespace, name, body, dryRun, nowMs } = request;
  if (body === undefined || text(body.metadata.name) !== name)
    throw badRequest("name in URL does not match name in Binding object");
  await assign(api, namespace, body, { dryRun, nowMs });
  return { status: 201, object: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}

async function assign(
  api: InternalApi,
  namespace: string,
  binding: Unstructured,
  { dryRun, nowMs }: { dryRun: boolean; nowMs: number },
): Promise<void> {
  const { name = "" } = binding.metadata;
  const problem = targetProblem(binding);
  if (problem !== undefined) throw problem;
  const pod = api.get(PODS, namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pods" }, name);
  if (dryRun) return assignPod(structuredClone(pod), binding, nowMs, DRY_RUN_KEYS);
  const change = (newest: Unstructured): void => assignPod(newest, binding, nowMs, STORAGE_KEYS);
  // As upstream: admission sees the creation of the Binding, made by the caller, and not a change of the pod.
  const bound = await api.update(PODS, namespace, name, "binding", change, "binding", { admitted: true });
  if (bound === undefined) throw notFound({ group: "", resource: "pods" }, name);
}

/** As upstream, a target that names nothing is the server's failure, not the client's. */
function targetProblem(binding: Unstructured): ApiError | undefined {
  const kind = text(at(binding, "target", "kind"));
  const message =
    kind !== "" && kind !== "Node"
      ? `target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`
      : text(at(binding, "target", "name")) === ""
        ? "target.name: Required value"
        : undefined;
  if (message === undefined) return undefined;
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 });
}

/** How kube-apiserver names the key of a pod in a conflict: a dry run is refused above the storage, which adds the prefix. */
const STORAGE_KEYS = "/registry/pods";
const DRY_RUN_KEYS = "/pods";

/** The Binding's UID and resourceVersion, where it has them, must be the pod's. */
function checkPreconditions(pod: Unstructured, binding: Unstructured, keys: string): void {
  const { name = "", namespace = "" } = pod.metadata;
  for (const [field, label] of [
    ["uid", "UID"],
    ["resourceVersion", "ResourceVersion"],
  ] as const) {
    const [wanted, actual] = [text(binding.metadata[field]), text(pod.metadata[field])];
    if (wanted === "" || wanted === actual) continue;
    const problem = `Precondition failed: ${label} in precondition: ${wanted}, ${label} in object meta: ${actual}`;
    throw conflict(
      { group: "", resource: "pods" },
      name,
      `StorageError: invalid object, Code: 4, Key: ${keys}/${namespace}/${name}, ResourceVersion: 0, AdditionalErrorMsg: ${problem}`,
    );
  }
}

function assignPod(pod: Unstructured, binding: Unstructured, nowMs: number, keys: string): void {
  checkPreconditions(pod, binding, keys);
  const { name = "" } = pod.metadata;
  const refuse = (why: string): never => {
    throw conflict({ group: "", resource: "pods/binding" }, name, why);
  };
  if (pod.metadata.deletionTimestamp !== undefined)
    refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  const current = text(at(pod, "spec", "nodeName"));
  if (current !== "") refuse(`pod ${name} is already assigned to node ${JSON.stringify(current)}`);
  if (list(at(pod, "spec", "schedulingGates")).length > 0) refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  child(pod, "spec")["nodeName"] = text(at(binding, "target", "name"));
  const annotations = stringMap(binding.metadata.annotations);
  if (Object.keys(annotations).length > 0) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
  const status = child(pod, "status");
  const others = list(status["conditions"]).filter((condition) => at(condition, "type") !== "PodScheduled");
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: formatTime(nowMs),
  };
  status["conditions"] = [...others, scheduled];
}
