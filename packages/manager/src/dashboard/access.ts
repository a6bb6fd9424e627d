import type { Transport } from "@capstan/apimachinery";
import type { ItemAccess } from "./topic.ts";

/** The user's credentials are no longer good. */
export class SignedOutError extends Error {
  constructor() {
    super("the session's credentials are no longer accepted");
    this.name = "SignedOutError";
  }
}

/** Asks the API itself what a user may list, and remembers the answers until told to ask again. */
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

  /** Asks everything again; true when an answer is not what it was. */
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
      answer = review(this.#transport, { group, resource, namespace });
      // A failure is not an answer: the next one asks again.
      answer.catch(() => this.#answers.delete(key));
      this.#answers.set(key, answer);
    }
    return answer;
  }
}

async function review(transport: Transport, access: ItemAccess): Promise<boolean> {
  const { status, body } = await transport.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    headers: { "content-type": "application/json" },
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      metadata: {},
      spec: { resourceAttributes: { verb: "list", ...access } },
    },
  });
  if (status === 401) throw new SignedOutError();
  return (body as { status?: { allowed?: boolean } }).status?.allowed === true;
}
