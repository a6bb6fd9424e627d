import type { Script, Step } from "../harness/script.ts";

const CM = "/api/v1/namespaces/<ns>/configmaps";
const NS = "/api/v1/namespaces";
const post = (name: string, metadata: object = {}): Step => ({
  do: `POST ${CM}`,
  id: name.replace("-", ""),
  body: { metadata: { name, ...metadata } },
  only: ["metadata.name"],
});
const owner = (id: string, name: string, more: object = {}): object => ({
  ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name, uid: `<${id}.metadata.uid>`, ...more }],
});

/** Deletion policies, garbage collection and the end of namespaces. */
export const deletion: Script = {
  name: "deletion",
  steps: [
    // Background.
    post("o1"),
    post("d1", owner("o1", "o1")),
    { do: `DELETE ${CM}/o1`, body: { propagationPolicy: "Background" } },
    { wait: `${CM}/d1`, status: 404 },
    { do: `GET ${CM}/d1` },
    // Orphan.
    post("o2"),
    post("d2", owner("o2", "o2")),
    { do: `DELETE ${CM}/o2`, body: { propagationPolicy: "Orphan" } },
    { wait: `${CM}/o2`, status: 404 },
    { do: `GET ${CM}/d2` },
    // Foreground, blocked by a dependent.
    post("o3"),
    post("d3", { ...owner("o3", "o3", { blockOwnerDeletion: true }), finalizers: ["example.com/hold"] }),
    { do: `DELETE ${CM}/o3`, body: { propagationPolicy: "Foreground" } },
    { wait: `${CM}/d3`, where: ["metadata.deletionGracePeriodSeconds", 0] },
    { do: `GET ${CM}/d3`, only: ["metadata.finalizers", "metadata.deletionGracePeriodSeconds"] },
    { do: `GET ${CM}/o3`, only: ["metadata.finalizers", "metadata.deletionGracePeriodSeconds", "metadata.generation"] },
    { do: `PATCH ${CM}/d3`, body: { metadata: { finalizers: null } }, only: ["metadata.name"] },
    { wait: `${CM}/o3`, status: 404 },
    { do: `GET ${CM}/o3` },
    // Foreground, a dependent that does not block.
    post("o4"),
    post("d4", { ...owner("o4", "o4"), finalizers: ["example.com/hold"] }),
    { do: `DELETE ${CM}/o4?propagationPolicy=Foreground`, only: ["metadata.finalizers"] },
    { wait: `${CM}/o4`, status: 404 },
    { wait: `${CM}/d4`, where: ["metadata.deletionGracePeriodSeconds", 0] },
    { do: `PATCH ${CM}/d4`, body: { metadata: { finalizers: null } }, only: ["metadata.name"] },
    // Two owners.
    post("o5"),
    post("o6"),
    {
      do: `POST ${CM}`,
      body: {
        metadata: {
          name: "d5",
          ownerReferences: [
            { apiVersion: "v1", kind: "ConfigMap", name: "o5", uid: "<o5.metadata.uid>" },
            { apiVersion: "v1", kind: "ConfigMap", name: "o6", uid: "<o6.metadata.uid>" },
          ],
        },
      },
      only: ["metadata.name"],
    },
    { do: `DELETE ${CM}/o5`, only: ["status"] },
    { wait: `${CM}/d5`, where: ["metadata.ownerReferences.0.name", "o6"] },
    { do: `GET ${CM}/d5`, only: ["metadata.ownerReferences"] },
    { do: `DELETE ${CM}/o6`, only: ["status"] },
    { wait: `${CM}/d5`, status: 404 },
    // An owner that never existed.
    post("d6", {
      ownerReferences: [
        { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "33333333-3333-4333-8333-333333333333" },
      ],
    }),
    { wait: `${CM}/d6`, status: 404 },
    // A changed deletion policy.
    post("o7", { finalizers: ["example.com/hold"] }),
    { do: `DELETE ${CM}/o7`, body: { propagationPolicy: "Orphan" }, only: ["metadata.finalizers"] },
    { do: `DELETE ${CM}/o7`, body: { propagationPolicy: "Background" }, only: ["metadata.finalizers"] },
    { do: `PATCH ${CM}/o7`, body: { metadata: { finalizers: null } }, only: ["metadata.name"] },
    { wait: `${CM}/o7`, status: 404 },
    {
      do: `PATCH ${CM}/d2`,
      body: { metadata: { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 3 } },
      only: ["metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds", "message"],
    },
    // Namespaces.
    { do: `POST ${NS}`, id: "inner", body: { metadata: { name: "<ns>-inner", labels: { a: "b" } } } },
    { do: `POST ${NS}`, body: { metadata: { name: "<ns>-inner" } } },
    { do: `POST ${NS}`, body: { metadata: { name: "has.dots" } } },
    { do: `POST ${NS}`, body: { metadata: { name: "x".repeat(64) } } },
    {
      do: `POST ${NS}`,
      body: { metadata: { name: "<ns>-s" }, spec: { finalizers: ["bare"] }, status: { phase: "Terminating" } },
    },
    {
      do: `POST ${NS}?dryRun=All`,
      body: { metadata: { name: "<ns>-s" }, spec: { finalizers: ["a/b"] }, status: { phase: "Terminating" } },
    },
    { do: `GET ${NS}/<ns>-inner/status` },
    {
      do: `PUT ${NS}/<ns>-inner/finalize`,
      body: { metadata: { name: "<ns>-inner" }, spec: { finalizers: ["kubernetes", "example.com/x"] } },
      only: ["spec", "message"],
    },
    { do: `PATCH ${NS}/<ns>-inner`, body: { spec: { finalizers: [] } }, only: ["spec"] },
    { do: `PATCH ${NS}/<ns>-inner/status`, body: { status: { phase: "Terminating" } }, only: ["status"] },
    {
      do: `POST /api/v1/namespaces/<ns>-inner/configmaps`,
      body: { metadata: { name: "inside", finalizers: ["example.com/hold"] } },
      only: ["metadata.name"],
    },
    {
      do: `DELETE ${NS}/<ns>-inner`,
      only: ["metadata.name", "spec", "status.phase", "metadata.deletionGracePeriodSeconds"],
    },
    { wait: "/api/v1/namespaces/<ns>-inner/configmaps/inside", where: ["metadata.deletionGracePeriodSeconds", 0] },
    { do: "POST /api/v1/namespaces/<ns>-inner/configmaps", body: { metadata: { name: "late" } } },
    { do: "PATCH /api/v1/namespaces/<ns>-inner/configmaps/inside", body: { data: { a: "b" } }, only: ["data"] },
    { wait: `${NS}/<ns>-inner`, where: ["status.conditions.4.status", "True"] },
    { do: `GET ${NS}/<ns>-inner`, only: ["status", "spec"] },
    {
      do: "PATCH /api/v1/namespaces/<ns>-inner/configmaps/inside",
      body: { metadata: { finalizers: null } },
      only: ["metadata.name"],
    },
    {
      do: `PUT ${NS}/<ns>-inner/finalize`,
      body: { metadata: { name: "<ns>-inner" }, spec: { finalizers: ["kubernetes"] } },
      only: ["spec", "message"],
    },
    { wait: `${NS}/<ns>-inner`, status: 404 },
    { do: `GET ${NS}/<ns>-inner` },
    { do: `DELETE ${NS}/kube-system` },
    { do: `DELETE ${NS}/default` },
  ],
};
