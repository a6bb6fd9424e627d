import { type Json, repeat } from "./worst-bodies.ts";
import { crd } from "./worst-kinds.ts";
import type { WorstRequest } from "./worst-requests.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DOOMED = "/api/v1/namespaces/doomed";
const MAPS = `${DOOMED}/configmaps`;
const COLUMNS = 500;

const namespace: WorstRequest = {
  name: "",
  method: "POST",
  path: "/api/v1/namespaces",
  body: () => ({ metadata: { name: "doomed" } }),
};
const filled = (count: number, metadata: Json = {}): WorstRequest => ({
  name: "",
  method: "GET",
  path: DOOMED,
  fill: {
    path: MAPS,
    count,
    make: (i) => ({ metadata: { name: `o${i}`, ...metadata }, data: { text: "x".repeat(500) } }),
  },
});

const manyColumns = (): Json => {
  const schema = {
    type: "object",
    properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  };
  return crd("columns", "masses.example", "Column", schema, {
    additionalPrinterColumns: repeat(COLUMNS, (i) => ({
      name: `c${i}`,
      type: "string",
      jsonPath: `.spec.a${i}.b[0].c`,
    })),
  });
};
const COLUMN_OBJECTS = "/apis/masses.example/v1/namespaces/doomed/columns";
const madeColumns: WorstRequest = { name: "", method: "POST", path: CRDS, body: manyColumns };
const column = (i: number): Json => ({
  apiVersion: "masses.example/v1",
  kind: "Column",
  metadata: { name: `o${i}` },
  spec: Object.fromEntries(repeat(COLUMNS, (k) => [`a${k}`, { b: [{ c: "x" }] }])),
});
const OWNER_UID = "5b1f7f0e-3c7c-4f8e-9d0a-000000000000";

/** Requests about many objects at once, which keep the server working after the response. */
export function massRequests(count: number): WorstRequest[] {
  return [
    {
      name: "Table of 500 columns with all their objects",
      method: "GET",
      path: COLUMN_OBJECTS,
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
      before: [
        namespace,
        madeColumns,
        { name: "", method: "GET", path: CRDS, fill: { path: COLUMN_OBJECTS, count: 200, make: column } },
      ],
    },
    {
      name: `deletecollection of ${count}`,
      method: "DELETE",
      path: MAPS,
      until: MAPS,
      before: [namespace, filled(count)],
    },
    {
      name: `${count} objects whose owner does not exist`,
      method: "GET",
      path: MAPS,
      until: MAPS,
      before: [
        namespace,
        filled(count, { ownerReferences: [{ apiVersion: "v1", kind: "Secret", name: "none", uid: OWNER_UID }] }),
      ],
    },
    {
      name: "deleting a CRD with 200 objects",
      method: "DELETE",
      path: `${CRDS}/columns.masses.example`,
      until: `${CRDS}/columns.masses.example`,
      before: [
        namespace,
        madeColumns,
        { name: "", method: "GET", path: CRDS, fill: { path: COLUMN_OBJECTS, count: 200, make: column } },
      ],
    },
    {
      name: `deleting a namespace with ${count} objects`,
      method: "DELETE",
      path: DOOMED,
      until: DOOMED,
      before: [namespace, filled(count)],
    },
  ];
}
