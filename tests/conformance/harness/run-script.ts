import { Client, type OpenWatch, type RawRequest, type Side } from "./client.ts";
import { Normaliser } from "./normalise.ts";
import { at } from "./paths.ts";
import { MERGE, type RequestStep, type Script, type Step, type WaitStep, type WatchStep } from "./script.ts";

/** The normalized outcome of one step. */
export interface Outcome {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const WAIT_MS = 30_000;

/** Runs a script on one server; the outcomes of requests and watches, in order (undefined for steps that only wait). */
export async function runScript(side: Side, script: Script): Promise<(Outcome | undefined)[]> {
  const run = new ScriptRun(side, script);
  try {
    return await run.all();
  } finally {
    run.close();
  }
}

/** The namespace that a script works in. */
export function namespaceOf(script: Script): string {
  return `c-${script.name}`;
}

class ScriptRun {
  readonly #side: string;
  readonly #client: Client;
  readonly #script: Script;
  readonly #answers = new Map<string, unknown>();
  readonly #watches = new Map<string, OpenWatch>();
  readonly #normaliser = new Normaliser();

  constructor(side: Side, script: Script) {
    this.#side = side.name;
    this.#client = new Client(side);
    this.#script = script;
    if (side.webhooks !== undefined) this.#answers.set("webhooks", side.webhooks);
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close();
    this.#client.close();
  }

  async all(): Promise<(Outcome | undefined)[]> {
    const namespace = namespaceOf(this.#script);
    await this.#client.send(this.#request({ do: "POST /api/v1/namespaces", body: { metadata: { name: namespace } } }));
    // Objects that controllers create in every namespace must exist before anything is listed.
    await this.#wait({ wait: `/api/v1/namespaces/${namespace}/serviceaccounts/default` });
    await this.#wait({ wait: `/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt` });
    const outcomes: (Outcome | undefined)[] = [];
    for (const [index, step] of this.#script.steps.entries())
      try {
        outcomes.push(await this.#step(step));
      } catch (error) {
        throw new Error(
          `${this.#side} server, step ${index}: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    return outcomes;
  }

  async #step(step: Step): Promise<Outcome | undefined> {
    if ("do" in step) return this.#do(step);
    if ("watch" in step) return this.#open(step);
    if ("wait" in step) return this.#wait(step);
    const watch = this.#watches.get(step.events);
    if (watch === undefined) throw new Error(`no watch ${step.events}`);
    const { lines, ended } = await watch.take(step.count, step.end ?? false);
    const events = lines.map((line) => this.#body(Buffer.from(line), step.mask));
    return {
      status: watch.status,
      body: {
        events: events.map((event) => pick(event, step.only)),
        ...(step.end === true ? { ended } : {}),
      },
    };
  }

  async #do(step: RequestStep): Promise<Outcome> {
    const answer = await this.#client.send(this.#request(step));
    const json = parse(answer.body);
    if (step.id !== undefined) {
      this.#answers.set(step.id, json);
      this.#answers.set(`${step.id}Headers`, answer.headers);
      const meta = at(json, "metadata") as { generateName?: string; name?: string } | undefined;
      if (meta?.generateName !== undefined && meta.name !== undefined)
        this.#normaliser.name(meta.name, `${step.id}.name`);
    }
    return {
      status: answer.status,
      headers: this.#normaliser.headers(answer.headers),
      body: pick(this.#body(answer.body, step.mask), step.only),
    };
  }

  async #open(step: WatchStep): Promise<Outcome | undefined> {
    const watch = await this.#client.watch(this.#request({ ...step, do: `GET ${step.path}` }));
    this.#watches.set(step.watch, watch);
    return undefined;
  }

  async #wait(step: WaitStep): Promise<undefined> {
    const deadline = Date.now() + WAIT_MS;
    const call = this.#request({ ...step, do: step.wait.startsWith("/") ? `GET ${step.wait}` : step.wait });
    for (;;) {
      const answer = await this.#client.send(call);
      const json = parse(answer.body);
      const fits =
        answer.status === (step.status ?? 200) &&
        (step.where === undefined || at(json, step.where[0]) === step.where[1]);
      if (fits) {
        if (step.id !== undefined) this.#answers.set(step.id, json);
        return undefined;
      }
      if (Date.now() > deadline)
        throw new Error(`waited ${WAIT_MS} ms in vain for ${step.wait}: ${answer.status} ${answer.body.toString()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #request(step: RequestStep): RawRequest {
    const space = step.do.indexOf(" ");
    const method = step.do.slice(0, space);
    const headers: Record<string, string | string[]> = {
      accept: step.accept ?? "application/json",
      "user-agent": "suite/1",
    };
    const type = step.type ?? (method === "PATCH" ? MERGE : "application/json");
    if (step.body !== undefined) headers["content-type"] = type;
    const [user, ...groups] = step.as === undefined ? [] : this.#fill(step.as).split(",");
    if (user !== undefined) headers["impersonate-user"] = user;
    if (groups.length > 0) headers["impersonate-group"] = groups;
    if (typeof step.credentials === "object") headers["authorization"] = `Bearer ${this.#fill(step.credentials.token)}`;
    for (const [name, value] of Object.entries(step.headers ?? {})) headers[name] = this.#fill(value);
    return {
      method,
      path: this.#fill(step.do.slice(space + 1)),
      headers,
      body: this.#bytes(step.body),
      credentials: step.credentials === undefined,
    };
  }

  #bytes(body: unknown): Buffer | undefined {
    if (body === undefined) return undefined;
    if (body instanceof Uint8Array) return Buffer.from(body);
    return Buffer.from(this.#fill(typeof body === "string" ? body : JSON.stringify(body)));
  }

  /** Substitutes fields of earlier responses. */
  #fill(text: string): string {
    return text.replace(/<([a-z][a-zA-Z0-9]*)(?:\.([a-zA-Z0-9./\\-]+))?>/g, (whole, id: string, path?: string) => {
      if (id === "ns") return namespaceOf(this.#script);
      const answer = this.#answers.get(id);
      if (answer === undefined || path === undefined) return whole;
      const value = at(answer, path);
      if (value === undefined) return whole;
      return typeof value === "string" ? value : JSON.stringify(value);
    });
  }

  #body(bytes: Buffer, masks: readonly RegExp[] = []): unknown {
    const json = parse(bytes);
    const plain = typeof json === "string" ? this.#normaliser.text(json) : this.#normaliser.value(json);
    return masks.length === 0 ? plain : masked(plain, masks);
  }
}

/** The value with the masked parts of all its texts replaced. */
function masked(value: unknown, masks: readonly RegExp[]): unknown {
  if (typeof value === "string")
    return masks.reduce((text, mask) => text.replace(new RegExp(mask, "g"), "<masked>"), value);
  if (Array.isArray(value)) return value.map((item) => masked(item, masks));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, masks)]));
}

function pick(value: unknown, paths: readonly string[] | undefined): unknown {
  if (paths === undefined) return value;
  return Object.fromEntries(paths.map((path) => [path, at(value, path)]));
}

function parse(bytes: Buffer): unknown {
  const text = bytes.toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
