import type { Script, Step } from "../harness/script.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const CM = "/api/v1/namespaces/<ns>/configmaps";
const GZIP = { "accept-encoding": "gzip" };
const NOTHING: readonly string[] = [];
const big = (name: string, size: number): Step => ({
  do: `POST ${CM}`,
  body: { metadata: { name }, data: { a: "x".repeat(size) } },
  only: ["metadata.name"],
});
/** Headers only: what the documents say is compared elsewhere. */
const fetch = (path: string, rest: Partial<Extract<Step, { do: string }>> = {}): Step => ({
  do: `GET ${path}`,
  only: NOTHING,
  ...rest,
});

/** How documents and large answers are cached and packed: ETag, 304, hashes, gzip. */
export const documents: Script = {
  name: "documents",
  steps: [
    ...["/api", "/apis"].flatMap((path): Step[] => [
      fetch(path, { accept: AGGREGATED, id: "found" }),
      fetch(path, { accept: AGGREGATED, headers: { "if-none-match": "<foundHeaders.etag>" } }),
      fetch(path, { accept: AGGREGATED, headers: { "if-none-match": '"other"' } }),
      fetch(path, { accept: AGGREGATED, headers: { "if-none-match": '"other", <foundHeaders.etag>' } }),
      fetch(path, { accept: AGGREGATED, headers: { "if-none-match": "*" } }),
      fetch(path, { accept: AGGREGATED, headers: { "if-none-match": "W/<foundHeaders.etag>" } }),
      fetch(path, { accept: AGGREGATED, headers: GZIP }),
      fetch(path, { headers: { "if-none-match": "<foundHeaders.etag>" } }),
      fetch(path, { accept: "application/yaml" }),
      { do: `GET ${path}`, accept: "text/html" },
      { do: `HEAD ${path}`, accept: AGGREGATED },
    ]),
    fetch("/api/v1", { headers: { "if-none-match": "*" } }),
    fetch("/openapi/v3", { id: "index", differs: "openapi-content-type" }),
    fetch("/openapi/v3", { headers: { "if-none-match": "<indexHeaders.etag>" }, differs: "openapi-content-type" }),
    fetch("/openapi/v3", { headers: GZIP, differs: "openapi-content-type" }),
    fetch("/openapi/v3/api/v1", { id: "core" }),
    fetch("/openapi/v3/api/v1", { headers: { "if-none-match": "<coreHeaders.etag>" } }),
    fetch("/openapi/v3/api/v1", { headers: { "if-none-match": '"other", <coreHeaders.etag>' } }),
    fetch("/openapi/v3/api/v1", { headers: { "if-none-match": "W/<coreHeaders.etag>" } }),
    fetch("/openapi/v3/api/v1", { headers: GZIP, differs: "openapi-packed" }),
    fetch("/openapi/v3/api/v1", { accept: "text/html", differs: "openapi-content-type" }),
    fetch("/openapi/v3/api/v1", { accept: "application/yaml", differs: "openapi-content-type" }),
    fetch("<index.paths.api/v1.serverRelativeURL>"),
    fetch("<index.paths.api/v1.serverRelativeURL>", { headers: { "if-none-match": "<coreHeaders.etag>" } }),
    fetch("<index.paths.api/v1.serverRelativeURL>", { headers: GZIP, differs: "openapi-packed" }),
    { do: "GET /openapi/v3/api/v1?hash=ABC", mask: [/hash=[0-9A-F]+/] },
    fetch("/openapi/v3/api/v1?hash="),
    { do: "HEAD /openapi/v3/api/v1" },
    { do: "POST /api" },
    { do: "POST /apis/apps/v1" },
    fetch("/openapi/v2", { id: "swagger" }),
    fetch("/openapi/v2", { headers: { "if-none-match": "<swaggerHeaders.etag>" } }),
    fetch("/openapi/v2", { headers: GZIP }),
    fetch("/openapi/v2", { accept: "application/yaml", differs: "openapi-content-type" }),
    big("small", 100_000),
    big("large", 140_000),
    { do: `GET ${CM}/small`, headers: GZIP, only: ["metadata.name"] },
    { do: `GET ${CM}/large`, headers: GZIP, only: ["metadata.name"] },
    { do: `GET ${CM}/large`, headers: { "accept-encoding": "deflate" }, only: ["metadata.name"] },
    { do: `GET ${CM}/large`, headers: { "accept-encoding": "br, gzip;q=0.5" }, only: ["metadata.name"] },
    { do: `GET ${CM}/large`, headers: { "accept-encoding": "gzip;q=0" }, only: ["metadata.name"] },
    { do: `GET ${CM}/large`, headers: { "accept-encoding": "*" }, only: ["metadata.name"] },
    { do: `GET ${CM}/large`, headers: GZIP, accept: "application/yaml", only: NOTHING },
    { do: `GET ${CM}`, headers: GZIP, only: ["kind"] },
    { do: `PATCH ${CM}/large`, headers: GZIP, body: { data: { b: "c" } }, only: ["metadata.name"] },
    {
      do: `POST ${CM}`,
      headers: GZIP,
      body: { metadata: { name: "large" }, data: { a: "x".repeat(140_000) } },
      only: ["code", "reason"],
    },
    {
      do: `POST ${CM}`,
      headers: GZIP,
      body: { metadata: { name: "another" }, data: { a: "x".repeat(140_000) } },
      only: ["metadata.name"],
    },
  ],
};
