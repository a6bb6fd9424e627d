#!/usr/bin/env node
/**
 * Records facts of a real kube-apiserver for packages/apiserver: schemas of the built-in kinds, and golden files of what it
 * stores, prints and refuses. Usage: node tools/record-openapi/record.mjs [folder with etcd and kube-apiserver]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { findBinaries, startControlPlane } from "./control-plane.mjs";
import { documentPath, kinds, metaDefinitions } from "./kinds.mjs";
import { refusals } from "./refusals.mjs";
import { coreSamples } from "./samples-core.mjs";
import { groupSamples } from "./samples-groups.mjs";
import { closure, compact, dropZeroDefaults } from "./schemas.mjs";

const target = new URL("../../packages/apiserver/src/builtin/generated/", import.meta.url);
const NAMESPACED = "default";
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const { call, stop } = await startControlPlane(findBinaries(process.argv[2]));
try {
  mkdirSync(target, { recursive: true });
  await recordSchemas();
  const resources = await recordDiscovery();
  await recordSamples(resources);
  await recordRefusals(resources);
} finally {
  await stop();
}

async function expectOk(method, path, o) {
  const answer = await call(method, path, o);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
  return answer;
}

async function recordSchemas() {
  const all = {};
  const roots = [...metaDefinitions];
  for (const groupVersion of [...Object.keys(kinds), ""]) {
    const path = groupVersion === "" ? "apis" : documentPath(groupVersion);
    const { json } = await expectOk("GET", `/openapi/v3/${path}`);
    Object.assign(all, json.components.schemas);
  }
  Object.assign(all, (await expectOk("GET", "/openapi/v3/api")).json.components.schemas);
  for (const [groupVersion, names] of Object.entries(kinds)) {
    const [group, version] = groupVersion.includes("/") ? groupVersion.split("/") : ["", groupVersion];
    for (const kind of names) {
      const is = (name, k) =>
        all[name]["x-kubernetes-group-version-kind"]?.some(
          (g) => g.group === group && g.version === version && g.kind === k,
        );
      const name = Object.keys(all).find((n) => is(n, kind));
      if (!name) throw new Error(`no schema for ${groupVersion} ${kind}`);
      roots.push(name);
      const list = Object.keys(all).find((n) => is(n, `${kind}List`));
      if (list) roots.push(list);
    }
  }
  const compacted = Object.fromEntries(Object.entries(all).map(([name, s]) => [name, compact(s)]));
  const kept = closure(compacted, roots);
  dropZeroDefaults(kept);
  for (const s of Object.values(kept))
    if (s["x-kubernetes-group-version-kind"]?.length > 1)
      s["x-kubernetes-group-version-kind"] = s["x-kubernetes-group-version-kind"].filter(
        (g) => g.group === "" && g.version === "v1",
      );
  const lines = Object.entries(kept).map(([name, s]) => `  ${JSON.stringify(name)}:\n    ${quote(JSON.stringify(s))},`);
  writeFileSync(
    new URL("schemas.ts", target),
    `/** Recorded by tools/record-openapi from a real kube-apiserver's OpenAPI documents. One JSON text per definition, parsed when used. */\nexport const DEFINITIONS: Readonly<Record<string, string>> = {\n${lines.join("\n")}\n};\n`,
  );
}

function quote(json) {
  return `'${json.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

async function recordDiscovery() {
  const served = new Set(Object.entries(kinds).flatMap(([gv, names]) => names.map((n) => `${gv} ${n}`)));
  const aggregated = [];
  for (const path of ["/api", "/apis"]) {
    const { json, headers } = await expectOk("GET", path, { accept: AGGREGATED });
    for (const group of json.items)
      for (const version of group.versions) {
        const gv = group.metadata.name ? `${group.metadata.name}/${version.version}` : version.version;
        version.resources = version.resources.filter((r) => served.has(`${gv} ${r.responseKind.kind}`));
      }
    json.items = json.items.filter((g) => g.versions.some((v) => v.resources.length > 0));
    aggregated.push({ path, contentType: headers["content-type"], document: json });
  }
  const legacy = [];
  const resources = {};
  for (const gv of Object.keys(kinds)) {
    const path = gv.includes("/") ? `/apis/${gv}` : `/api/${gv}`;
    const { json } = await expectOk("GET", path);
    const owners = new Set(
      json.resources.filter((r) => !r.name.includes("/") && served.has(`${gv} ${r.kind}`)).map((r) => r.name),
    );
    json.resources = json.resources.filter((r) => owners.has(r.name.split("/")[0]));
    if (json.resources.length > 0) legacy.push({ path, document: json });
    for (const r of json.resources) resources[`${gv}/${r.name}`] = r;
  }
  const groups = (await expectOk("GET", "/apis")).json.groups.map((g) => g.name);
  const one = (await expectOk("GET", "/apis/apps")).json;
  const core = (await expectOk("GET", "/api")).json;
  delete core.serverAddressByClientCIDRs;
  save("discovery", { aggregated, legacy, groups, group: one, core });
  return resources;
}

function save(name, value) {
  const rows = Array.isArray(value)
    ? `[\n${value.map((v) => JSON.stringify(v)).join(",\n")}\n]`
    : JSON.stringify(value);
  writeFileSync(new URL(`${name}.golden.json`, target), `${rows}\n`);
}

function urlOf(resources, path, name = "") {
  const resource = resources[path];
  if (!resource) throw new Error(`unknown resource ${path}`);
  const [plural, ...rest] = path.split("/").reverse();
  const gv = rest.reverse().join("/");
  const base = gv.includes("/") ? `/apis/${gv}` : `/api/${gv}`;
  return `${base}${resource.namespaced ? `/namespaces/${NAMESPACED}` : ""}/${plural}${name ? `/${name}` : ""}`;
}

function typed(resources, path, body) {
  return { apiVersion: path.slice(0, path.lastIndexOf("/")), kind: resources[path].kind, ...body };
}

/** The object without what differs from run to run. */
function steady(object) {
  const { uid: _uid, resourceVersion: _rv, managedFields: _mf, ...metadata } = object.metadata;
  return { ...object, metadata };
}

async function recordSamples(resources) {
  const out = [];
  for (const { path, body, status, existing } of [...coreSamples, ...groupSamples]) {
    const input = body ? typed(resources, path, body) : undefined;
    const created = input ? (await expectOk("POST", urlOf(resources, path), { body: input })).json : undefined;
    const name = existing ?? body.metadata.name;
    if (status) {
      const patch = { status };
      await expectOk("PATCH", `${urlOf(resources, path, name)}/status`, {
        body: patch,
        type: "application/merge-patch+json",
      });
    }
    const final = (await expectOk("GET", urlOf(resources, path, name))).json;
    const { json, headers } = await expectOk("GET", urlOf(resources, path, name), { accept: TABLE });
    out.push({
      path,
      ...(input ? { input, created: steady(created) } : {}),
      object: steady(final),
      printedAt: new Date(headers.date).toISOString(),
      columns: json.columnDefinitions.map(({ name, type, format, priority }) => ({ name, type, format, priority })),
      cells: json.rows[0].cells,
    });
  }
  save("samples", out);
}

async function recordRefusals(resources) {
  const out = [];
  const record = async (path, method, url, body, old, note) => {
    const answer = await call(method, url, { body });
    if (answer.status < 300) {
      console.error(`accepted, not recorded: ${method} ${url} ${JSON.stringify(body).slice(0, 300)}`);
      return;
    }
    const { message, code, reason, details } = answer.json;
    const causes = (details?.causes ?? []).map((c) => ({
      reason: c.reason,
      field: c.field,
      message: c.message.slice(0, 2000),
    }));
    if (note.big)
      return out.push({
        path,
        big: Object.keys(body.data)[0],
        size: Object.values(body.data)[0].length,
        code,
        reason,
        causes,
      });
    out.push({ path, ...(old ? { old: steady(old) } : {}), input: steady(body), code, reason, message, causes });
  };
  for (const r of refusals) {
    if (r.create) {
      const body = typed(resources, r.create, r.body);
      if (!r.afterwards) {
        await record(r.create, "POST", urlOf(resources, r.create), body, undefined, r);
        continue;
      }
      const old = (await expectOk("POST", urlOf(resources, r.create), { body })).json;
      await record(r.create, "PUT", urlOf(resources, r.create, old.metadata.name), { ...old, ...r.afterwards }, old, r);
      continue;
    }
    const path = r.update.slice(0, r.update.lastIndexOf("/"));
    const url = urlOf(resources, path, r.update.slice(path.length + 1));
    const old = (await expectOk("GET", url)).json;
    const spec = r.changeSpec ? { spec: { ...old.spec, ...r.changeSpec } } : {};
    await record(path, "PUT", url, { ...old, ...r.change, ...spec }, old, r);
  }
  save("refusals", out);
}
