import { isReason, type KubeObject } from "@capstan/apimachinery";
import type { Outcome } from "@capstan/capi";
import { createIfAbsent, kindRef } from "@capstan/runtime";
import type { Place } from "./backend.ts";
import { podSecurity } from "./host-outcome.ts";

const Namespace = kindRef<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});
const ENFORCE = "pod-security.kubernetes.io/enforce";

/**
 * Checks that a namespace accepts a machine's pod, and creates it in an outer cluster of the tenant's own. In the management cluster
 * privileged pods need the label: whoever may create machines gets the nodes of that cluster with them, so an administrator has to
 * agree.
 */
export async function checkNamespace(
  { host, secretName, signal }: Place,
  name: string,
  privileged: boolean,
): Promise<Outcome | undefined> {
  const namespace = await read();
  if (namespace === "hidden") return undefined;
  if (namespace === undefined && secretName !== undefined) {
    const labels = { [ENFORCE]: "privileged" };
    await createIfAbsent(host.client, { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } }, {}, signal);
    return undefined;
  }
  const level = namespace?.metadata.labels?.[ENFORCE];
  if (!privileged || level === "privileged") return undefined;
  if (level !== undefined)
    return podSecurity(
      name,
      `Namespace ${name} of the outer cluster enforces Pod Security ${level}, but a node is privileged`,
    );
  return secretName === undefined
    ? podSecurity(
        name,
        `Namespace ${name} of the management cluster does not allow privileged pods explicitly, and a node that is one has the management cluster's nodes`,
      )
    : undefined;

  async function read(): Promise<KubeObject | undefined | "hidden"> {
    try {
      return await host.client.get(Namespace, { name }, signal);
    } catch (error) {
      // Who may not read namespaces learns from the refused pod; of the management cluster we always may.
      if (isReason(error, "Forbidden") && secretName !== undefined) return "hidden";
      throw error;
    }
  }
}
