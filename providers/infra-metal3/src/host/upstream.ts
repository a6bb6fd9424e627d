import type { Clock, KubeObject } from "@capstan/apimachinery";
import { type Client, kindRef } from "@capstan/runtime";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";

interface Deployment extends KubeObject {
  spec?: { replicas?: number; template?: { spec?: { serviceAccountName?: string } } };
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

/** A ServiceAccount that upstream's operator seems to run as. */
interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** One look at the cluster: whom the operator seems to run as, and in which namespaces that may drive hosts. */
interface Look {
  readonly accounts: readonly Account[];
  readonly drives: Map<string, boolean>;
}

/**
 * Detects whether upstream's baremetal-operator manages the hosts of a namespace. Anyone can create a Deployment of that name, so only one
 * whose ServiceAccount may update the hosts counts.
 */
export class UpstreamOperator {
  readonly #clock: Clock;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #answer: Promise<Look> = Promise.resolve({ accounts: [], drives: new Map() });
  #found = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks now and then; in between the last answer counts. */
  async drivesHostsOf(namespace: string, client: Client, signal: AbortSignal): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (now - this.#lookedAtMs >= (this.#found ? LOOK_AGAIN_MS.here : LOOK_AGAIN_MS.absent)) {
      this.#lookedAtMs = now;
      this.#answer = look(client, signal);
      // One that failed is repeated by the next who asks.
      this.#answer.catch(() => {
        this.#lookedAtMs = Number.NEGATIVE_INFINITY;
      });
    }
    const { accounts, drives } = await this.#answer;
    this.#found = accounts.length > 0;
    if (!this.#found) return false;
    const known = drives.get(namespace);
    if (known !== undefined) return known;
    const answers = await Promise.all(accounts.map((account) => mayDrive(account, namespace, client, signal)));
    const isDriven = answers.includes(true);
    drives.set(namespace, isDriven);
    return isDriven;
  }
}

async function look(client: Client, signal: AbortSignal): Promise<Look> {
  const accounts: Account[] = [];
  for (const deployment of NAMES) {
    const { items } = await client.list(Deployment, { fieldSelector: `metadata.name=${deployment}` }, signal);
    for (const { metadata, spec } of items) {
      const name = spec?.template?.spec?.serviceAccountName ?? "default";
      if (spec?.replicas !== 0) accounts.push({ namespace: metadata.namespace ?? "", name });
    }
  }
  return { accounts, drives: new Map() };
}

async function mayDrive(account: Account, namespace: string, client: Client, signal: AbortSignal): Promise<boolean> {
  const { group, plural: resource } = BareMetalHost;
  const accounts = "system:serviceaccounts";
  const spec = {
    user: `system:serviceaccount:${account.namespace}:${account.name}`,
    groups: [accounts, `${accounts}:${account.namespace}`, "system:authenticated"],
    resourceAttributes: { group, resource, namespace, verb: "update" },
  };
  const review = await client.request<{ status?: { allowed?: boolean } }>(
    {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec },
    },
    signal,
  );
  return review.status?.allowed === true;
}
