import type { InternalApi, InternalChange } from "../types.ts";
import type { CompileCondition, Webhook } from "./webhook.types.ts";
import { readWebhooks } from "./webhook-config.ts";

const GROUP = "admissionregistration.k8s.io";
const MUTATING = { group: GROUP, plural: "mutatingwebhookconfigurations" };
const VALIDATING = { group: GROUP, plural: "validatingwebhookconfigurations" };

interface OrderedWebhooks {
  readonly all: readonly Webhook[];
  readonly mutating: readonly Webhook[];
  readonly validating: readonly Webhook[];
}

/** All configured webhooks in the order they are called: by name of their configuration. Watches from the first use. */
export class WebhookIndex {
  readonly #api: InternalApi;
  readonly #compile: CompileCondition;
  readonly #configurations = new Map<string, readonly Webhook[]>();
  #ordered: OrderedWebhooks | undefined;
  #stops: (() => void)[] | undefined;

  constructor(api: InternalApi, compile: CompileCondition) {
    this.#api = api;
    this.#compile = compile;
  }

  all(): readonly Webhook[] {
    return this.#sorted().all;
  }

  mutating(): readonly Webhook[] {
    return this.#sorted().mutating;
  }

  validating(): readonly Webhook[] {
    return this.#sorted().validating;
  }

  close(): void {
    for (const stop of this.#stops ?? []) stop();
    this.#stops = undefined;
    this.#configurations.clear();
    this.#ordered = undefined;
  }

  #sorted(): OrderedWebhooks {
    this.#stops ??= [MUTATING, VALIDATING].map((type) => this.#api.watch(type, (change) => this.#onChange(change)));
    if (this.#ordered === undefined) {
      const byName = [...this.#configurations].sort(([a], [b]) => (a < b ? -1 : 1));
      const all = byName.flatMap(([, webhooks]) => webhooks);
      this.#ordered = { all, mutating: all.filter((w) => w.mutating), validating: all.filter((w) => !w.mutating) };
    }
    return this.#ordered;
  }

  #onChange({ type, name, object }: InternalChange): void {
    const key = `${type.plural}/${name}`;
    this.#ordered = undefined;
    if (object === undefined) this.#configurations.delete(key);
    else this.#configurations.set(key, readWebhooks(object, this.#compile));
  }
}
