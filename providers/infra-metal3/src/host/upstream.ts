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

/** What upstream's manifests, those of older releases and OpenShift call it. */
const NAMES = [
  "baremetal-operator-controller-manager",
  "capm3-baremetal-operator-controller-manager",
  "metal3-baremetal-operator",
];
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
  for (const name of NAMES) {
    const { items } = await client.list(Deployment, { fieldSelector: `metadata.name=${name}` }, signal);
    if (items.some(({ spec }) => spec?.replicas !== 0)) return true;
  }
  return false;
}
