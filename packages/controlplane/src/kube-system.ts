import type { Unstructured } from "@capstan/apimachinery";
import type { ClusterNetwork } from "./network.ts";

/** API group of roles and role bindings. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** A subject of a role binding. */
export type Subject =
  | { kind: "User" | "Group"; name: string; apiGroup: string }
  | { kind: "ServiceAccount"; name: string; namespace: string };

/** Settings of a cluster from which add-ons and joining nodes are configured. */
export interface NodeConfigurationInput {
  clusterName: string;
  version: string;
  endpoint: { host: string; port: number };
  network: ClusterNetwork;
  imageRepository: string;
}

/** Builds a ConfigMap in kube-system. */
export function configMap(name: string, data: Record<string, string>, labels?: Record<string, string>): Unstructured {
  const metadata = { name, namespace: "kube-system", labels };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

/** Builds a ClusterRoleBinding. */
export function clusterBinding(name: string, role: string, subjects: Subject[]): Unstructured {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role },
    subjects,
  };
}
