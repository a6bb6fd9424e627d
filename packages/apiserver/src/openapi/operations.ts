import type { ResourceType, SubresourceType, Verb } from "../types.ts";
import { documentKey, META, operationPrefix, schemaName, subresourceOrigin } from "./naming.ts";

type Reference = (schema: string) => object;

/** How a version of OpenAPI writes references and parameters. */
export interface Dialect {
  readonly reference: Reference;
  readonly parameter: (name: string, type: string, place: "query" | "path") => object;
  /** The request body and, in v2, its parameter. */
  readonly body: (schema: object, contentTypes: readonly string[]) => object;
  readonly answer: (schema: object, contentTypes: readonly string[]) => object;
}

const PATCHES = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_TYPES = ["application/json", "application/yaml"];

const QUERY = {
  write: ["dryRun:string", "fieldManager:string", "fieldValidation:string"],
  force: ["force:boolean"],
  remove: ["dryRun:string", "gracePeriodSeconds:integer", "orphanDependents:boolean", "propagationPolicy:string"],
  list: [
    "allowWatchBookmarks:boolean",
    "continue:string",
    "fieldSelector:string",
    "labelSelector:string",
    "limit:integer",
    "resourceVersion:string",
    "resourceVersionMatch:string",
    "sendInitialEvents:boolean",
    "shardSelector:string",
    "timeoutSeconds:integer",
    "watch:boolean",
  ],
} as const;

type QueryGroup = keyof typeof QUERY;

/** Lists of query parameters by dialect and groups: they are the same for all kinds. */
const queryLists = new WeakMap<Dialect, Map<string, readonly object[]>>();

function queryParameters(dialect: Dialect, groups: readonly QueryGroup[]): readonly object[] {
  let lists = queryLists.get(dialect);
  if (lists === undefined) {
    lists = new Map();
    queryLists.set(dialect, lists);
  }
  const key = groups.join();
  let list = lists.get(key);
  if (list === undefined) {
    const entries = groups.flatMap((group) => QUERY[group] as readonly string[]);
    list = [...new Set(entries)].map((entry) => {
      const [name = "", kind = "string"] = entry.split(":");
      return dialect.parameter(name, kind, "query");
    });
    lists.set(key, list);
  }
  return list;
}

/** All parameters that operations may name, with their types. */
export function allParameters(): { name: string; type: string; place: "query" | "path" }[] {
  const query = [...new Set(Object.values(QUERY).flatMap((g) => g as readonly string[])), "pretty:string"];
  return [
    ...query.map((entry) => ({
      name: entry.split(":")[0] ?? "",
      type: entry.split(":")[1] ?? "",
      place: "query" as const,
    })),
    { name: "name", type: "string", place: "path" },
    { name: "namespace", type: "string", place: "path" },
  ];
}

interface Operation {
  readonly verb: Verb | "post" | "put";
  readonly id: string;
  readonly query?: readonly QueryGroup[];
  readonly body?: { schema: string; types: readonly string[] };
  readonly answer: { schema: string; codes: readonly number[] };
}

/** All paths of one type: what kubectl, generators and API browsers look for. */
export function typePaths(type: ResourceType, dialect: Dialect): Record<string, object> {
  const root = `/${documentKey(type.group, type.version)}`;
  const collection = type.namespaced ? `${root}/namespaces/{namespace}/${type.plural}` : `${root}/${type.plural}`;
  const paths: Record<string, object> = {};
  if (type.namespaced && type.verbs.includes("list"))
    paths[`${root}/${type.plural}`] = pathItem(dialect, type, false, false, {
      get: listOperation(type, "ForAllNamespaces"),
    });
  paths[collection] = pathItem(dialect, type, type.namespaced, false, collectionOperations(type));
  const item = `${collection}/{name}`;
  const operations = itemOperations(type);
  if (Object.keys(operations).length > 0) paths[item] = pathItem(dialect, type, type.namespaced, true, operations);
  for (const sub of subresources(type))
    paths[`${item}/${sub.name}`] = pathItem(
      dialect,
      type,
      type.namespaced,
      true,
      subresourceOperations(type, sub),
      sub,
    );
  return paths;
}

function subresources(type: ResourceType): SubresourceType[] {
  const verbs: readonly Verb[] = ["get", "patch", "update"];
  return [
    ...(type.status ? [{ name: "status", kind: type.kind, verbs }] : []),
    ...(type.scale === undefined ? [] : [{ name: "scale", kind: "Scale", group: "autoscaling", version: "v1", verbs }]),
    ...type.subresources,
  ];
}

const idOf = (verb: string, type: ResourceType, suffix = ""): string =>
  `${verb}${operationPrefix(type.group, type.version)}${type.namespaced && suffix !== "ForAllNamespaces" ? "Namespaced" : ""}${type.kind}${suffix}`;

function listOperation(type: ResourceType, suffix = ""): Operation {
  const schema = schemaName(type, type.listKind);
  return { verb: "list", id: idOf("list", type, suffix), query: ["list"], answer: { schema, codes: [200] } };
}

function collectionOperations(type: ResourceType): Record<string, Operation> {
  const operations: Record<string, Operation> = {};
  const own = schemaName(type, type.kind);
  if (type.verbs.includes("list")) operations.get = listOperation(type);
  if (type.verbs.includes("create"))
    operations.post = {
      verb: "post",
      id: idOf("create", type),
      query: ["write"],
      body: { schema: own, types: ["*/*"] },
      answer: { schema: own, codes: [200, 201, 202] },
    };
  if (type.verbs.includes("deletecollection"))
    operations.delete = {
      verb: "deletecollection",
      id: idOf("delete", type, "Collection"),
      query: ["list", "remove"],
      body: { schema: `${META}.DeleteOptions`, types: ["*/*"] },
      answer: { schema: `${META}.Status`, codes: [200] },
    };
  return operations;
}

function itemOperations(type: ResourceType): Record<string, Operation> {
  const operations = readAndChange(type, type.verbs, schemaName(type, type.kind), "");
  if (type.verbs.includes("delete"))
    operations.delete = {
      verb: "delete",
      id: idOf("delete", type),
      query: ["remove"],
      body: { schema: `${META}.DeleteOptions`, types: ["*/*"] },
      answer: { schema: `${META}.Status`, codes: [200, 202] },
    };
  return operations;
}

function subresourceOperations(type: ResourceType, sub: SubresourceType): Record<string, Operation> {
  const schema = schemaName(subresourceOrigin(type, sub), sub.kind);
  const suffix = sub.name.charAt(0).toUpperCase() + sub.name.slice(1);
  const operations = readAndChange(type, sub.verbs, schema, suffix);
  if (sub.verbs.includes("create"))
    operations.post = {
      verb: "post",
      id: idOf("create", type, suffix),
      query: ["write"],
      body: { schema, types: ["*/*"] },
      answer: { schema, codes: [200, 201, 202] },
    };
  return operations;
}

function readAndChange(
  type: ResourceType,
  verbs: readonly Verb[],
  schema: string,
  suffix: string,
): Record<string, Operation> {
  const operations: Record<string, Operation> = {};
  if (verbs.includes("get"))
    operations.get = { verb: "get", id: idOf("read", type, suffix), answer: { schema, codes: [200] } };
  if (verbs.includes("update"))
    operations.put = {
      verb: "put",
      id: idOf("replace", type, suffix),
      query: ["write"],
      body: { schema, types: ["*/*"] },
      answer: { schema, codes: [200, 201] },
    };
  if (verbs.includes("patch"))
    operations.patch = {
      verb: "patch",
      id: idOf("patch", type, suffix),
      query: ["write", "force"],
      body: { schema: `${META}.Patch`, types: type.strategicMerge ? [...PATCHES, STRATEGIC] : PATCHES },
      answer: { schema, codes: [200, 201] },
    };
  return operations;
}

function pathItem(
  dialect: Dialect,
  type: ResourceType,
  namespaced: boolean,
  named: boolean,
  operations: Record<string, Operation>,
  sub?: SubresourceType,
): object {
  const item: Record<string, unknown> = {};
  for (const [method, operation] of Object.entries(operations)) item[method] = write(dialect, type, operation, sub);
  item.parameters = [
    ...(named ? [dialect.parameter("name", "string", "path")] : []),
    ...(namespaced ? [dialect.parameter("namespace", "string", "path")] : []),
    dialect.parameter("pretty", "string", "query"),
  ];
  return item;
}

function write(dialect: Dialect, type: ResourceType, operation: Operation, sub: SubresourceType | undefined): object {
  const { body, answer, query = [] } = operation;
  const streams = operation.verb === "list" ? ["application/json;stream=watch"] : [];
  const reply = dialect.answer(dialect.reference(answer.schema), [...JSON_TYPES, ...streams]);
  return {
    tags: [`${operationPrefix(type.group, type.version)}`],
    operationId: operation.id,
    parameters: queryParameters(dialect, query),
    ...(body === undefined ? {} : dialect.body(dialect.reference(body.schema), body.types)),
    responses: Object.fromEntries(answer.codes.map((code) => [String(code), reply])),
    "x-kubernetes-action": operation.verb,
    "x-kubernetes-group-version-kind": {
      group: sub?.group ?? type.group,
      version: sub?.version ?? type.version,
      kind: sub?.kind ?? type.kind,
    },
  };
}
