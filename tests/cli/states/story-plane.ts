import { type KubeObject, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { hostKinds, isTreeKind } from "@capstan/capi";
import { type FleetRow, type HostRow, type ObjectItem, Views } from "@capstan/dashboard-server";
import { KINDS, observeClusterStates, PROVIDERS } from "@capstan/manager";
import { Cache, Client, createMetrics, type Metrics, silentLogger } from "@capstan/runtime";
import { type CommandIo, runProgram } from "capstan";
import type { StoryObject } from "./objects.ts";

/** What every surface shows of one cluster. */
export interface Surfaces {
  /** Output of `capstan why`, and of `capstan describe cluster`. */
  why: string;
  describe: string;
  /** The STATE column of `capstan get clusters`. */
  get: string;
  fleet: FleetRow;
  /** The objects of the cluster's page, by `Kind/name`. */
  page: Map<string, ObjectItem>;
  hosts: HostRow[];
  hostList: string;
  /** The state that the metrics name. */
  metric: string;
}

/** An API server with all kinds and no controllers: objects are as a story wrote them, and every surface reads the same ones. */
export class StoryPlane {
  readonly clock = new VirtualClock();
  readonly #api: ApiServer;
  readonly #client: Client;
  readonly #cache: Cache;
  readonly #views: Views;
  readonly #metrics: Metrics;

  private constructor(clock: VirtualClock, api: ApiServer, metrics: Metrics) {
    const deps = { clock, random: seededRandom(1) };
    this.clock = clock;
    this.#api = api;
    this.#metrics = metrics;
    this.#client = new Client(api.admin(), { fieldManager: "story", clock });
    this.#cache = new Cache(this.#client, deps);
    this.#cache.start();
    this.#views = new Views({
      cache: this.#cache,
      kinds: KINDS.filter((kind) => isTreeKind(kind, hostKinds(PROVIDERS))),
      providers: PROVIDERS,
      log: silentLogger,
      ...deps,
    });
    observeClusterStates(metrics, this.#cache, PROVIDERS, clock);
  }

  static async start(): Promise<StoryPlane> {
    const clock = new VirtualClock();
    const api = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1), controllers: false });
    await api.registerCrds(KINDS.map((kind) => kind.crd()));
    return new StoryPlane(clock, api, await createMetrics({ clock }));
  }

  async stop(): Promise<void> {
    await this.#views.stop();
    await this.#cache.stop();
    await this.#api.close();
  }

  /** Writes the objects of a story into a namespace of its own: they are created, age, and then have their status. */
  async tell(namespace: string, ageSeconds: number, objects: (nowMs: number) => readonly StoryObject[]): Promise<void> {
    await this.#client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } } as Unstructured);
    const made = new Map<string, Unstructured>();
    for (const object of objects(this.clock.now())) {
      const owner = object.owner === undefined ? undefined : made.get(object.owner);
      const created = await this.#client.create(withOwner(object, namespace, owner));
      made.set(`${object.kind}/${object.name}`, created);
    }
    await this.clock.advance(ageSeconds * 1000);
    for (const { kind, name, status } of objects(this.clock.now())) {
      const created = made.get(`${kind}/${name}`);
      if (created !== undefined && status !== undefined) await this.#client.patchStatus(created, { status });
    }
    await this.clock.advance(100);
  }

  /** Reads a cluster on every surface at the same moment. */
  async surfaces(namespace: string, name: string): Promise<Surfaces> {
    const items = async <T>(topic: string): Promise<Map<string, T>> => {
      const opening = this.#views.topic(topic);
      await this.clock.advance(100);
      const entries = (await opening)?.since(0).set ?? [];
      return new Map(entries.map(({ key, json }) => [key, JSON.parse(json) as T]));
    };
    const fleet = (await items<FleetRow>("fleet")).get(`${namespace}/${name}`);
    if (fleet === undefined) throw new Error(`no row for ${namespace}/${name}`);
    const page = await items<ObjectItem>(`cluster:${namespace}/${name}`);
    const hosts = [...(await items<HostRow>("hosts")).values()].filter((row) => row.namespace === namespace);
    const table = await this.#run(`get clusters -n ${namespace}`);
    const { body } = await this.#metrics.text();
    const labels = new RegExp(`capstan_cluster_state{namespace="${namespace}",name="${name}",state="(\\w+)"} 1`);
    return {
      why: await this.#run(`why ${name} -n ${namespace}`),
      describe: await this.#run(`describe cluster ${name} -n ${namespace}`),
      get: /^\S+ +(\w+(?: \(\d+ of \d+\))?)/.exec(table.split("\n")[1] ?? "")?.[1] ?? "",
      fleet,
      page: new Map([...page].filter(([, item]) => item.type === "object")),
      hosts,
      hostList: await this.#run(`host list -n ${namespace}`),
      metric: labels.exec(body)?.[1] ?? "",
    };
  }

  async #run(line: string): Promise<string> {
    let out = "";
    const io: CommandIo = {
      out: (text) => {
        out += text;
      },
      err: () => undefined,
      env: {},
      interactive: false,
      clock: this.clock,
      target: {
        client: new Client(this.#api.admin(), { fieldManager: "cli", clock: this.clock }),
        description: "the story",
        server: "https://test",
        caPem: "",
        close: () => Promise.resolve(),
      },
    };
    await runProgram(line.split(" "), io);
    return out;
  }
}

function withOwner(object: StoryObject, namespace: string, owner: KubeObject | undefined): Unstructured {
  const { apiVersion, kind, name, spec, labels } = object;
  const ownerReferences =
    owner === undefined
      ? []
      : [
          {
            apiVersion: owner.apiVersion,
            kind: owner.kind,
            name: owner.metadata.name ?? "",
            uid: owner.metadata.uid ?? "",
            controller: true,
          },
        ];
  return { apiVersion, kind, metadata: { namespace, name, labels, ownerReferences }, spec } as Unstructured;
}
