import { ApiError, badRequest, conflict, formatTime, notFound, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi, SubresourceHandler } from "../types.ts";
import { at, child, list, stringMap, text } from "./read.ts";

const PODS = { group: "", plural: "pods" };

/** POST …/pods/x/binding: what a scheduler says when it has chosen a node. */
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
  if (dryRun) assignPod(structuredClone(pod), binding, nowMs);
  else await api.update(PODS, namespace, name, "binding", (p) => assignPod(p, binding, nowMs), "binding");
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

function assignPod(pod: Unstructured, binding: Unstructured, nowMs: number): void {
  const { name = "" } = pod.metadata;
  const refuse = (why: string): never => {
    throw conflict({ group: "", resource: "pods/binding" }, name, why);
  };
  if (pod.metadata.deletionTimestamp !== undefined)
    refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  const current = text(at(pod, "spec", "nodeName"));
  if (current !== "") refuse(`pod ${name} is already assigned to node ${JSON.stringify(current)}`);
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
