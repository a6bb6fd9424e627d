import type { AdmissionPlugin, ApiServer, Converter } from "@capstan/apiserver";
import {
  type AdmissionLookup,
  type ApiVersionLookup,
  kindAdmissionPlugins,
  kindConverters,
  type ServedKind,
} from "@capstan/capi";

type Api = Pick<ApiServer, "internal" | "registry">;

/**
 * Returns the admission plugins and converters with which the embedded API behaves like a real Kubernetes with our webhooks. `api` returns
 * undefined until the API is running.
 */
export function kindRules(
  kinds: readonly ServedKind[],
  api: () => Api | undefined,
): { admission: AdmissionPlugin[]; converters: Converter[] } {
  const apiVersionOf = versionLookup(api);
  return {
    admission: kindAdmissionPlugins(kinds, { lookup: lookupIn(api), apiVersionOf }),
    converters: kindConverters(kinds, apiVersionOf),
  };
}

function lookupIn(api: () => Api | undefined): AdmissionLookup {
  return {
    get: async (kind, namespace, name) => api()?.internal.get(kind, namespace, name),
    list: async (kind, namespace) => api()?.internal.list(kind, namespace) ?? [],
  };
}

/** References of v1beta1 name a version: v1beta1 if the kind has one, else what the API prefers. */
function versionLookup(api: () => Api | undefined): ApiVersionLookup {
  const known = new Map<string, string>();
  let generation = -1;
  return (group, kind) => {
    const registry = api()?.registry;
    if (registry === undefined) return `${group}/v1beta1`;
    if (registry.generation() !== generation) {
      generation = registry.generation();
      known.clear();
    }
    const key = `${kind}.${group}`;
    let version = known.get(key);
    if (version === undefined) {
      const served = registry.types().filter((type) => type.group === group && type.kind === kind);
      const plural = served[0]?.plural ?? "";
      const old = served.some((type) => type.version === "v1beta1");
      version = old ? "v1beta1" : (registry.preferred(group, plural)?.version ?? "v1beta1");
      known.set(key, version);
    }
    return `${group}/${version}`;
  };
}
