import { readFileSync } from "node:fs";
import {
  deepCopy,
  type FieldError,
  fieldErrorBody,
  groupVersion,
  isObject,
  stableStringify,
  type Unstructured,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { tableFor } from "../table/table.ts";
import type { ResourceType } from "../types.ts";
import { builtinTypes } from "./index.ts";

/** Facts recorded from a real kube-apiserver by tools/record-openapi. */
function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`./generated/${name}.golden.json`, import.meta.url), "utf8")) as T;
}

interface Sample {
  path: string;
  input?: Unstructured;
  created?: Unstructured;
  object: Unstructured;
  printedAt: string;
  columns: object[];
  cells: unknown[];
}

interface Refusal {
  path: string;
  old?: Unstructured;
  input?: Unstructured;
  big?: string;
  size?: number;
  causes: { reason: string; field: string; message: string }[];
}

const types = new Map(builtinTypes().map((t) => [`${groupVersion(t.group, t.version)}/${t.plural}`, t]));

function typeOf(path: string): ResourceType {
  const type = types.get(path);
  if (type === undefined) throw new Error(`no built-in type ${path}`);
  return type;
}

/** The object without empty values, which Go prints or leaves out by rules of its own. */
function essential(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essential);
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .map(([k, v]) => [k, essential(v)] as const)
    .filter(([, v]) => v !== null && v !== undefined && v !== "" && v !== 0 && v !== false && !isEmpty(v));
  return Object.fromEntries(entries);
}

const isEmpty = (v: unknown): boolean => typeof v === "object" && v !== null && Object.keys(v).length === 0;

/** What this server leaves out on purpose, because nothing here would ever undo it. */
function withoutControllersWork(path: string, object: Unstructured): Unstructured {
  const copy = deepCopy(object) as Unstructured & { spec?: { taints?: { key: string }[] }; status?: object };
  delete copy.metadata.creationTimestamp;
  delete copy.metadata.generation;
  if (path.startsWith("v1/persistentvolume")) {
    delete copy.metadata.finalizers;
    delete (copy.status as { lastPhaseTransitionTime?: string }).lastPhaseTransitionTime;
  }
  if (path === "v1/nodes" && copy.spec?.taints !== undefined)
    copy.spec.taints = copy.spec.taints.filter((t) => t.key !== "node.kubernetes.io/not-ready");
  return copy;
}

function create(type: ResourceType, input: Unstructured, uid?: string): Unstructured {
  const object = deepCopy(input);
  if (type.namespaced) object.metadata.namespace = "default";
  if (uid !== undefined) object.metadata.uid = uid;
  type.strategy.applyDefaults?.(object);
  if (type.status && type.strategy.keepStatusOnCreate !== true) delete object.status;
  const user = { name: "admin", uid: "admin-uid", groups: ["system:masters", "system:authenticated"] };
  type.strategy.prepareForCreate?.(object, { user });
  delete object.metadata.uid;
  return object;
}

const samples = recorded<Sample[]>("samples");
const titled = samples.map((s) => [`${s.path} ${s.object.metadata.name}`, s] as const);

describe("what the real server stores", () => {
  const posted = titled.filter(([, s]) => s.input !== undefined);
  it.each(posted)("%s", (_title, { path, input, created }) => {
    const uid = (created?.metadata.labels ?? {})["controller-uid"];
    const ours = create(typeOf(path), input as Unstructured, uid);
    expect(essential(withoutControllersWork(path, ours))).toEqual(
      essential(withoutControllersWork(path, created as Unstructured)),
    );
  });

  it.each(posted)("generation of %s", (_title, { path, created }) => {
    expect(typeOf(path).strategy.noGeneration ?? false).toBe(created?.metadata.generation === undefined);
  });

  it.each(posted)("%s is accepted", (_title, { path, input }) => {
    const type = typeOf(path);
    expect(type.strategy.validate?.(create(type, input as Unstructured, "u")) ?? []).toEqual([]);
  });
});

describe("what the real server prints", () => {
  it.each(titled)("%s", (_title, { path, object, printedAt, columns, cells }) => {
    const table = tableFor(typeOf(path), [object], {
      includeObject: "Metadata",
      nowMs: Date.parse(printedAt),
      withHeaders: true,
    }) as { columnDefinitions: { description: string }[]; rows: { cells: unknown[] }[] };
    expect(table.columnDefinitions.map(({ description: _prose, ...c }) => c)).toEqual(columns);
    expect(table.rows[0]?.cells).toEqual(cells);
  });
});

function validate(type: ResourceType, input: Unstructured, old?: Unstructured): FieldError[] {
  const object = deepCopy(input);
  if (old !== undefined) object.metadata.resourceVersion = "1";
  if (type.namespaced) object.metadata.namespace = "default";
  const rule = type.strategy.nameRule;
  const meta = validateObjectMeta(object.metadata, {
    namespaced: type.namespaced,
    nameRule: rule,
  });
  if (old === undefined) return [...meta, ...(type.strategy.validate?.(create(type, object, "u")) ?? [])];
  type.strategy.applyDefaults?.(object);
  type.strategy.prepareForUpdate?.(object, old, "", 0);
  const { strategy } = type;
  const errors = strategy.validateUpdate?.(object, old, "") ?? strategy.validate?.(object) ?? [];
  return [...validateObjectMetaUpdate(object.metadata, old.metadata), ...errors];
}

/** A cause as text, without the diffs that the real server appends to some messages and the field order of its Go structs. */
function line(reason: string, field: string, message: string): string {
  const [first = ""] = message.split("\n");
  const plain = first.replace(/\{.*\}/, (json) => stableStringify(JSON.parse(json)));
  return `${reason} ${field}: ${plain}`;
}

describe("what the real server refuses", () => {
  const refusals = recorded<Refusal[]>("refusals").map(
    (r, i) => [`${i} ${r.path}${r.old === undefined ? "" : " (update)"}`, r] as const,
  );
  it.each(refusals)("%s", (_title, { path, input, old, big, size, causes }) => {
    const type = typeOf(path);
    const { kind } = type;
    const body = input ?? {
      apiVersion: "v1",
      kind,
      metadata: { name: "x" },
      data: { [big ?? ""]: "A".repeat(size ?? 0) },
    };
    const ours = validate(type, body, old).map((e) => line(e.type, e.field, fieldErrorBody(e)));
    const real = causes.map((c) => line(c.reason, c.field, c.message));
    expect([...new Set(ours)].sort()).toEqual([...new Set(real)].sort());
  });
});
