import { describe, expect, it } from "vitest";
import { parseRequestInfo } from "./request-info.ts";

describe("parseRequestInfo", () => {
  const cases: [string, string, Partial<ReturnType<typeof parseRequestInfo>>][] = [
    ["GET", "/api/v1/namespaces", { verb: "list", resource: "namespaces", namespace: "", name: "" }],
    [
      "GET",
      "/api/v1/namespaces/a",
      { verb: "get", resource: "namespaces", namespace: "a", name: "a", inNamespace: false },
    ],
    [
      "PUT",
      "/api/v1/namespaces/a/finalize",
      { verb: "update", resource: "namespaces", name: "a", subresource: "finalize" },
    ],
    ["GET", "/api/v1/namespaces/a/pods", { verb: "list", resource: "pods", namespace: "a", inNamespace: true }],
    ["GET", "/api/v1/namespaces/a/pods/b/status", { verb: "get", name: "b", subresource: "status" }],
    ["GET", "/api/v1/namespaces/a/pods/b/c/d", { overlong: true }],
    ["POST", "/apis/x.io/v1/namespaces/a/things", { verb: "create", group: "x.io", version: "v1", resource: "things" }],
    ["DELETE", "/apis/x.io/v1/things", { verb: "deletecollection", resource: "things", namespace: "" }],
    ["PATCH", "/apis/x.io/v1/things/t", { verb: "patch", name: "t" }],
    ["GET", "/apis/x.io/v1/things?watch=true", { verb: "watch" }],
    ["GET", "/apis/x.io/v1/things?watch=false", { verb: "list" }],
    ["GET", "/apis/x.io/v1/things?watch=False", { verb: "list" }],
    ["GET", "/apis/x.io/v1/things?watch=f", { verb: "watch" }],
    ["GET", "/apis/x.io/v1/things?watch", { verb: "watch" }],
    ["GET", "/api/v1/watch/namespaces/a/pods/b", { verb: "watch", namespace: "a", resource: "pods", name: "b" }],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name=p", { verb: "list", name: "p" }],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name!%3Dp", { verb: "list", name: "" }],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name==p&watch=1", { verb: "watch", name: "p" }],
    // A part of an escaped value is no term of its own, and what cannot be read names nothing.
    ["GET", String.raw`/api/v1/pods?fieldSelector=spec.nodeName=a\,metadata.name\=p`, { verb: "list", name: "" }],
    ["GET", String.raw`/api/v1/pods?fieldSelector=spec.nodeName=a\,metadata.name=p`, { verb: "list", name: "" }],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name=a/b", { verb: "list", name: "" }],
    // As upstream: only lists and watches of the normal path take a name from their field selector.
    ["GET", "/api/v1/watch/pods?fieldSelector=metadata.name=p", { verb: "watch", name: "" }],
    ["DELETE", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name=p", { verb: "deletecollection", name: "" }],
    ["GET", "/api/v1", { isResource: false, verb: "get" }],
    ["GET", "/apis/x.io/v1", { isResource: false }],
    ["GET", "/healthz", { isResource: false }],
    ["GET", "/api/v1/namespaces/%zz/pods", { isResource: false }],
    ["GET", "/api/v1/namespaces/a%2Fb", { namespace: "a", resource: "b", verb: "list" }],
    ["OPTIONS", "/api/v1/pods", { verb: "" }],
  ];
  it.each(cases)("%s %s", (method, url, expected) => {
    const [path = "", query = ""] = url.split("?");
    expect(parseRequestInfo(method, path, new URLSearchParams(query))).toMatchObject(expected);
  });
});
