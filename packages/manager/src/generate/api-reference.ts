import type { JSONSchemaProps } from "@capstan/apimachinery";
import type { AnyKind } from "@capstan/capi";
import { KINDS } from "../kinds.ts";

/** Renders the API reference, one page per group and an index, by file name. */
export function referenceFiles(): Map<string, string> {
  const groups = new Map<string, AnyKind[]>();
  for (const kind of KINDS) groups.set(kind.group, [...(groups.get(kind.group) ?? []), kind]);
  const files = new Map<string, string>([["README.md", index(groups)]]);
  for (const [group, kinds] of groups) files.set(`${group}.md`, page(group, kinds));
  return files;
}

const NOTE = "<!-- Written by `npm run generate` from the definitions of the kinds. -->\n\n";

function index(groups: ReadonlyMap<string, readonly AnyKind[]>): string {
  const lines = [...groups].map(([group, kinds]) => {
    const links = kinds.map(({ kind }) => `[${kind}](${group}.md#${kind.toLowerCase()})`);
    return `- [\`${group}\`](${group}.md): ${links.join(", ")}\n`;
  });
  return `${NOTE}# API reference\n\nThe same is in \`kubectl explain KIND --recursive\`.\n\n${lines.join("")}`;
}

function page(group: string, kinds: readonly AnyKind[]): string {
  return `${NOTE}# ${group}\n\n${kinds.map(section).join("\n")}`;
}

function section(kind: AnyKind): string {
  const older = kind.versions.filter(({ name }) => name !== kind.version).map(({ name }) => name);
  const served = older.length === 0 ? "" : ` Also served, deprecated, and converted without loss: ${older.join(", ")}.`;
  const schema = kind.versions[0]?.schema.json ?? {};
  const rows = fields(schema, "", new Set(schema.required));
  return [
    `## ${kind.kind}\n\n${kind.doc}\n\n`,
    `\`${kind.group}/${kind.version}\`, \`${kind.plural}\`, ${kind.namespaced ? "namespaced" : "cluster-scoped"}.${served}\n\n`,
    "| Field | Type | What it is |\n|---|---|---|\n",
    ...rows.map((row) => `| ${row.join(" | ")} |\n`),
  ].join("");
}

type Row = readonly [path: string, type: string, text: string];

/** Conditions are the same in all kinds and are described once. */
const FOLDED = new Set(["status.conditions", "status.deprecated"]);

function fields(schema: JSONSchemaProps, prefix: string, required: ReadonlySet<string>): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const row: Row = [`\`${path}\`${required.has(name) ? " *" : ""}`, typeOf(field), textOf(field)];
    return FOLDED.has(path) ? [row] : [row, ...below(field, path)];
  });
}

function below(field: JSONSchemaProps, path: string): Row[] {
  if (field.items !== undefined) return fields(field.items, `${path}[]`, new Set(field.items.required));
  const { additionalProperties } = field;
  if (typeof additionalProperties === "object" && additionalProperties.properties !== undefined)
    return fields(additionalProperties, `${path}{}`, new Set(additionalProperties.required));
  return fields(field, path, new Set(field.required));
}

function typeOf(schema: JSONSchemaProps): string {
  if (schema["x-kubernetes-int-or-string"] === true) return "integer or string";
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.format === "date-time") return "time";
  if (typeof schema.additionalProperties === "object") return `map of ${typeOf(schema.additionalProperties)}`;
  return schema.type ?? "any";
}

function textOf(schema: JSONSchemaProps): string {
  const { minimum, maximum, maxLength, maxItems } = schema;
  const limits = [
    schema.enum === undefined ? "" : `One of ${schema.enum.map((value) => `\`${String(value)}\``).join(", ")}.`,
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}.` : "",
    minimum !== undefined && minimum > 0 && maximum === undefined ? `At least ${minimum}.` : "",
    maxLength === undefined ? "" : `At most ${maxLength} characters.`,
    maxItems === undefined ? "" : `At most ${maxItems}.`,
    schema.default === undefined ? "" : `Default \`${JSON.stringify(schema.default)}\`.`,
    ...(schema["x-kubernetes-validations"] ?? []).map(({ message }) => `Rule: ${message}.`),
  ];
  const words = [schema.description ?? "", ...limits].filter((text) => text !== "").join(" ");
  return words.replaceAll("|", String.raw`\|`).replaceAll("<", "&lt;").replaceAll("\n", " ");
}
