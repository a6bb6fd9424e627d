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
/** Often enough while it runs, rarely while it does not: installing it is an event. */
const LOOK_AGAIN_MS = { here: 60_000, absent: 300_000 };

/** Whether upstream's baremetal-operator runs here: two must never drive one management controller. */
export class UpstreamOperator {
  readonly #clock: Clock;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #answer: Promise<boolean> = Promise.resolve(false);
  #here = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks now and then; in between the last answer counts. */
  async isHere(client: Client, signal: AbortSignal): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (now - this.#lookedAtMs >= (this.#here ? LOOK_AGAIN_MS.here : LOOK_AGAIN_MS.absent)) {
      this.#lookedAtMs = now;
      this.#answer = look(client, signal);
      // One that failed is repeated by the next who asks.
      this.#answer.catch(() => {
        this.#lookedAtMs = Number.NEGATIVE_INFINITY;
      });
    }
    this.#here = await this.#answer;
    return this.#here;
  }
}

async function look(client: Client, signal: AbortSignal): Promise<boolean> {
  const { items } = await client.list(Deployment, { fieldSelector: `metadata.name=${NAME}` }, signal);
  return items.some(({ spec }) => spec?.replicas !== 0);
}
