import { isReason, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi, ResourceKey } from "../types.ts";
import { Deadlines } from "./deadlines.ts";
import type { Controller, ControllerDeps } from "./deps.ts";
import { WorkList } from "./work-list.ts";

const SECRETS: ResourceKey = { group: "", plural: "secrets" };
const NAMESPACE = "kube-system";
const TOKEN_TYPE = "bootstrap.kubernetes.io/token";

/** Deletes bootstrap tokens once they have expired. */
export function startTokenCleaner(api: InternalApi, deps: ControllerDeps): Controller {
  const work = new WorkList(
    deps.clock,
    (name) => deleteExpired(api, deps, name),
    (name, error) => deps.log(`failed to delete the expired bootstrap token ${name}; retrying`, error),
  );
  const deadlines = new Deadlines(deps.clock, (name) => work.add(name));
  const unsubscribe = api.watch(SECRETS, ({ namespace, name, object, previous }) => {
    if (namespace !== NAMESPACE || (object ?? previous)?.["type"] !== TOKEN_TYPE) return;
    deadlines.set(name, object === undefined ? undefined : expiryOf(object));
  });
  return {
    stop: () => {
      unsubscribe();
      deadlines.stop();
      work.stop();
    },
    idle: () => work.idle(),
  };
}

async function deleteExpired(api: InternalApi, deps: ControllerDeps, name: string): Promise<void> {
  const secret = api.get(SECRETS, NAMESPACE, name);
  const expiry = secret === undefined ? undefined : expiryOf(secret);
  if (secret === undefined || expiry === undefined || expiry > deps.clock.now()) return;
  const { uid } = secret.metadata;
  try {
    await api.delete(SECRETS, NAMESPACE, name, uid === undefined ? {} : { preconditions: { uid } });
  } catch (error) {
    if (!isReason(error, "NotFound", "Conflict")) throw error;
  }
}

/** When a token expires. One whose time cannot be read counts as expired, as upstream has it: it must not live forever. */
function expiryOf(secret: Unstructured): number | undefined {
  const data = secret["data"] as Record<string, unknown> | undefined;
  const encoded = data?.["expiration"];
  if (typeof encoded !== "string" || encoded === "") return undefined;
  const at = Date.parse(Buffer.from(encoded, "base64").toString());
  return Number.isNaN(at) ? 0 : at;
}
