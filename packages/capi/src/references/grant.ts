import type { KubeObject } from "@capstan/apimachinery";

/**
 * On an object that others may refer to: the namespaces that may do so, separated by commas; `*` stands for all. An
 * annotation, because the schemas of upstream's kinds have no field for it.
 */
export const USABLE_FROM_ANNOTATION = "capstan.dev/allowed-namespaces";

/** Whether an object lets the objects of a namespace refer to it. Its own namespace always may. */
export function grantsNamespace({ metadata }: Pick<KubeObject, "metadata">, namespace: string): boolean {
  if (namespace === "") return false;
  if (metadata.namespace === namespace) return true;
  const allowed = (metadata.annotations?.[USABLE_FROM_ANNOTATION] ?? "").split(",").map((text) => text.trim());
  return allowed.includes("*") || allowed.includes(namespace);
}
