// Plays stories.json against a real kube-apiserver and writes what it answered to stories.golden.json.
// Usage: node record-stories.mjs https://127.0.0.1:6443 <bearer token>   (run it from this folder)
import { readFileSync, writeFileSync } from "node:fs";

process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
const [server, token] = process.argv.slice(2);
const COLLECTION = (version) => `/apis/test.example/${version}/namespaces/default/widgets`;

async function call(method, path, body, type = "application/json") {
  const response = await fetch(server + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}

function normalize(object) {
  if (object.kind === "Status") {
    const { message, reason, code, details } = object;
    return { error: { code, reason, message, causes: details?.causes } };
  }
  const { managedFields = [], labels, annotations, finalizers, ownerReferences } = object.metadata;
  const entries = managedFields.map(({ time, ...entry }) => ({ ...entry, timed: time !== undefined }));
  const { apiVersion, spec, status } = object;
  return {
    apiVersion,
    metadata: { labels, annotations, finalizers, ownerReferences },
    spec,
    status,
    managedFields: entries,
  };
}

await call(
  "POST",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  JSON.parse(readFileSync("widget-crd.json", "utf8")),
);
while ((await call("GET", COLLECTION("v1"))).kind !== "WidgetList") await new Promise((r) => setTimeout(r, 200));
const { stories } = JSON.parse(readFileSync("stories.json", "utf8"));
const golden = [];
for (const [n, { name, steps }] of stories.entries()) {
  const object = `w${n}`;
  await call(
    "PATCH",
    `${COLLECTION("v1")}/${object}`,
    { metadata: { finalizers: null } },
    "application/merge-patch+json",
  );
  await call("DELETE", `${COLLECTION("v1")}/${object}`);
  const results = [];
  for (const step of steps) {
    const version = step.version ?? "v1";
    const query = `?fieldManager=${step.manager}${step.force ? "&force=true" : ""}`;
    const path = `${COLLECTION(version)}/${object}${step.sub ? `/${step.sub}` : ""}`;
    const body = {
      apiVersion: `test.example/${version}`,
      kind: "Widget",
      ...step.body,
      metadata: { ...step.body.metadata, name: object },
    };
    let answer;
    if (step.do === "create") answer = await call("POST", COLLECTION(version) + query, body);
    else if (step.do === "apply") answer = await call("PATCH", path + query, body, "application/apply-patch+yaml");
    else if (step.do === "merge") answer = await call("PATCH", path + query, step.body, "application/merge-patch+json");
    else {
      body.metadata.resourceVersion = (await call("GET", path)).metadata.resourceVersion;
      answer = await call("PUT", path + query, body);
    }
    // Names differ between stories; the error texts mention them.
    results.push(
      JSON.parse(
        JSON.stringify(normalize(answer))
          .replaceAll(`default/${object};`, "default/NAME;")
          .replaceAll(`\\"${object}\\"`, '\\"NAME\\"'),
      ),
    );
  }
  golden.push({ name, results });
}
writeFileSync("stories.golden.json", `${JSON.stringify({ stories: golden }, undefined, 1)}\n`);
