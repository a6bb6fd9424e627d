import { createPublicKey, type KeyObject } from "node:crypto";
import { type Clock, isObject, type UserInfo } from "@capstan/apimachinery";
import { at, list, text, texts } from "../builtin/read.ts";
import { httpsJson } from "./https-json.ts";
import { type Jwt, parseJwt, verifyJwt } from "./jwt.ts";
import { TokenError } from "./service-account-tokens.ts";

/** The issuer whose ID tokens are accepted, and how its claims become users (the --oidc-* flags of kube-apiserver). */
export interface OidcOptions {
  /** https URL; `/.well-known/openid-configuration` is read under it. */
  issuerUrl: string;
  clientId: string;
  /** Default `sub`. */
  usernameClaim?: string;
  /** Default: `ISSUER#`, none for the claim `email`; `-` = none. */
  usernamePrefix?: string;
  groupsClaim?: string;
  groupsPrefix?: string;
  requiredClaims?: Readonly<Record<string, string>>;
  /** Default RS256; RS, ES and PS of 256, 384 and 512 are possible. */
  signingAlgorithms?: readonly string[];
  /** CA of the issuer's certificate; default: the system's. */
  caPem?: string;
  /** Reads a JSON document; default: over HTTPS. */
  fetchJson?: (url: string) => Promise<unknown>;
  /** Called whenever the issuer's keys could not be read: the client learns only that the token is not accepted. */
  onProblem?: (message: string) => void;
}

/** Checks ID tokens. */
export interface OidcAuthenticator {
  /** The user, or undefined for tokens of another issuer; throws TokenError. */
  authenticate(token: string): Promise<UserInfo | undefined>;
  close(): void;
}

/** Keys are read again when a token names one we do not know, but not more often than this. */
const MIN_REFRESH_MS = 10_000;
const MAX_VERIFIED = 1000;

/** An authenticator for one OpenID Connect issuer. Its keys are read at once, again with a token if that failed, and kept until they change. */
export function oidcAuthenticator(options: OidcOptions, clock: Clock): OidcAuthenticator {
  const algorithms = options.signingAlgorithms ?? ["RS256"];
  const usernameClaim = options.usernameClaim ?? "sub";
  const fetchJson = options.fetchJson ?? httpsJson(clock, options.caPem);
  let keys: ReadonlyMap<string, KeyObject> = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const verified = new Map<string, { jwt: Jwt; user: UserInfo }>();

  const refresh = (): Promise<void> => {
    if (clock.monotonic() - readAt < MIN_REFRESH_MS) return Promise.resolve();
    reading ??= readKeys(options.issuerUrl, fetchJson)
      .then((found) => {
        keys = found;
      })
      .catch((error: unknown) => {
        options.onProblem?.(error instanceof Error ? error.message : String(error));
        throw error;
      })
      .finally(() => {
        readAt = clock.monotonic();
        reading = undefined;
      });
    return reading;
  };

  const trusted = async (jwt: Jwt): Promise<boolean> => {
    const id = jwt.header["kid"];
    const candidates = typeof id === "string" ? [keys.get(id)] : [...keys.values()];
    for (const key of candidates) if (key !== undefined && (await verifyJwt(jwt, key, algorithms))) return true;
    return false;
  };

  // Reports a wrong address or CA at startup, not when the first user fails to sign in.
  void refresh().catch(() => undefined);

  return {
    async authenticate(token) {
      const known = verified.get(token);
      if (known !== undefined) {
        checkLifetime(known.jwt, clock);
        return known.user;
      }
      const jwt = await parseJwt(token);
      if (jwt === undefined || jwt.claims["iss"] !== options.issuerUrl) return undefined;
      if (!(await trusted(jwt))) {
        await refresh();
        if (!(await trusted(jwt))) throw new TokenError("oidc: failed to verify the token's signature");
      }
      const { aud } = jwt.claims;
      const audiences = typeof aud === "string" ? [aud] : texts(aud);
      if (!audiences.includes(options.clientId))
        throw new TokenError(`oidc: expected audience ${JSON.stringify(options.clientId)}`);
      checkLifetime(jwt, clock);
      const user = userOf(jwt, options, usernameClaim);
      if (verified.size >= MAX_VERIFIED) verified.clear();
      verified.set(token, { jwt, user });
      return user;
    },
    close: () => verified.clear(),
  };
}

async function readKeys(
  issuer: string,
  fetchJson: (url: string) => Promise<unknown>,
): Promise<ReadonlyMap<string, KeyObject>> {
  const base = issuer.replace(/\/$/, "");
  let documents: { configuration: unknown; jwks: unknown };
  try {
    const configuration = await fetchJson(`${base}/.well-known/openid-configuration`);
    const jwksUri = text(at(configuration, "jwks_uri"));
    if (text(at(configuration, "issuer")) !== issuer || jwksUri === "")
      throw new TokenError("oidc: the issuer's discovery document names another issuer or no jwks_uri");
    documents = { configuration, jwks: await fetchJson(jwksUri) };
  } catch (error) {
    if (error instanceof TokenError) throw error;
    throw new TokenError(
      `oidc: authenticator not initialized: ${error instanceof Error ? error.message : "unreachable"}`,
    );
  }
  const keys = new Map<string, KeyObject>();
  for (const jwk of list(at(documents.jwks, "keys"))) {
    if (!isObject(jwk) || (jwk["use"] !== undefined && jwk["use"] !== "sig")) continue;
    try {
      keys.set(text(jwk["kid"]), createPublicKey({ key: jwk, format: "jwk" }));
    } catch {
      // No accepted token is signed with a key of an unsupported type.
    }
  }
  return keys;
}

function checkLifetime(jwt: Jwt, clock: Clock): void {
  const { exp, nbf } = jwt.claims;
  const now = clock.now() / 1000;
  if (typeof exp !== "number" || now >= exp) throw new TokenError("oidc: verify token: oidc: token is expired");
  // Five minutes of leeway, as go-oidc gives for clocks that differ.
  if (typeof nbf === "number" && now < nbf - 300) throw new TokenError("oidc: token is not valid yet");
}

function userOf(jwt: Jwt, options: OidcOptions, usernameClaim: string): UserInfo {
  const { claims } = jwt;
  const name = claims[usernameClaim];
  if (typeof name !== "string" || name === "")
    throw new TokenError(`oidc: parse username claims ${JSON.stringify(usernameClaim)}: claim not present`);
  // Absent counts as verified; anything that is not true does not.
  if (usernameClaim === "email" && (claims["email_verified"] ?? true) !== true)
    throw new TokenError("oidc: email not verified");
  for (const [claim, value] of Object.entries(options.requiredClaims ?? {})) {
    if (claims[claim] === undefined) throw new TokenError(`oidc: required claim ${claim} not present in ID token`);
    if (claims[claim] !== value) throw new TokenError(`oidc: required claim ${claim} value does not match`);
  }
  const prefix = options.groupsPrefix ?? "";
  return {
    name: `${usernamePrefix(options, usernameClaim)}${name}`,
    groups: groupsOf(claims, options.groupsClaim).map((group) => `${prefix}${group}`),
  };
}

/** One group or a list of them; a claim of another shape is an error, because it may have been meant to grant or remove permissions. */
function groupsOf(claims: Jwt["claims"], claim: string | undefined): readonly string[] {
  const groups = claim === undefined ? undefined : (claims[claim] ?? undefined);
  if (groups === undefined) return [];
  if (typeof groups === "string") return [groups];
  if (Array.isArray(groups) && groups.every((group) => typeof group === "string")) return groups;
  throw new TokenError(`oidc: parse groups claim ${JSON.stringify(claim)}: neither a string nor a list of strings`);
}

/** As the flags of kube-apiserver mean it: empty is the default, `-` is none. */
function usernamePrefix(options: OidcOptions, usernameClaim: string): string {
  const asked = options.usernamePrefix ?? "";
  if (asked !== "") return asked === "-" ? "" : asked;
  return usernameClaim === "email" ? "" : `${options.issuerUrl}#`;
}
