#!/usr/bin/env node
/**
 * Records the JSON and the protobuf form of the same objects from a real kube-apiserver, for the decoder's tests.
 * Usage: node tools/record-protobuf/golden.mjs [folder with etcd and kube-apiserver]
 */
import { writeFileSync } from "node:fs";
import { findBinaries, startControlPlane } from "../record-openapi/control-plane.mjs";
import { coreSamples } from "../record-openapi/samples-core.mjs";
import { groupSamples } from "../record-openapi/samples-groups.mjs";
import { extraSamples } from "./samples.mjs";

const target = new URL("../../packages/apimachinery/testdata/protobuf-builtin.golden.json", import.meta.url);
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const { call, stop } = await startControlPlane(findBinaries(process.argv[2]));

async function expectOk(method, path, o) {
  const answer = await call(method, path, o);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
  return answer;
}

/** `apps/v1/deployments` → its collection's address and kind. */
async function resolve(path) {
  const at = path.lastIndexOf("/");
  const groupVersion = path.slice(0, at);
  const base = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
  const { json } = await expectOk("GET", base);
  const resource = json.resources.find((r) => r.name === path.slice(at + 1));
  if (!resource) throw new Error(`unknown resource ${path}`);
  const url = `${base}${resource.namespaced ? "/namespaces/default" : ""}/${resource.name}`;
  return { url, kind: resource.kind, apiVersion: groupVersion };
}

const rows = [];
try {
  for (const { path, body, status, existing } of [...coreSamples, ...groupSamples, ...extraSamples]) {
    const { url, ...type } = await resolve(path);
    if (body) await expectOk("POST", url, { body: { ...type, ...body } });
    const object = `${url}/${existing ?? body.metadata.name}`;
    if (status) await expectOk("PATCH", `${object}/status`, { body: { status }, type: "application/merge-patch+json" });
    // Controllers of the server may change an object in between: both forms must be of one revision.
    for (;;) {
      const { json } = await expectOk("GET", object);
      const { bytes } = await expectOk("GET", object, { accept: PROTOBUF });
      const again = (await expectOk("GET", object)).json;
      if (again.metadata.resourceVersion !== json.metadata.resourceVersion) continue;
      rows.push(JSON.stringify({ json, protobuf: bytes.toString("base64") }));
      break;
    }
  }
} finally {
  await stop();
}
writeFileSync(target, `{"objects":[\n${rows.join(",\n")}\n]}\n`);
