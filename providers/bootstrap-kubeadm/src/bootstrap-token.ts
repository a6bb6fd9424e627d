import { createHash } from "node:crypto";
import { type Clock, formatTime, isReason, type Random, randomInt } from "@capstan/apimachinery";
import { Secret, secretText } from "@capstan/capi";
import type { Client } from "@capstan/runtime";

/** How long a token lives when nobody uses it (upstream's default). */
export const TOKEN_TTL_MS = 15 * 60_000;

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
const NAMESPACE = "kube-system";
const GROUP = "system:bootstrappers:kubeadm:default-node-token";
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
/** Two configs of one cluster with the same token ID are unlikely; several in a row do not happen. */
const MAX_ATTEMPTS = 5;

/** What token work needs: a client of the workload cluster, and whose token it is. */
export interface TokenScope {
  client: Client;
  clock: Clock;
  random: Random;
  ttlMs: number;
  /** The KubeadmConfig: its uid fixes the token's ID, so that a repeated attempt finds the first one's token. */
  config: { namespace: string; name: string; uid: string };
  signal: AbortSignal;
}

/**
 * A token in the workload cluster. Its ID follows from the config and the token before it: who crashes between creating the token
 * and storing it finds it again, and no token is left behind.
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

/** Creates the token, or gives back the one this config made before; undefined if the ID is someone else's. */
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

/** Keeps a token alive; a token that is gone is made again as it was, since machines may hold it already. */
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

/** Whether a pool's token is past half of its life, or gone. */
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
