import { isObject } from "@capstan/apimachinery";
import { resourcePath } from "@capstan/runtime";
import { type CommandInput, INTERRUPTED, usageError } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { withTarget } from "../context/with-cluster.ts";
import { findType, type ResourceType } from "../kinds/resource-types.ts";
import { namespaceOf, textOption } from "../options.ts";
import { type OutputFormat, parseOutput } from "../output/output.ts";
import { columns, columnWidths } from "../output/table.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

interface Table {
  metadata?: { resourceVersion?: string };
  columnDefinitions?: { name: string; priority: number }[];
  rows: { cells: unknown[]; object?: { metadata?: { namespace?: string; name?: string; resourceVersion?: string } } }[];
}

/** The requested objects of one kind. */
interface Wanted {
  type: ResourceType;
  name: string | undefined;
  namespace: string | undefined;
  query: Record<string, string>;
}

/** Runs `capstan get`: prints objects as server-side tables, JSON, YAML or another kubectl format, and can watch them. */
export function runGet(input: CommandInput): Promise<number> {
  const format = parseOutput(textOption(input, "output"));
  return withTarget(input, async (target) => {
    const wanted = await wantedObjects(input, target);
    const [only] = wanted;
    if (input.options["watch"] === true) {
      if (only === undefined || wanted.length > 1) throw usageError("--watch follows one type or one object at a time");
      return await watch(input, target, only, format);
    }
    if (format.type === "text") return await printValues(input, target, wanted, format);
    return await printTables(input, target, wanted, format);
  });
}

/** `get clusters`, `get cluster a b`, `get cluster/a md/b`, `get clusters,machines`. */
async function wantedObjects(input: CommandInput, target: ApiTarget): Promise<Wanted[]> {
  const [first = "", ...names] = input.arguments;
  const types = first.split(",");
  const pairs: { type: string; name: string | undefined }[] = first.includes("/")
    ? input.arguments.map((word) => splitPair(word))
    : types.flatMap((type) => (names.length === 0 ? [undefined] : names).map((name) => ({ type, name })));
  const everywhere = input.options["allNamespaces"] === true;
  const selector = textOption(input, "selector");
  const fieldSelector = textOption(input, "fieldSelector");
  const out: Wanted[] = [];
  for (const { type: word, name } of pairs) {
    const type = await findType(target.client, word);
    if (name !== undefined && everywhere)
      throw usageError("a resource cannot be retrieved by name across all namespaces");
    if (name !== undefined && selector !== undefined)
      throw usageError("name cannot be provided when a selector is specified");
    out.push({
      type,
      name,
      namespace: type.namespaced && !everywhere ? namespaceOf(input) : undefined,
      query: {
        ...(selector === undefined ? {} : { labelSelector: selector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      },
    });
  }
  return out;
}

function splitPair(word: string): { type: string; name: string } {
  const [type = "", name = "", ...rest] = word.split("/");
  if (type === "" || name === "" || rest.length > 0)
    throw usageError(
      `${JSON.stringify(word)} is not TYPE/NAME`,
      "e.g. capstan get cluster/demo machinedeployment/demo-workers",
    );
  return { type, name };
}

async function ask<T>(input: CommandInput, target: ApiTarget, wanted: Wanted, accept?: string): Promise<T | undefined> {
  const path = resourcePath(wanted.type, wanted.namespace, wanted.name);
  const headers = accept === undefined ? {} : { headers: { accept } };
  try {
    return await target.client.request<T>({ method: "GET", path, query: wanted.query, ...headers });
  } catch (error) {
    const missing = (error as { reason?: string }).reason === "NotFound" && wanted.name !== undefined;
    if (missing && input.options["ignoreNotFound"] === true) return undefined;
    throw error;
  }
}

async function printValues(
  input: CommandInput,
  target: ApiTarget,
  wanted: Wanted[],
  format: Extract<OutputFormat, { type: "text" }>,
): Promise<number> {
  const values: unknown[] = [];
  for (const one of wanted) {
    const value = await ask(input, target, one);
    if (value !== undefined) values.push(value);
  }
  const [only] = values;
  if (values.length === 0) return 0;
  // One object as it is; anything else as a List, so that what comes out can be applied again.
  const single = values.length === 1 && (wanted[0]?.name !== undefined || !isObject(only));
  const items = values.flatMap((value, at) => itemsWithType(value, wanted[at]?.type)).map(withoutManagedFields);
  const shown = single
    ? withoutManagedFields(only)
    : { apiVersion: "v1", items, kind: "List", metadata: { resourceVersion: "" } };
  input.io.out(format.render(shown));
  return 0;
}

/** Managed fields are noise to nearly every reader; kubectl leaves them out too. */
function withoutManagedFields(object: unknown): unknown {
  if (!isObject(object) || !isObject(object["metadata"])) return object;
  const { managedFields: _, ...metadata } = object["metadata"];
  return { ...object, metadata };
}

/** Items of a list carry neither apiVersion nor kind on the wire. */
function itemsWithType(value: unknown, type: ResourceType | undefined): unknown[] {
  if (!isObject(value) || !Array.isArray(value["items"]) || type === undefined) return [value];
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  return value["items"].map((item: unknown) => ({ apiVersion, kind: type.kind, ...(isObject(item) ? item : {}) }));
}

async function printTables(
  input: CommandInput,
  target: ApiTarget,
  wanted: Wanted[],
  format: Exclude<OutputFormat, { type: "text" }>,
): Promise<number> {
  const { io } = input;
  const types = new Set(wanted.map(({ type }) => type.plural));
  const tables = new Map<string, { wanted: Wanted; rows: string[][]; headers: string[] }>();
  for (const one of wanted) {
    const answer = await ask<Table>(input, target, one, TABLE);
    if (answer === undefined) continue;
    const table = await withStates(input, target, one, answer, format);
    const shown = rowsOf(input, one, table, format, types.size > 1);
    const known = tables.get(one.type.plural);
    if (known === undefined) tables.set(one.type.plural, { wanted: one, ...shown });
    else known.rows.push(...shown.rows);
  }
  const parts: string[] = [];
  for (const { wanted: one, headers, rows } of tables.values()) {
    if (rows.length === 0) {
      if (types.size === 1)
        io.err(
          one.namespace === undefined ? "No resources found\n" : `No resources found in ${one.namespace} namespace.\n`,
        );
      continue;
    }
    parts.push(`${columns(headers.length === 0 ? rows : [headers, ...rows]).join("\n")}\n`);
  }
  io.out(parts.join(format.type === "name" ? "" : "\n"));
  return 0;
}

/** Clusters with a column for the state that `why` and the dashboard show too; it depends on the parts, which the server does not know. */
async function withStates(
  input: CommandInput,
  target: ApiTarget,
  { type, namespace, name }: Wanted,
  table: Table,
  format: Exclude<OutputFormat, { type: "text" }>,
): Promise<Table> {
  const isCluster = type.group === "cluster.x-k8s.io" && type.kind === "Cluster";
  if (!isCluster || format.type === "name" || table.rows.length === 0) return table;
  // Loaded only here, because other kinds do not need the code that determines states.
  const [{ readClusterStates }, { providersOf }] = await Promise.all([
    import("../kinds/cluster-states.ts"),
    import("../providers.ts"),
  ]);
  const states = await readClusterStates(target.client, namespace, {
    nowMs: clockOf(input).now(),
    providers: await providersOf(input),
  });
  const textFor = (row: Table["rows"][number]): string => {
    const key = `${row.object?.metadata?.namespace ?? namespace ?? ""}/${row.object?.metadata?.name ?? name ?? ""}`;
    return states.get(key) ?? "";
  };
  const after = (list: readonly unknown[], added: unknown): unknown[] => [list[0], added, ...list.slice(1)];
  return {
    ...table,
    columnDefinitions: after(table.columnDefinitions ?? [], { name: "State", priority: 0 }) as NonNullable<
      Table["columnDefinitions"]
    >,
    rows: table.rows.map((row) => ({ ...row, cells: after(row.cells, textFor(row)) })),
  };
}

function rowsOf(
  input: CommandInput,
  { type, name }: Wanted,
  table: Table,
  format: Exclude<OutputFormat, { type: "text" }>,
  withType: boolean,
): { headers: string[]; rows: string[][] } {
  const fullName = `${type.kind.toLowerCase()}${type.group === "" ? "" : `.${type.group}`}`;
  if (format.type === "name") {
    const rows = table.rows.map((row) => [`${fullName}/${row.object?.metadata?.name ?? name ?? String(row.cells[0])}`]);
    return { headers: [], rows };
  }
  const lead = input.options["allNamespaces"] === true && type.namespaced;
  const shown = (table.columnDefinitions ?? [])
    .map((column, index) => ({ ...column, index }))
    .filter((column) => format.wide || column.priority === 0);
  const headers = [...(lead ? ["NAMESPACE"] : []), ...shown.map((column) => column.name.toUpperCase())];
  const rows = table.rows.map((row) => [
    ...(lead ? [row.object?.metadata?.namespace ?? ""] : []),
    ...shown.map((column, at) => (at === 0 && withType ? `${fullName}/` : "") + cellText(row.cells[column.index])),
  ]);
  return { headers: input.options["headers"] === false ? [] : headers, rows };
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "string" ? (cell.split("\n")[0] ?? "") : JSON.stringify(cell);
}

/** Rows as they change. The columns keep the width they began with unless a cell needs more. */
async function watch(input: CommandInput, target: ApiTarget, wanted: Wanted, format: OutputFormat): Promise<number> {
  const { io } = input;
  const signal = io.interrupted?.();
  const table = format.type !== "text";
  // One object is watched as a list of one.
  const query = wanted.name === undefined ? wanted.query : { fieldSelector: `metadata.name=${wanted.name}` };
  const all = { ...wanted, name: undefined, query };
  const accept = table ? TABLE : undefined;
  const first = await ask<Table & { metadata: { resourceVersion: string } }>(input, target, all, accept);
  let widths: number[] = [];
  let definitions: Table["columnDefinitions"];
  const print = (value: unknown, withHeaders: boolean): void => {
    if (!table) {
      io.out(format.render(withoutManagedFields(value)));
      return;
    }
    const part = value as Table;
    definitions = part.columnDefinitions ?? definitions;
    const { headers, rows } = rowsOf(
      input,
      wanted,
      { ...part, ...(definitions === undefined ? {} : { columnDefinitions: definitions }) },
      format,
      false,
    );
    const lines = withHeaders && headers.length > 0 && rows.length > 0 ? [headers, ...rows] : rows;
    if (lines.length === 0) return;
    widths = columnWidths(lines, widths);
    io.out(`${columns(lines, widths).join("\n")}\n`);
  };
  let printed = false;
  if (table) {
    print(first, true);
    printed = (first?.rows.length ?? 0) > 0;
  } else for (const item of itemsWithType(first, wanted.type)) print(item, false);
  const events = target.client.transport.watch(
    {
      method: "GET",
      path: resourcePath(wanted.type, wanted.namespace),
      query: { ...query, watch: "true", resourceVersion: first?.metadata.resourceVersion },
      ...(accept === undefined ? {} : { headers: { accept } }),
    },
    signal,
  );
  for await (const { type, object } of events) {
    if (type === "BOOKMARK" || type === "ERROR") continue;
    print(object, !printed);
    printed = true;
  }
  return signal?.aborted === true ? INTERRUPTED : 0;
}
