import { parseYamlDocuments, type Unstructured } from "@capstan/apimachinery";
import { kindRef } from "@capstan/runtime";
import { afterEach, expect, test, vi } from "vitest";
import { Plane } from "../simulation/plane.ts";
import { attempt, TENANT, tenantOf } from "./tenant.ts";

vi.setConfig({ testTimeout: 120_000 });

/**
 * Attack: patches of the tenant's own ClusterClass turn what the manager makes from a template into an object of another kind, which
 * the tenant may not write. On an API that takes a namespace off objects that have none, it could even be a webhook for all Secrets.
 */
const RBAC = "rbac.authorization.k8s.io";
const Role = kindRef<Unstructured>({ group: RBAC, version: "v1", kind: "Role", plural: "roles", namespaced: true });

const INFRASTRUCTURE = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta2";
const CONTROL_PLANE = "apiVersion: controlplane.cluster.x-k8s.io/v1beta2";
const MANIFESTS = `
${INFRASTRUCTURE}
kind: MemoryClusterTemplate
metadata: { name: own, namespace: ${TENANT} }
spec: { template: { spec: {} } }
---
${CONTROL_PLANE}
kind: HostedControlPlaneTemplate
metadata: { name: own, namespace: ${TENANT} }
spec: { template: { spec: { placement: { type: Embedded } } } }
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: { name: own, namespace: ${TENANT} }
spec:
  infrastructure: { templateRef: { ${INFRASTRUCTURE}, kind: MemoryClusterTemplate, name: own } }
  controlPlane: { templateRef: { ${CONTROL_PLANE}, kind: HostedControlPlaneTemplate, name: own } }
  patches:
  - name: become
    definitions:
    - selector:
        ${INFRASTRUCTURE}
        kind: MemoryClusterTemplate
        matchResources: { infrastructureCluster: true }
      jsonPatches:
      - { op: add, path: /spec/template/apiVersion, value: ${RBAC}/v1 }
      - { op: add, path: /spec/template/kind, value: Role }
      - { op: add, path: /spec/template/rules, value: [{ apiGroups: [${RBAC}], resources: [rolebindings], verbs: [create, delete] }] }
      - { op: remove, path: /spec/template/spec }
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: ladder, namespace: ${TENANT} }
spec: { topology: { classRef: { name: own }, version: v1.34.4 } }
`;

let plane: Plane;
afterEach(() => plane.close());

test("a class creates no Role with the manager's permissions", async () => {
  plane = await Plane.start({ own: 0, metal: 0 });
  const mallory = await tenantOf(plane);
  const role = { apiVersion: `${RBAC}/v1`, kind: "Role", metadata: { namespace: TENANT, name: "own" }, rules: [] };
  expect(await attempt(mallory, role)).toContain("forbidden");
  for (const object of parseYamlDocuments(MANIFESTS) as Unstructured[]) await mallory.create(object);
  await plane.pass(30_000);
  expect((await plane.client.list(Role, { namespace: TENANT })).items).toEqual([]);
});
