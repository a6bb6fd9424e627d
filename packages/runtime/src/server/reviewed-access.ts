import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";
import { type Logger, silentLogger } from "../log/logger.ts";
import type { Access, CheckAccess } from "./metrics-endpoint.ts";

const ALLOWED_FOR_MS = 60_000;
const REFUSED_FOR_MS = 10_000;
/** At most this many tokens are cached: unauthenticated clients must not fill the memory. */
const REMEMBERED = 1000;

interface TokenReview {
  status?: {
    authenticated?: boolean;
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
  };
}

/**
 * Authenticates bearer tokens with TokenReviews and authorizes paths with SubjectAccessReviews, as controller-runtime protects its metrics.
 * Results are cached for a while by the digests of tokens.
 */
export function reviewedAccess(client: Client, deps: { clock: Clock; log?: Logger }): CheckAccess {
  const { clock, log = silentLogger } = deps;
  const known = new Map<string, { access: Promise<Access>; until: number }>();
  return async (request, path) => {
    const token = bearerToken(request);
    if (token === undefined) return "unauthenticated";
    const key = createHash("sha256").update(`${path}\0${token}`).digest("base64");
    const found = known.get(key);
    if (found !== undefined && clock.monotonic() < found.until) return await found.access;
    known.delete(key);
    const access = review(client, token, path);
    const entry = { access, until: clock.monotonic() + REFUSED_FOR_MS };
    known.set(key, entry);
    for (const oldest of known.keys()) {
      if (known.size <= REMEMBERED) break;
      known.delete(oldest);
    }
    try {
      if ((await access) === "allowed") entry.until = clock.monotonic() + ALLOWED_FOR_MS;
      return await access;
    } catch (error) {
      known.delete(key);
      log.warn("cannot determine who may read metrics", { error });
      return "forbidden";
    }
  };
}

function bearerToken(request: IncomingMessage): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
}

async function review(client: Client, token: string, path: string): Promise<Access> {
  const identity = await client.request<TokenReview>({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } },
  });
  const user = identity.status?.user;
  if (identity.status?.authenticated !== true || user?.username === undefined) return "unauthenticated";
  const { username, uid, groups, extra } = user;
  const spec = { user: username, uid, groups, extra, nonResourceAttributes: { path, verb: "get" } };
  const allowed = await client.request<{ status?: { allowed?: boolean } }>({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec },
  });
  return allowed.status?.allowed === true ? "allowed" : "forbidden";
}
