import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { type Clock, goQuote, type Random, randomUuid, type Unstructured, type UserInfo } from "@capstan/apimachinery";
import { at, text, texts } from "../builtin/read.ts";
import type { InternalApi, ResourceKey } from "../types.ts";
import { type Jwt, parseJwt, signingKey, signJwt, verifyJwt } from "./jwt.ts";
import { goStrings } from "./policy-rule.ts";
import { Resources } from "./resources.ts";
import { CREDENTIAL_ID, serviceAccountGroups, serviceAccountUser } from "./users.ts";

/** An object that a token is bound to. */
export interface BoundObject {
  readonly kind: "Pod" | "Secret" | "Node";
  readonly name: string;
  readonly uid: string;
}

/** Claims of a token to make. */
interface IssueOptions {
  readonly serviceAccount: Unstructured;
  readonly audiences?: readonly string[];
  readonly expirationSeconds: number;
  readonly boundObject?: BoundObject;
}

/** Signs and checks tokens of ServiceAccounts. */
export interface ServiceAccountTokens {
  /** The default audiences of tokens. */
  readonly audiences: readonly string[];
  issue(options: IssueOptions): Promise<{ token: string; expirationMs: number }>;
  /** The user of a token that is ours and valid; undefined when it is not ours; throws TokenError when it is ours but bad. */
  verify(token: string, audiences?: readonly string[]): Promise<VerifiedToken | undefined>;
  /** Document at /openid/v1/jwks. */
  jwks(): { keys: object[] };
  /** Document at /.well-known/openid-configuration. */
  openidConfiguration(): object;
}

/** Who a token speaks for, and those of the wanted audiences it was made for. */
export interface VerifiedToken {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
}

interface CheckedToken {
  readonly jwt: Jwt;
  readonly user: UserInfo;
}

/** A token that is ours but not acceptable. The text is what TokenReview answers. */
export class TokenError extends Error {}

const ALGORITHMS = ["RS256", "ES256", "ES384", "ES512"];
const MAX_CHECKED = 1000;
const BOUND: readonly (readonly [string, ResourceKey])[] = [
  ["serviceaccount", Resources.serviceAccounts],
  ["pod", Resources.pods],
  ["secret", Resources.secrets],
  ["node", Resources.nodes],
];
/** Tokens of deleted accounts and objects keep working this long (upstream's leeway for graceful termination). */
const DELETION_LEEWAY_MS = 60_000;

/** Makes and checks ServiceAccount tokens as kube-apiserver does: bound to the account's uid, re-checked at every use. */
export function serviceAccountTokens(options: {
  issuer: string;
  signingKeyPem: string;
  /** Public or private keys whose tokens stay valid, for rotation. */
  verificationKeyPems?: readonly string[];
  jwksUri?: string;
  clock: Clock;
  random: Random;
  api: InternalApi;
}): ServiceAccountTokens {
  const { issuer, clock, random, api } = options;
  const signer = signingKey(createPrivateKey(options.signingKeyPem));
  const keys: readonly KeyObject[] = [
    signer.publicKey,
    ...(options.verificationKeyPems ?? []).map((pem) => createPublicKey(pem)),
  ];
  /** Tokens whose signature was verified; claims are checked again each time. */
  const checked = new Map<string, CheckedToken>();

  const signedByUs = async (jwt: Jwt): Promise<boolean> => {
    for (const key of keys) if (await verifyJwt(jwt, key, ALGORITHMS)) return true;
    return false;
  };

  const check = async (token: string): Promise<CheckedToken | undefined> => {
    const known = checked.get(token);
    if (known !== undefined) return known;
    const jwt = await parseJwt(token);
    if (jwt === undefined || jwt.claims["iss"] !== issuer) return undefined;
    if (!(await signedByUs(jwt))) throw new TokenError("invalid signature");
    // Another request with the same token was faster: one user object per token.
    const meanwhile = checked.get(token);
    if (meanwhile !== undefined) return meanwhile;
    if (checked.size >= MAX_CHECKED) checked.clear();
    const entry = { jwt, user: userOf(jwt) };
    checked.set(token, entry);
    return entry;
  };

  return {
    audiences: [issuer],

    async issue({ serviceAccount, audiences, expirationSeconds, boundObject }) {
      const { name = "", namespace = "", uid = "" } = serviceAccount.metadata;
      const now = Math.floor(clock.now() / 1000);
      const bound = boundObject;
      const claims = {
        aud: audiences === undefined || audiences.length === 0 ? [issuer] : audiences,
        exp: now + expirationSeconds,
        iat: now,
        iss: issuer,
        jti: randomUuid(random),
        "kubernetes.io": {
          namespace,
          ...(bound === undefined ? {} : { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
          serviceaccount: { name, uid },
        },
        nbf: now,
        sub: serviceAccountUser(namespace, name),
      };
      return { token: await signJwt(signer, claims), expirationMs: claims.exp * 1000 };
    },

    async verify(token, wanted = [issuer]) {
      const entry = await check(token);
      if (entry === undefined) return undefined;
      const { jwt, user } = entry;
      const { aud } = jwt.claims;
      const tokenAudiences = typeof aud === "string" ? [aud] : texts(aud);
      const audiences = wanted.filter((audience) => tokenAudiences.includes(audience));
      if (audiences.length === 0)
        throw new TokenError(
          `token audiences ${goStrings(tokenAudiences)} is invalid for the target audiences ${goStrings(wanted)}`,
        );
      checkTimes(jwt, clock);
      checkObjects(jwt, api, clock);
      return { user, audiences };
    },

    jwks: () => ({ keys: [signer.jwk] }),

    openidConfiguration: () => ({
      issuer,
      jwks_uri: options.jwksUri ?? `${issuer.replace(/\/$/, "")}/openid/v1/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [signer.algorithm],
    }),
  };
}

function checkTimes(jwt: Jwt, clock: Clock): void {
  const { exp, nbf } = jwt.claims;
  const now = clock.now() / 1000;
  if (typeof exp !== "number" || now >= exp) throw new TokenError("service account token has expired");
  if (typeof nbf === "number" && now < nbf - 1) throw new TokenError("service account token is not valid yet");
}

/** The user that claims speak of. One object per token, so that the authorizer can remember decisions about it. */
function userOf(jwt: Jwt): UserInfo {
  const ours = jwt.claims["kubernetes.io"];
  const namespace = text(at(ours, "namespace"));
  const name = serviceAccountUser(namespace, text(at(ours, "serviceaccount", "name")));
  if (jwt.claims["sub"] !== name) throw new TokenError("the claims of the token do not fit each other");
  const extra: Record<string, string[]> = { [CREDENTIAL_ID]: [`JTI=${text(jwt.claims["jti"])}`] };
  for (const kind of ["pod", "node"]) {
    if (at(ours, kind) === undefined) continue;
    extra[`authentication.kubernetes.io/${kind}-name`] = [text(at(ours, kind, "name"))];
    extra[`authentication.kubernetes.io/${kind}-uid`] = [text(at(ours, kind, "uid"))];
  }
  return { name, uid: text(at(ours, "serviceaccount", "uid")), groups: serviceAccountGroups(namespace), extra };
}

/** Rejects a token whose account, or the object it is bound to, was deleted or replaced by another of the same name. */
function checkObjects(jwt: Jwt, api: InternalApi, clock: Clock): void {
  const ours = jwt.claims["kubernetes.io"];
  const namespace = text(at(ours, "namespace"));
  for (const [claim, resource] of BOUND) {
    if (at(ours, claim) === undefined) continue;
    const name = text(at(ours, claim, "name"));
    const uid = text(at(ours, claim, "uid"));
    const what = claim === "serviceaccount" ? "service account" : claim;
    const object = api.get(resource, claim === "node" ? "" : namespace, name);
    if (object === undefined) throw new TokenError(`${what} ${goQuote(name)} not found`);
    if (object.metadata.uid !== uid)
      throw new TokenError(`${what} UID (${object.metadata.uid ?? ""}) does not match claim (${uid})`);
    const deleted = object.metadata.deletionTimestamp;
    if (deleted !== undefined && Date.parse(deleted) + DELETION_LEEWAY_MS < clock.now())
      throw new TokenError(`${what} ${goQuote(name)} has been deleted`);
  }
}
