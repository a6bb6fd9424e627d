import type { Unstructured } from "@capstan/apimachinery";
import type { ResourceRegistry } from "../../types.ts";
import { AGE, column, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { groupPriority } from "../group-priority.ts";
import { at, list, text } from "../read.ts";

/** apiregistration.k8s.io/v1 APIService: read-only, one per served group version, because nothing is aggregated here. */
export const apiService = defineBuiltin({
  group: "apiregistration.k8s.io",
  kind: "APIService",
  categories: ["api-extensions"],
  namespaced: false,
  verbs: ["get", "list", "watch"],
  columns: [
    NAME,
    column("Service", (o) => {
      const service = at(o, "spec", "service");
      return service === undefined ? "Local" : `${text(at(service, "namespace"))}/${text(at(service, "name"))}`;
    }),
    column("Available", (o) => {
      const available = list(at(o, "status", "conditions")).find((c) => at(c, "type") === "Available");
      if (available === undefined) return "Unknown";
      const status = text(at(available, "status"));
      return status === "True" ? status : `${status} (${text(at(available, "reason"))})`;
    }),
    AGE,
  ],
  strategy: { noGeneration: true },
  derived: apiServices,
});

function apiServices(registry: ResourceRegistry): Unstructured[] {
  const versions = new Map<string, { group: string; version: string; builtin: boolean }>();
  for (const { group, version, builtin } of registry.types())
    versions.set(`${version}.${group}`, { group, version, builtin });
  return [...versions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, v]) => describe(name, v));
}

function describe(
  name: string,
  { group, version, builtin }: { group: string; version: string; builtin: boolean },
): Unstructured {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: {
      name,
      uid: name,
      resourceVersion: "1",
      labels: { "kube-aggregator.kubernetes.io/automanaged": builtin ? "onstart" : "true" },
    },
    spec: {
      ...(group === "" ? {} : { group }),
      version,
      groupPriorityMinimum: groupPriority(group),
      versionPriority: builtin ? 15 : 100,
    },
    status: {
      conditions: [
        {
          type: "Available",
          status: "True",
          reason: "Local",
          message: "Local APIServices are always available",
        },
      ],
    },
  };
}
