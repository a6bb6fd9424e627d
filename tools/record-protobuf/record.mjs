#!/usr/bin/env node
/**
 * Writes the protobuf tables of the built-in kinds: field numbers and wire types from the published .proto files, JSON names,
 * pointers and inlined structs from the Go types next to them. Usage: node tools/record-protobuf/record.mjs [Go module cache]
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const VERSION = "v0.37.1";
const target = new URL("../../packages/apimachinery/src/protobuf/generated/tables.ts", import.meta.url);
const modules = join(process.argv[2] ?? join(homedir(), "go/pkg/mod"), "k8s.io");

/** Table name → module, folder and the kinds whose messages are wanted. */
const PACKAGES = {
  meta: {
    module: "apimachinery",
    folder: "pkg/apis/meta/v1",
    kinds: ["CreateOptions", "DeleteOptions", "PatchOptions", "UpdateOptions"],
  },
  v1: {
    module: "api",
    folder: "core/v1",
    kinds: [
      "Namespace",
      "Secret",
      "ConfigMap",
      "Event",
      "ServiceAccount",
      "Node",
      "Pod",
      "PodTemplate",
      "Service",
      "Endpoints",
      "PersistentVolume",
      "PersistentVolumeClaim",
      "Binding",
    ],
  },
  "events.k8s.io/v1": { module: "api", folder: "events/v1", kinds: ["Event"] },
  "apps/v1": { module: "api", folder: "apps/v1", kinds: ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"] },
  "batch/v1": { module: "api", folder: "batch/v1", kinds: ["Job"] },
  "policy/v1": { module: "api", folder: "policy/v1", kinds: ["PodDisruptionBudget", "Eviction"] },
  "storage.k8s.io/v1": { module: "api", folder: "storage/v1", kinds: ["VolumeAttachment", "StorageClass"] },
  "scheduling.k8s.io/v1": { module: "api", folder: "scheduling/v1", kinds: ["PriorityClass"] },
  // What Jobs refer to; no kind of it is served.
  "scheduling.k8s.io/v1alpha3": { module: "api", folder: "scheduling/v1alpha3", kinds: [] },
  "discovery.k8s.io/v1": { module: "api", folder: "discovery/v1", kinds: ["EndpointSlice"] },
  "coordination.k8s.io/v1": { module: "api", folder: "coordination/v1", kinds: ["Lease"] },
  "rbac.authorization.k8s.io/v1": {
    module: "api",
    folder: "rbac/v1",
    kinds: ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
  },
  "certificates.k8s.io/v1": { module: "api", folder: "certificates/v1", kinds: ["CertificateSigningRequest"] },
  "admissionregistration.k8s.io/v1": {
    module: "api",
    folder: "admissionregistration/v1",
    kinds: ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
  },
  "apiregistration.k8s.io/v1": {
    module: "kube-aggregator",
    folder: "pkg/apis/apiregistration/v1",
    kinds: ["APIService"],
  },
  "apiextensions.k8s.io/v1": {
    module: "apiextensions-apiserver",
    folder: "pkg/apis/apiextensions/v1",
    kinds: ["CustomResourceDefinition"],
  },
  "authentication.k8s.io/v1": {
    module: "api",
    folder: "authentication/v1",
    kinds: ["TokenReview", "SelfSubjectReview", "TokenRequest"],
  },
  "authorization.k8s.io/v1": {
    module: "api",
    folder: "authorization/v1",
    kinds: ["SelfSubjectAccessReview", "SubjectAccessReview", "LocalSubjectAccessReview", "SelfSubjectRulesReview"],
  },
  "autoscaling/v1": { module: "api", folder: "autoscaling/v1", kinds: ["Scale", "HorizontalPodAutoscaler"] },
  "autoscaling/v2": { module: "api", folder: "autoscaling/v2", kinds: ["HorizontalPodAutoscaler"] },
};

/** Messages whose JSON form is not an object with their fields: the decoder knows them by name. */
const SPECIAL = new Set([
  "Time",
  "MicroTime",
  "FieldsV1",
  "AttestationValue",
  "ExtraValue",
  "Quantity",
  "IntOrString",
  "JSON",
  "JSONSchemaPropsOrArray",
  "JSONSchemaPropsOrBool",
  "JSONSchemaPropsOrStringArray",
]);
const SCALARS = { string: "string", bytes: "bytes", bool: "bool", int32: "int", int64: "int", double: "double" };

const tableOf = new Map();
for (const [table, { module, folder }] of Object.entries(PACKAGES))
  tableOf.set(
    `.k8s.io.${module === "api" ? "api" : module}.${folder}`.replaceAll("/", ".").replaceAll("-", "_"),
    table,
  );

/** message → number → { label, type } as the .proto file has them. */
function protoMessages(text) {
  const messages = new Map();
  for (const [, name, body] of text.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const fields = new Map();
    const line = /^ {2}(?:(optional|repeated|required) ([\w.]+)|map<string, ([\w.]+)>) \w+ = (\d+)(?: \[.*\])?;$/gm;
    for (const [, label, type, mapped, number] of body.matchAll(line))
      fields.set(number, { label: mapped ? "map" : label, type: mapped ?? type });
    messages.set(name, fields);
  }
  return messages;
}

/** struct → number → { name, pointer, inline, kept } as the Go tags have them. */
function goStructs(folder) {
  const structs = new Map();
  for (const file of readdirSync(folder).filter((f) => f.endsWith(".go") && !/^zz_|_test\.go$|pb\.go$/.test(f))) {
    const text = readFileSync(join(folder, file), "utf8");
    for (const [, name, body] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
      const fields = new Map();
      const tag = /^\t(?:\w+\s+)?(\*?)[\w.[\]*]+\s+`json:"([^"]*)"[^`\n]* protobuf:"\w+,(\d+),[^"]*"/gm;
      for (const [, star, json, number] of body.matchAll(tag)) {
        const [name = "", ...options] = json.split(",");
        // A field without a name is embedded.
        const inline = options.includes("inline") || name === "";
        fields.set(number, { name, pointer: star === "*", inline, kept: !options.includes("omitempty") && !inline });
      }
      structs.set(name, fields);
    }
  }
  return structs;
}

const sources = new Map();
for (const [table, { module, folder }] of Object.entries(PACKAGES)) {
  const path = join(modules, `${module}@${VERSION}`, folder);
  sources.set(table, {
    messages: protoMessages(readFileSync(join(path, "generated.proto"), "utf8")),
    structs: goStructs(path),
  });
}

const wanted = new Map([...sources.keys()].map((table) => [table, new Map()]));

/** A type as written in the table: a scalar, a special name, a message of the same table, or `table:Message`. */
function typeName(table, type) {
  if (SCALARS[type]) return SCALARS[type];
  const bare = type.slice(type.lastIndexOf(".") + 1);
  if (SPECIAL.has(bare)) {
    if (bare.startsWith("JSONSchema")) add(table, "JSONSchemaProps");
    return bare;
  }
  const owner = type.startsWith(".") ? tableOf.get(type.slice(0, type.lastIndexOf("."))) : table;
  if (!owner) throw new Error(`no table for ${type}`);
  add(owner, bare);
  return owner === table ? bare : `${owner}:${bare}`;
}

function add(table, message) {
  const lines = wanted.get(table);
  if (lines.has(message)) return;
  lines.set(message, "");
  const { messages, structs } = sources.get(table);
  const fields = messages.get(message);
  const tags = structs.get(message) ?? (fields?.size === 0 ? new Map() : undefined);
  if (!fields || !tags) throw new Error(`${table} ${message}: ${fields ? "no Go struct" : "no message"}`);
  const texts = [];
  for (const [number, { label, type }] of fields) {
    const tag = tags.get(number);
    if (!tag) throw new Error(`${table} ${message}: no tag for field ${number}`);
    if (!tag.inline && !tag.name) throw new Error(`${table} ${message}: no JSON name for field ${number}`);
    const name = typeName(table, type);
    const scalar = SCALARS[type] && type !== "bytes";
    const mark =
      label === "map" ? "{}" : label === "repeated" ? "[]" : tag.pointer ? "?" : tag.kept && scalar ? "!" : "";
    texts.push(`${number} ${tag.inline ? "" : tag.name} ${name}${mark}`);
  }
  lines.set(message, texts.join(","));
}

for (const [table, { kinds }] of Object.entries(PACKAGES)) for (const kind of kinds) add(table, kind);

let out = `/**
 * Written by tools/record-protobuf from the published types, ${VERSION}. Per message: \`number name type\`; \`[]\` repeated, \`{}\` a map with
 * text keys, \`?\` a Go pointer, \`!\` written to JSON even when zero; no name: the fields belong to the message around it.
 */
export const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {\n`;
for (const [table, lines] of wanted) {
  out += `  ${/^\w+$/.test(table) ? table : JSON.stringify(table)}: {\n`;
  for (const [message, text] of [...lines].sort(([a], [b]) => (a < b ? -1 : 1)))
    out +=
      text.length + message.length < 112
        ? `    ${message}: ${JSON.stringify(text)},\n`
        : `    ${message}:\n      ${JSON.stringify(text)},\n`;
  out += "  },\n";
}
writeFileSync(target, `${out}};\n`);
