import { ApiError, deepCopy, deepEqual, isObject, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi, ResourceRegistry } from "../types.ts";
import { CRD_KEY, type CustomResourceDefinition } from "./crd-object.ts";

const MANAGER = "capstan-crds";

/** Creates missing CRDs and brings changed ones up to date; returns when all are served, so that objects can be made at once. */
export async function registerCrds(
  api: InternalApi,
  types: ResourceRegistry,
  crds: readonly Unstructured[],
): Promise<void> {
  await Promise.all(crds.map((crd) => register(api, crd)));
  for (const crd of crds) {
    const { group, names, versions } = (crd as CustomResourceDefinition).spec;
    for (const version of versions) {
      if (version.served && types.find(group, version.name, names.plural) === undefined) throw notServed(api, crd);
    }
  }
}

async function register(api: InternalApi, crd: Unstructured): Promise<void> {
  const name = crd.metadata.name ?? "";
  if (api.get(CRD_KEY, "", name) === undefined) {
    try {
      await api.create(CRD_KEY, crd, MANAGER);
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
    }
  }
  await api.update(CRD_KEY, "", name, MANAGER, (object) => {
    const { labels, annotations } = crd.metadata;
    if (labels !== undefined) object.metadata.labels = { ...object.metadata.labels, ...labels };
    if (annotations !== undefined) object.metadata.annotations = { ...object.metadata.annotations, ...annotations };
    const spec = merged(object["spec"], crd["spec"]);
    if (!deepEqual(spec, object["spec"])) object["spec"] = spec;
  });
}

/** The wanted spec with names the server filled in, so that an unchanged CRD is not written again. */
function merged(current: unknown, wanted: unknown): unknown {
  if (!isObject(current) || !isObject(wanted)) return wanted;
  const spec = deepCopy(wanted);
  spec["conversion"] ??= current["conversion"];
  if (isObject(spec["names"]) && isObject(current["names"])) {
    spec["names"]["singular"] ??= current["names"]["singular"];
    spec["names"]["listKind"] ??= current["names"]["listKind"];
  }
  return spec;
}

function notServed(api: InternalApi, crd: Unstructured): Error {
  const stored = api.get(CRD_KEY, "", crd.metadata.name ?? "") as CustomResourceDefinition | undefined;
  const refused = stored?.status?.conditions?.find((c) => c.type === "NamesAccepted" && c.status !== "True");
  return new Error(
    `CRD ${crd.metadata.name ?? ""} is not served: ${refused?.message ?? "it was changed or deleted meanwhile"}`,
  );
}
