import { type Random, randomInt } from "@capstan/apimachinery";
import { deepBody, protobufBody, textBody } from "./malformed-bodies.ts";

/** One request that is wrong in some way. */
export interface MalformedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "FROB"];
const PATHS = [
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
  "/api/v1/namespaces/default/secrets",
  "/api/v1/namespaces/default/serviceaccounts/default/token",
  "/api/v1/namespaces/default/events",
  "/api/v1/namespaces",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/coordination.k8s.io/v1/namespaces/default/leases",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/faults.example/v1/namespaces/default/gears",
  "/apis/faults.example/v1/namespaces/default/gears/g/scale",
  "/api/v1/namespaces/default/pods",
  "/apis/authentication.k8s.io/v1/tokenreviews",
  "/apis/certificates.k8s.io/v1/certificatesigningrequests",
  "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
  "/openapi/v3/api/v1",
  "/openapi/v2",
  "/version",
  "/metrics",
  "/readyz",
  "/livez/ping",
  "/",
  "/api",
  "/apis",
  "/apis/apps",
  "/apis/apps/v1",
  "/api/v1/namespaces/default/status",
  "/api/v1/nodes/n/status",
  "/api/v1/watch/namespaces/default/configmaps",
  "/openid/v1/jwks",
];
/** How many of them objects are posted to. */
const WRITABLE = PATHS.indexOf("/openapi/v3/api/v1");
const TYPES = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "text/plain",
  ";;;",
  "application/json; charset=utf-16",
  "application/cbor",
  "multipart/form-data; boundary=x",
];
const QUERIES = [
  "fieldManager=",
  "fieldManager=x",
  "dryRun=All",
  "dryRun=x",
  "limit=-5",
  "limit=99999999999999999999",
  "continue=AAAA",
  "resourceVersion=-1",
  "resourceVersion=x",
  "resourceVersionMatch=Exact&resourceVersion=1",
  "sendInitialEvents=x",
  "labelSelector=%28%28%28",
  "labelSelector=a+in+%28",
  "fieldSelector=%3D%3D",
  "timeoutSeconds=1&watch=true&resourceVersion=x",
  "fieldValidation=Strict",
  "force=true",
  "gracePeriodSeconds=x",
  "propagationPolicy=x",
  "pretty=%00",
  "fieldValidation=x",
  "fieldManager=%00",
  "force=x",
  "orphanDependents=x",
  "allowWatchBookmarks=x&timeoutSeconds=1&watch=1&resourceVersion=-1",
  "includeObject=x",
  "resourceVersion=0&limit=1",
  "limit=%zz",
  "labelSelector=a%00b",
  "labelSelector=-a%3D_",
  "fieldSelector=metadata.name%3Da%2Cspec.x%21%3Db",
];
const HEADERS: readonly [string, readonly string[]][] = [
  [
    "accept",
    ["text/html", "application/json;as=Table;v=v9;g=x", "*/*;q=x", ",,,", "application/yaml", "application/cbor"],
  ],
  ["authorization", ["Bearer", "Bearer a.b.c", `Bearer ${"x".repeat(5000)}`, "Basic eDp5", "\u00ff"]],
  ["impersonate-user", ["x", "system:serviceaccount:a:b", ""]],
  ["impersonate-group", ["g"]],
  ["impersonate-uid", ["7"]],
  ["impersonate-extra-%zz", ["v"]],
  ["accept-encoding", ["gzip;q=0, *", "br", "gzip"]],
  ["content-encoding", ["gzip", "deflate"]],
  ["if-none-match", ["*", '"x"']],
  ["expect", ["100-continue"]],
  ["user-agent", ["", "\u00e9/1"]],
];

const pick = <T>(random: Random, list: readonly T[]): T => list[randomInt(random, list.length)] as T;
const chance = (random: Random, percent: number): boolean => randomInt(random, 100) < percent;

/** Valid requests with a malformed body: these get farthest. */
const TARGETS: readonly (readonly [method: string, path: string, type: string])[] = [
  ...PATHS.slice(0, WRITABLE).map((path) => ["POST", path, "application/json"] as const),
  ...PATHS.slice(0, WRITABLE).map((path) => ["POST", path, "application/yaml"] as const),
  ...PATHS.slice(0, 6).map((path) => ["POST", path, "application/vnd.kubernetes.protobuf"] as const),
  ...TYPES.slice(3, 7).flatMap((type) =>
    [
      "/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
      "/apis/faults.example/v1/namespaces/default/gears/g",
      "/apis/faults.example/v1/namespaces/default/gears/g/scale",
    ].map((path) => ["PATCH", `${path}?fieldManager=faults&force=true`, type] as const),
  ),
  ["PUT", "/apis/faults.example/v1/namespaces/default/gears/g", "application/json"],
  ["PUT", "/apis/faults.example/v1/namespaces/default/gears/g/status", "application/json"],
  ["PUT", "/apis/faults.example/v1/namespaces/default/gears/g/scale", "application/json"],
  ["PUT", "/api/v1/namespaces/default/configmaps/x", "application/json"],
  ["PUT", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt", "application/json"],
  ["PUT", "/api/v1/namespaces/default/finalize", "application/json"],
  ["POST", "/api/v1/namespaces/default/pods/p/eviction", "application/json"],
  ["DELETE", "/api/v1/namespaces/default/configmaps/x", "application/json"],
];

/** Generates a request that no client would send; many are nearly valid, so that they get far. */
export function malformedRequest(random: Random): MalformedRequest {
  const headers: Record<string, string> = {};
  if (chance(random, 60)) {
    const [method, target, type] = pick(random, TARGETS);
    return { method, path: target, headers: { "content-type": type }, body: body(random) };
  }
  const method = pick(random, chance(random, 85) ? METHODS.slice(0, 5) : METHODS);
  if (chance(random, 95)) headers["content-type"] = pick(random, TYPES);
  while (chance(random, 25)) {
    const [name, values] = pick(random, HEADERS);
    headers[name] = pick(random, values);
  }
  return { method, path: path(random), headers, body: method === "HEAD" ? undefined : body(random) };
}

function path(random: Random): string {
  let text = pick(random, PATHS);
  if (chance(random, 30)) text += `/${segment(random)}`;
  if (chance(random, 10)) text = text.replace(/\/v1\b/, `/${segment(random)}`);
  if (chance(random, 5)) text = `/${segment(random)}${text}`;
  const queries: string[] = [];
  while (chance(random, 40)) queries.push(pick(random, QUERIES));
  // A watch that is not closed would be waited for.
  if (text.includes("/watch")) queries.push("timeoutSeconds=1");
  return queries.length === 0 ? text : `${text}?${queries.join("&")}`;
}

function segment(random: Random): string {
  const odd = [
    "%",
    "%zz",
    "%2F",
    "%00",
    "..",
    ".",
    "",
    "a".repeat(300),
    "%E0%A4%A",
    "status",
    "scale",
    "x%20y",
    "%25",
    "a/b",
    "a/b/c/d",
    "status/x",
    "watch",
    "__proto__",
  ];
  return pick(random, odd);
}

function body(random: Random): Buffer | undefined {
  switch (randomInt(random, 6)) {
    case 0:
      return undefined;
    case 1:
      return protobufBody(random);
    case 2:
      return deepBody(random);
    default:
      return textBody(random);
  }
}
