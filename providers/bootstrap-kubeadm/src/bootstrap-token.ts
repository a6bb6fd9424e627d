import { createHash } from "node:crypto";
import { type Clock, formatTime, isReason, type Random, randomInt } from "@capstan/apimachinery";
import { Secret, secretText } from "@capstan/capi";
import type { Client } from "@capstan/runtime";

/** Lifetime of a bootstrap token that is not refreshed; upstream's default. */
export const TOKEN_TTL_MS = 15 * 60_000;

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
const NAMESPACE = "kube-system";
const GROUP = "system:bootstrappers:kubeadm:default-node-token";
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
/** Two configs of one cluster with the same token ID are unlikely; several in a row do not happen. */
const MAX_ATTEMPTS = 5;

/** Inputs of the token functions: a client of the workload cluster, and the KubeadmConfig that the token belongs to. */
export interface TokenScope {
  client: Client;
  clock: Clock;
  random: Random;
  ttlMs: number;
  /** The KubeadmConfig; the token's ID is derived from its uid, so that a retry finds the token of the first attempt. */
  config: { namespace: string; name: string; uid: string };
  signal: AbortSignal;
}

/**
 * Creates a bootstrap token in the workload cluster and returns it. Its ID is derived from the config's uid and the previous token, so a
 * retry after a crash finds the token instead of creating a second one.
 */
export async function ensureToken(scope: TokenScope, previous = ""): Promise<string> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const id = tokenId(`${scope.config.uid}/${previous}/${attempt}`);
    const secret = Array.from({ length: 16 }, () => ALPHABET[randomInt(scope.random, ALPHABET.length)]).join("");
    const made = await createToken(scope, id, secret);
    if (made !== undefined) return made;
  }
  throw new Error(`no free token ID for KubeadmConfig ${scope.config.namespace}/${scope.config.name}`);
}

/** Creates the token, or returns the one this config created before; undefined if the ID has another owner. */
async function createToken(scope: TokenScope, id: string, secret: string): Promise<string | undefined> {
  try {
    await scope.client.create(tokenSecret(scope, id, secret), {}, scope.signal);
    return `${id}.${secret}`;
  } catch (error) {
    if (!isReason(error, "AlreadyExists")) throw error;
  }
  const existing = await scope.client.get(Secret, tokenKey(id), scope.signal);
  if (existing === undefined || secretText(existing, "description") !== description(scope)) return undefined;
  return `${id}.${secretText(existing, "token-secret") ?? ""}`;
}

/** Extends the token's expiration. Recreates a deleted token with the same value, because machines may already hold it. */
export async function refreshToken(scope: TokenScope, token: string): Promise<void> {
  const [, id = "", secret = ""] = TOKEN.exec(token) ?? [];
  if (id === "") return;
  const existing = await scope.client.get(Secret, tokenKey(id), scope.signal);
  if (existing === undefined) {
    await createToken(scope, id, secret);
    return;
  }
  // Upstream's rule: extend as soon as less than five sixths are left, so that one missed turn does no harm.
  if (remainingMs(existing, scope.clock) > (scope.ttlMs * 5) / 6) return;
  await scope.client.patch(
    { kind: Secret, ...tokenKey(id) },
    { data: { expiration: encode(expiration(scope)) } },
    {},
    scope.signal,
  );
}

/** Reports whether less than half of a MachinePool token's lifetime is left, or the token no longer exists. */
export async function isHalfSpent(scope: TokenScope, token: string): Promise<boolean> {
  const existing = await scope.client.get(Secret, tokenKey(token.slice(0, 6)), scope.signal);
  return existing === undefined || remainingMs(existing, scope.clock) < scope.ttlMs / 2;
}

function tokenId(seed: string): string {
  const digest = createHash("sha256").update(seed).digest();
  return Array.from(digest.subarray(0, 6), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

function tokenKey(id: string): { namespace: string; name: string } {
  return { namespace: NAMESPACE, name: `bootstrap-token-${id}` };
}

function description({ config }: TokenScope): string {
  return `join token of KubeadmConfig ${config.namespace}/${config.name}, uid ${config.uid}`;
}

function expiration({ clock, ttlMs }: TokenScope): string {
  return formatTime(clock.now() + ttlMs);
}

/** A token without expiration lives for ever. */
function remainingMs(secret: Secret, clock: Clock): number {
  const text = secretText(secret, "expiration");
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : at - clock.now();
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}

function tokenSecret(scope: TokenScope, id: string, secret: string): Secret {
  const data = {
    "token-id": id,
    "token-secret": secret,
    expiration: expiration(scope),
    "usage-bootstrap-signing": "true",
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": GROUP,
    description: description(scope),
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: tokenKey(id),
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encode(text)])),
  };
}
