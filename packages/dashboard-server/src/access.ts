import type { Transport } from "@capstan/apimachinery";
import type { ItemAccess } from "./topic.ts";

/** Thrown when the API no longer accepts the user's credentials. */
export class SignedOutError extends Error {
  constructor() {
    super("the session's credentials are no longer accepted");
    this.name = "SignedOutError";
  }
}

/** Checks with the API what a user may list, and caches the answers until they are refreshed. */
export class Access {
  readonly #transport: Transport;
  #answers = new Map<string, Promise<boolean>>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Whether the user may list this resource in this namespace. */
  async allows(access: ItemAccess): Promise<boolean> {
    const everywhere = await this.#ask(access.group, access.resource, "");
    return everywhere || (await this.#ask(access.group, access.resource, access.namespace));
  }

  /** Checks all permissions again; true when one has changed. */
  async refresh(): Promise<boolean> {
    const old = this.#answers;
    this.#answers = new Map();
    let changed = false;
    for (const [key, answer] of old) {
      const [group = "", resource = "", namespace = ""] = key.split("|");
      if ((await this.#ask(group, resource, namespace)) !== (await answer)) changed = true;
    }
    return changed;
  }

  #ask(group: string, resource: string, namespace: string): Promise<boolean> {
    const key = `${group}|${resource}|${namespace}`;
    let answer = this.#answers.get(key);
    if (answer === undefined) {
      answer = mayDo(this.#transport, "list", { group, resource, namespace });
      // A failure is not cached: the next call checks again.
      answer.catch(() => this.#answers.delete(key));
      this.#answers.set(key, answer);
    }
    return answer;
  }
}

/** Checks with a SelfSubjectAccessReview whether the user may do something; throws SignedOutError when the API answers 401. */
export async function mayDo(transport: Transport, verb: string, access: ItemAccess): Promise<boolean> {
  const { status, body } = await transport.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    headers: { "content-type": "application/json" },
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      metadata: {},
      spec: { resourceAttributes: { verb, ...access } },
    },
  });
  if (status === 401) throw new SignedOutError();
  return (body as { status?: { allowed?: boolean } }).status?.allowed === true;
}
