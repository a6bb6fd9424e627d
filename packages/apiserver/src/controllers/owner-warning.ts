import { formatTime, type OwnerReference, randomSuffix, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi } from "../types.ts";
import type { ControllerDeps } from "./deps.ts";

const EVENTS = { group: "", plural: "events" };

/**
 * Warns about a cluster-scoped object that names a namespaced owner. As upstream, such a reference can never be resolved: the object
 * is not collected, and the event (in `default`, as for all cluster-scoped objects) says why.
 */
export function reportInvalidNamespace(
  api: InternalApi,
  deps: ControllerDeps,
  object: Unstructured,
  owner: OwnerReference,
): void {
  const uid = object.metadata.uid ?? "";
  const now = formatTime(deps.clock.now());
  const { name = "" } = object.metadata;
  const event: Unstructured = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${randomSuffix(deps.random, 10)}`, namespace: "default" },
    involvedObject: { apiVersion: object.apiVersion, kind: object.kind, name, uid },
    type: "Warning",
    reason: "OwnerRefInvalidNamespace",
    message: `ownerRef [${owner.apiVersion}/${owner.kind}, namespace: , name: ${owner.name}, uid: ${owner.uid}] does not exist in namespace ""`,
    source: { component: "garbage-collector-controller" },
    reportingComponent: "garbage-collector-controller",
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
  api.create(EVENTS, event, "garbage-collector").catch((error: unknown) => {
    deps.log(`failed to record the warning about the owner of ${name}`, error);
  });
}
