import { readFileSync } from "node:fs";
import { isObject, seededRandom, type Transport, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { beforeAll, describe, expect, it } from "vitest";
import { createApiServer } from "../api-server.ts";
import { memoryStore } from "../store/memory-store.ts";
import { builtinTypes } from "./index.ts";

interface Sample {
  path: string;
  input?: Unstructured;
  created?: Unstructured;
}
interface Refusal {
  path: string;
  old?: Unstructured;
  input?: Unstructured;
  message: string;
}

function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`./generated/${name}.golden.json`, import.meta.url), "utf8")) as T;
}

/** The URL of a recorded resource's collection. */
function collection(path: string): string {
  const type = builtinTypes().find((t) => path === `${t.group === "" ? "" : `${t.group}/`}${t.version}/${t.plural}`);
  if (type === undefined) throw new Error(`no built-in type ${path}`);
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  return `${root}${type.namespaced ? "/namespaces/default" : ""}/${type.plural}`;
}

/** The requested and defaulted fields, without system metadata and the zero values that Go prints by rules of its own. */
function essential(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essential);
  if (!isObject(value)) return value === "" || value === false || value === null ? undefined : value;
  const entries = Object.entries(value).map(([key, v]) => [key, essential(v)] as const);
  const kept = entries.filter(([, v]) => v !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function withoutSystemMetadata({ metadata, status: _status, ...rest }: Unstructured): unknown {
  return essential({ ...rest, name: metadata.name, namespace: metadata.namespace, labels: metadata.labels });
}

let admin: Transport;
beforeAll(async () => {
  const server = await createApiServer({
    store: memoryStore(),
    clock: new VirtualClock(),
    random: seededRandom(1),
    auth: { authorization: "AlwaysAllow" },
    controllers: false,
  });
  admin = server.admin();
});

/** Kinds whose objects differ by design: uids, and what the real server's admission and allocators add. */
const DIFFERENT = new Set(["v1/nodes", "batch/v1/jobs", "certificates.k8s.io/v1/certificatesigningrequests"]);

describe("the whole server answers as the recorded kube-apiserver", () => {
  const samples = recorded<Sample[]>("samples").filter((s) => s.input !== undefined);
  it.each(samples.map((s) => [`${s.path} ${s.input?.metadata.name}`, s] as const))("%s", async (_title, s) => {
    const answer = await admin.request({ method: "POST", path: collection(s.path), body: s.input });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    if (!DIFFERENT.has(s.path))
      expect(withoutSystemMetadata(answer.body as Unstructured)).toEqual(
        withoutSystemMetadata(s.created as Unstructured),
      );
  });

  const refusals = recorded<Refusal[]>("refusals").filter((r) => r.old === undefined && r.input !== undefined);
  it.each(refusals.map((r, i) => [`refusal ${i} ${r.path}`, r] as const))("%s", async (_title, r) => {
    const answer = await admin.request({ method: "POST", path: collection(r.path), body: r.input });
    expect(answer.status, JSON.stringify(answer.body)).toBe(422);
    const parts = (message: string): string[] =>
      message
        .replace(/^.*? is invalid: \[?/, "")
        .replace(/\]$/, "")
        .split(/, (?=[a-z]+[.[])/)
        .sort();
    expect(parts((answer.body as { message: string }).message).length).toBe(parts(r.message).length);
  });
});
