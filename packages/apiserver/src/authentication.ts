import type { Clock, Random, UserInfo } from "@capstan/apimachinery";
import { createServiceAccountKey } from "@capstan/pki";
import { createAuthenticator, type ServerAuthenticator } from "./auth/authenticator.ts";
import type { OidcOptions } from "./auth/oidc.ts";
import { reviewTypes } from "./auth/reviews.ts";
import { type ServiceAccountTokens, serviceAccountTokens } from "./auth/service-account-tokens.ts";
import { tokenRequestHandler } from "./auth/token-request.ts";
import { serviceAccount } from "./builtin/core/service-account.ts";
import { withSubresource } from "./builtin/define.ts";
import { objectPath } from "./server/fixed-paths.ts";
import type { PathHandler } from "./server/pipeline.ts";
import type { Authorizer, InternalApi, ResourceType } from "./types.ts";

/** Who may do what on a server. */
export interface AuthOptions {
  /** Requests without credentials pass as system:anonymous (which RBAC allows little); default true. */
  readonly anonymous?: boolean;
  readonly staticTokens?: ReadonlyMap<string, UserInfo>;
  readonly oidc?: OidcOptions;
  /** Signs ServiceAccount tokens. Without it a key is created when the first token is requested, and lives as long as the process. */
  readonly serviceAccounts?: {
    readonly issuer?: string;
    readonly signingKeyPem?: string;
    readonly verificationKeyPems?: readonly string[];
  };
  /** Default RBAC. `AlwaysAllow` is for simulated clusters that no other client can reach; they get no default roles. */
  readonly authorization?: "RBAC" | "AlwaysAllow";
}

/** The parts of a server that authenticate. */
export interface Authentication {
  readonly authenticator: ServerAuthenticator;
  /** Review kinds, and ServiceAccount with its `token` subresource. */
  readonly types: readonly ResourceType[];
  readonly paths: readonly PathHandler[];
  close(): Promise<void>;
}

const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";

/** Creates the authentication. Signing keys are read, or created, only when a token is involved. */
export function createAuthentication(deps: {
  options: AuthOptions;
  api: InternalApi;
  authorizer: () => Authorizer;
  clock: Clock;
  random: Random;
}): Authentication {
  const { options, api, clock, random } = deps;
  const issuer = options.serviceAccounts?.issuer ?? DEFAULT_ISSUER;
  let tokens: ServiceAccountTokens | undefined;
  const make = (signingKeyPem: string): ServiceAccountTokens => {
    const verificationKeyPems = options.serviceAccounts?.verificationKeyPems ?? [];
    tokens ??= serviceAccountTokens({ issuer, signingKeyPem, verificationKeyPems, clock, random, api });
    return tokens;
  };
  const given = options.serviceAccounts?.signingKeyPem;
  const known = (): ServiceAccountTokens | undefined => tokens ?? (given === undefined ? undefined : make(given));
  const needed = async (): Promise<ServiceAccountTokens> =>
    known() ?? make((await createServiceAccountKey("ECDSA-P256")).privateKeyPem);

  // No key yet means no token of ours exists yet.
  const lazy: ServiceAccountTokens = {
    audiences: [issuer],
    issue: async (request) => {
      const ready = known();
      if (ready === undefined) throw new Error("no signing key");
      return ready.issue(request);
    },
    verify: async (token, audiences) => known()?.verify(token, audiences),
    jwks: () => known()?.jwks() ?? { keys: [] },
    openidConfiguration: () => known()?.openidConfiguration() ?? { issuer },
  };
  const authenticator = createAuthenticator({
    staticTokens: options.staticTokens,
    oidc: options.oidc,
    serviceAccounts: lazy,
    bootstrapTokens: (id) => api.get({ group: "", plural: "secrets" }, "kube-system", `bootstrap-token-${id}`),
    anonymous: options.anonymous ?? true,
    clock,
  });
  const account = withSubresource(serviceAccount, "token", async (request) => {
    const ready = await needed();
    return tokenRequestHandler(
      () => ready,
      () => clock.now(),
    )(request);
  });
  return {
    authenticator,
    types: [account, ...reviewTypes({ authorizer: deps.authorizer, authenticator: () => authenticator, clock })],
    paths: [
      objectPath("/openid/v1/jwks", () => lazy.jwks(), "application/jwk-set+json"),
      objectPath("/.well-known/openid-configuration", () => lazy.openidConfiguration()),
    ],
    close: () => authenticator.close(),
  };
}
