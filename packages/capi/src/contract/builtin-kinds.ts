import type { KubeObject, Unstructured } from "@capstan/apimachinery";
import { kindRef } from "@capstan/runtime";

/** A core/v1 Secret; `data` is base64-encoded. */
export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}
export const Secret = kindRef<Secret>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
});

/** A core/v1 ConfigMap, without binaryData. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
export const ConfigMap = kindRef<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

/** The part of an apiextensions.k8s.io/v1 CustomResourceDefinition that reading objects by contract needs. */
export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    scope: string;
    names: { kind: string; plural: string };
    versions: { name: string; served: boolean; schema?: { openAPIV3Schema?: Record<string, unknown> } }[];
  };
}
export const CustomResourceDefinition = kindRef<CustomResourceDefinition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});

/** Decodes one key of a Secret as UTF-8; returns undefined when it is absent or empty. */
export function secretText(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined || value === "" ? undefined : Buffer.from(value, "base64").toString("utf8");
}

/** An object of a provider's kind, of which only the fields of the Cluster API contract are known. */
export type ContractObject = Unstructured & { spec?: Record<string, unknown>; status?: Record<string, unknown> };
