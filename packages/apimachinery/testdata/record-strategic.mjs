// Sends the patches of strategic.json to a Deployment on a real kube-apiserver; writes results to strategic.golden.json.
// Usage: node record-strategic.mjs https://127.0.0.1:6443 <bearer token>   (run it from this folder)
import { readFileSync, writeFileSync } from "node:fs";

process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
const [server, token] = process.argv.slice(2);
const PATH = "/apis/apps/v1/namespaces/default/deployments";

async function call(method, path, body, type = "application/json") {
  const headers = { authorization: `Bearer ${token}`, "content-type": type };
  const response = await fetch(server + path, { method, headers, body: JSON.stringify(body) });
  return response.json();
}

/** The fields of the base object, without what the server adds by default. */
function project({ metadata, spec }) {
  const { containers, volumes, nodeSelector } = spec.template.spec;
  return {
    metadata: { finalizers: metadata.finalizers, labels: metadata.labels, annotations: metadata.annotations },
    containers: containers.map(({ name, image, env, args }) => ({ name, image, env, args })),
    volumes,
    nodeSelector,
  };
}

const { base, patches } = JSON.parse(readFileSync("strategic.json", "utf8"));
const labels = { app: "x" };
const { metadata, ...pod } = base;
const name = `strategic-${process.pid}`;
await call("POST", PATH, {
  metadata: { ...metadata, name, labels },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
});
const golden = [];
for (const patch of patches) {
  const body = {
    ...(patch.metadata && { metadata: patch.metadata }),
    ...(patch.spec && { spec: { template: { spec: patch.spec } } }),
  };
  const answer = await call("PATCH", `${PATH}/${name}?dryRun=All`, body, "application/strategic-merge-patch+json");
  golden.push(answer.kind === "Status" ? { error: answer.message, code: answer.code } : project(answer));
}
writeFileSync("strategic.golden.json", `${JSON.stringify({ results: golden }, undefined, 1)}\n`);
