import { createHash } from "node:crypto";
import type { ApiRequest, KubeObject, Transport } from "@capstan/apimachinery";
import { finalState } from "./final-state.ts";
import { normalize } from "./normalize.ts";

/** Their bytes are compared elsewhere: CRDs with the component files, Events follow conditions, Leases are a sign of life only. */
const ELSEWHERE = /\/(customresourcedefinitions|events|leases)(\/|$)/;
const PATH = /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/[^/]+(?=\/))?\/([^/]+)(?:\/[^/]+)?(?:\/([^/]+))?$/;
const APPLY = "application/apply-patch+yaml";
const SAMPLE_LENGTH = 400;

interface Step {
  readonly name: string;
  /** For each kind of write, the writes that count, by what replaces an earlier one. */
  readonly writes: Map<string, Map<string, string>>;
}

/**
 * Records what controllers create and apply through its transports, as the server gets it, and the objects at the end of each step. How
 * controllers get there depends on who is faster, so statuses, merge patches and deletions count only by the objects that they leave.
 */
export class RequestRecorder {
  readonly #steps: Step[] = [];
  readonly #objects: () => readonly KubeObject[];

  /** `objects` lists those whose state at the end of a step is recorded. */
  constructor(objects: () => readonly KubeObject[]) {
    this.#objects = objects;
  }

  /** Ends the step before; writes from now on belong to this one. */
  step(name: string): void {
    this.end();
    this.#steps.push({ name, writes: new Map() });
  }

  /** Ends the last step. */
  end(): void {
    for (const object of this.#steps.length === 0 ? [] : this.#objects()) {
      const text = normalize(JSON.stringify(finalState(object)));
      this.#add(`state ${object.kind}`, text, text);
    }
  }

  /** The same transport, recorded. `server` says which API it leads to. */
  record(server: "management" | "workload", inner: Transport): Transport {
    return {
      ...inner,
      request: (request, signal) => {
        this.#note(server, request);
        return inner.request(request, signal);
      },
      watch: (request, signal) => inner.watch(request, signal),
      close: () => inner.close(),
    };
  }

  /** For each step and kind of write: how many different ones there were, their digest, and the first of them. */
  digest(): string {
    return this.#text((writes) => {
      const sample = writes[0] ?? "";
      const shown = sample.length > SAMPLE_LENGTH ? `${sample.slice(0, SAMPLE_LENGTH)} ...` : sample;
      return `${writes.length} different, sha256 ${sha256(writes.join("\n"))}\n    ${shown}\n`;
    });
  }

  /** Every write of every step. */
  full(): string {
    return this.#text((writes) => `\n${writes.map((write) => `    ${write}\n`).join("")}`);
  }

  #text(render: (writes: string[]) => string): string {
    return this.#steps
      .map(({ name, writes }) => {
        const groups = [...writes.keys()].sort();
        return `# ${name}\n${groups.map((group) => `${group}: ${render([...new Set(writes.get(group)?.values())].sort())}`).join("")}`;
      })
      .join("\n");
  }

  #note(server: string, { method, path, query, headers, body }: ApiRequest): void {
    const type = headers?.["content-type"] ?? "application/json";
    const [, group, resource = path, subresource] = PATH.exec(path) ?? [];
    if (ELSEWHERE.test(path) || subresource !== undefined || (method !== "POST" && type !== APPLY)) return;
    const what = [resource, group].filter(Boolean).join(".");
    const search = query === undefined ? "" : `?${JSON.stringify(query)}`;
    const text = normalize(`${path}${search} ${type} ${textOf(body)}`);
    // How many applies of an object come before the last one of a step depends on who is faster.
    this.#add(`${server} ${method} ${what}`, type === APPLY ? `${path}${search}` : text, text);
  }

  #add(group: string, key: string, text: string): void {
    const writes = this.#steps.at(-1)?.writes;
    const known = writes?.get(group) ?? new Map<string, string>();
    known.set(key, text);
    writes?.set(group, known);
  }
}

function textOf(body: unknown): string {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  return typeof body === "string" ? body : (JSON.stringify(body) ?? "");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
