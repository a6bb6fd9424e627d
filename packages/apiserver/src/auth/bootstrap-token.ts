import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock, Unstructured, UserInfo } from "@capstan/apimachinery";
import { at, text } from "../builtin/read.ts";
import { Groups } from "./users.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** The Secret of a bootstrap token by its id (`kube-system/bootstrap-token-ID`). */
export type BootstrapTokenLookup = (id: string) => Unstructured | undefined;

/** The user of a bootstrap token `ID.SECRET`, or undefined when it is none or not valid now. */
export function authenticateBootstrapToken(
  token: string,
  lookup: BootstrapTokenLookup,
  clock: Clock,
): UserInfo | undefined {
  const [, id, secret] = TOKEN.exec(token) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const object = lookup(id);
  if (object === undefined || object["type"] !== "bootstrap.kubernetes.io/token") return undefined;
  if (object.metadata.deletionTimestamp !== undefined) return undefined;
  const value = (key: string): string => Buffer.from(text(at(object, "data", key)), "base64").toString("utf8");
  if (!sameText(value("token-secret"), secret) || value("token-id") !== id) return undefined;
  if (value("usage-bootstrap-authentication") !== "true" || expired(value("expiration"), clock)) return undefined;
  const extra = value("auth-extra-groups")
    .split(",")
    .filter((group) => group !== "");
  if (extra.some((group) => !EXTRA_GROUP.test(group))) return undefined;
  return { name: `system:bootstrap:${id}`, groups: [...new Set([Groups.bootstrappers, ...extra])].sort() };
}

/** Compares in a time that says nothing about where the texts differ. */
function sameText(a: string, b: string): boolean {
  const hash = (value: string): Buffer => createHash("sha256").update(value).digest();
  return timingSafeEqual(hash(a), hash(b));
}

/** A time that cannot be read counts as over (bootstrap token utilities do so too). */
function expired(expiration: string, clock: Clock): boolean {
  if (expiration === "") return false;
  const at = Date.parse(expiration);
  return Number.isNaN(at) || at <= clock.now();
}
