import { ApiError, type Unstructured } from "@capstan/apimachinery";
import { KINDS } from "@capstan/manager";
import { Client } from "@capstan/runtime";
import type { Plane } from "../simulation/plane.ts";

/** The namespace that the attacker owns. */
export const TENANT = "tenant";

const RBAC = "rbac.authorization.k8s.io";
const USER = { name: "mallory", groups: ["system:authenticated"] };

/** The attacker of the threat model: ClusterRole `edit` and all verbs on the Cluster API groups, in one namespace. */
export async function tenantOf(plane: Plane): Promise<Client> {
  const admin = plane.client;
  await admin.create<Unstructured>({ apiVersion: "v1", kind: "Namespace", metadata: { name: TENANT } });
  const apiGroups = [...new Set(KINDS.map(({ group }) => group))];
  await admin.create<Unstructured>({
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: "cluster-api" },
    rules: [{ apiGroups, resources: ["*"], verbs: ["*"] }],
  });
  for (const role of ["edit", "cluster-api"])
    await admin.create<Unstructured>({
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata: { namespace: TENANT, name: role },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
      subjects: [{ apiGroup: RBAC, kind: "User", name: USER.name }],
    });
  return new Client(plane.server.transport(USER), { fieldManager: "mallory", clock: plane.clock });
}

/** Creates an object and takes a refusal for an answer: what counts is what happens afterwards. */
export async function attempt(client: Client, object: Unstructured): Promise<string> {
  try {
    await client.create(object);
    return "created";
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}
