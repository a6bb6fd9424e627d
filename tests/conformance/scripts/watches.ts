import { type Script, type Step, TABLE } from "../harness/script.ts";

const CM = "/api/v1/namespaces/<ns>/configmaps";
const post = (name: string, labels: object = {}, id = name): Step => ({
  do: `POST ${CM}`,
  id,
  body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels } },
  only: ["metadata.name"],
});
const patch = (name: string, body: unknown): Step => ({
  do: `PATCH ${CM}/${name}`,
  body,
  only: ["metadata.name", "data"],
});
const remove = (name: string): Step => ({ do: `DELETE ${CM}/${name}`, only: ["status", "metadata.name"] });

/** Event sequences: starts, selectors, bookmarks, closings and errors. */
export const watches: Script = {
  name: "watches",
  steps: [
    post("start", { w: "1" }),
    { watch: "all", path: `${CM}?watch=true&resourceVersion=<start.metadata.resourceVersion>` },
    { watch: "fresh", path: `${CM}?watch=1&fieldSelector=metadata.name%21%3Dkube-root-ca.crt` },
    { watch: "zero", path: `${CM}?watch=true&resourceVersion=0&labelSelector=w` },
    {
      watch: "labelled",
      path: `${CM}?watch=true&resourceVersion=<start.metadata.resourceVersion>&labelSelector=on%3Dyes`,
    },
    {
      watch: "named",
      path: `${CM}?watch=true&resourceVersion=<start.metadata.resourceVersion>&fieldSelector=metadata.name%3Dx`,
    },
    { watch: "table", path: `${CM}?watch=true&resourceVersion=<start.metadata.resourceVersion>`, accept: TABLE },
    {
      watch: "partial",
      path: `${CM}?watch=true&resourceVersion=<start.metadata.resourceVersion>`,
      accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    },
    { watch: "old", path: `/api/v1/watch/namespaces/<ns>/configmaps?resourceVersion=<start.metadata.resourceVersion>` },
    {
      watch: "oldName",
      path: `/api/v1/watch/namespaces/<ns>/configmaps/x?resourceVersion=<start.metadata.resourceVersion>`,
    },
    {
      watch: "list",
      path: `${CM}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=w`,
    },
    {
      watch: "noInitial",
      path: `${CM}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=<start.metadata.resourceVersion>`,
    },
    { events: "fresh", count: 1 },
    { events: "zero", count: 1 },
    { events: "list", count: 2, mask: [/<revision \d+>/] },
    post("x", { on: "yes" }),
    patch("x", { data: { a: "1" } }),
    patch("x", { data: { a: "1" } }),
    patch("x", { metadata: { labels: { on: "no" } } }),
    patch("x", { data: { a: "2" } }),
    patch("x", { metadata: { labels: { on: "yes", w: "1" }, finalizers: ["example.com/f"] } }),
    remove("x"),
    patch("x", { metadata: { finalizers: null } }),
    post("x", { on: "yes" }, "x2"),
    remove("x"),
    { events: "all", count: 9 },
    {
      events: "fresh",
      count: 9,
      only: ["type", "object.metadata.name", "object.metadata.resourceVersion", "object.data"],
    },
    { events: "labelled", count: 7 },
    { events: "named", count: 9, only: ["type", "object.metadata.name", "object.data", "object.metadata.labels"] },
    { events: "table", count: 9, differs: "descriptions" },
    { events: "partial", count: 9 },
    { events: "old", count: 9, only: ["type", "object.metadata.name"] },
    { events: "oldName", count: 9, only: ["type", "object.metadata.name"] },
    { events: "zero", count: 3 },
    { events: "list", count: 3 },
    { events: "noInitial", count: 9, only: ["type", "object.metadata.name"] },
    { watch: "short", path: `${CM}?watch=true&timeoutSeconds=1&resourceVersion=<x2.metadata.resourceVersion>` },
    { events: "short", count: 1, end: true },
    { watch: "future", path: `${CM}?watch=true&timeoutSeconds=1&resourceVersion=99999999` },
    { events: "future", count: 1, end: true, mask: [/current: \d+/], differs: "future-watch" },
    { watch: "past", path: `${CM}?watch=true&timeoutSeconds=1&resourceVersion=1` },
    { events: "past", count: 1, end: true, mask: [/\(\d+\)/] },
    {
      do: `GET ${CM}?watch=true&limit=-1&timeoutSeconds=1&resourceVersion=<x2.metadata.resourceVersion>`,
      only: ["type"],
    },
    {
      do: `GET ${CM}/start?watch=true&timeoutSeconds=1&resourceVersion=<x2.metadata.resourceVersion>`,
      only: ["metadata.name"],
    },
    {
      do: `GET /api/v1/namespaces/nowhere/configmaps?watch=true&timeoutSeconds=1&resourceVersion=<x2.metadata.resourceVersion>`,
    },
    { do: `GET ${CM}?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact` },
    { do: `GET ${CM}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x` },
    { do: `GET ${CM}?watch=true&labelSelector=%21%21` },
    { do: `GET ${CM}?watch=true&fieldSelector=nope%3D1` },
    { do: `GET ${CM}?watch=false`, only: ["kind"] },
    { do: `GET ${CM}?watch=0`, only: ["kind"] },
    { do: `GET ${CM}?watch=true`, accept: "text/html" },
  ],
};
