import type { Clock, KubeObject } from "@capstan/apimachinery";
import { type Client, kindRef } from "@capstan/runtime";

interface Deployment extends KubeObject {
  spec?: { replicas?: number };
}
const Deployment = kindRef<Deployment>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
});

/** What upstream's manifests call it; distributions put a prefix before it. */
const NAME = "baremetal-operator-controller-manager";
const LOOK_AGAIN_MS = 60_000;

/** Whether upstream's baremetal-operator runs here: two must never drive one management controller. */
export class UpstreamOperator {
  readonly #clock: Clock;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #answer: Promise<boolean> = Promise.resolve(false);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks at most once a minute. */
  async isHere(client: Client, signal: AbortSignal): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (now - this.#lookedAtMs >= LOOK_AGAIN_MS) {
      this.#lookedAtMs = now;
      this.#answer = look(client, signal);
      // One that failed is repeated by the next who asks.
      this.#answer.catch(() => {
        this.#lookedAtMs = Number.NEGATIVE_INFINITY;
      });
    }
    return await this.#answer;
  }
}

async function look(client: Client, signal: AbortSignal): Promise<boolean> {
  const { items } = await client.list(Deployment, { fieldSelector: `metadata.name=${NAME}` }, signal);
  return items.some(({ spec }) => spec?.replicas !== 0);
}
