import { type Clock, type UserInfo, unauthorized } from "@capstan/apimachinery";
import type { Authenticator } from "../types.ts";
import { authenticateBootstrapToken, type BootstrapTokenLookup } from "./bootstrap-token.ts";
import { clientCertificates } from "./client-certificate.ts";
import { type OidcAuthenticator, type OidcOptions, oidcAuthenticator } from "./oidc.ts";
import { aggregate } from "./rbac-authorizer.ts";
import { type ServiceAccountTokens, TokenError, type VerifiedToken } from "./service-account-tokens.ts";
import { ANONYMOUS, authenticated } from "./users.ts";

/** Which credentials a server accepts. */
export interface AuthenticatorOptions {
  /** Bearer tokens known in advance, by token. */
  staticTokens?: ReadonlyMap<string, UserInfo>;
  serviceAccounts?: ServiceAccountTokens;
  bootstrapTokens?: BootstrapTokenLookup;
  oidc?: OidcOptions;
  /** Whether requests without credentials pass as system:anonymous; false = 401. */
  anonymous: boolean;
  clock: Clock;
}

/** The server's authenticator, which can also check a token by itself (TokenReview). */
export interface ServerAuthenticator extends Authenticator {
  /** Audiences a token must be for by default. */
  readonly audiences: readonly string[];
  /** Authenticates a bearer token; throws TokenError with the reason that TokenReview reports. */
  authenticateToken(token: string, audiences?: readonly string[]): Promise<VerifiedToken>;
  close(): Promise<void>;
}

/**
 * Client certificate first, then bearer token (static, bootstrap, ServiceAccount, OIDC), then anonymous. Credentials that
 * no authenticator accepts are 401 even where anonymous requests pass.
 */
export function createAuthenticator(options: AuthenticatorOptions): ServerAuthenticator {
  const fromCertificate = clientCertificates(options.clock);
  const oidc: OidcAuthenticator | undefined =
    options.oidc === undefined ? undefined : oidcAuthenticator(options.oidc, options.clock);
  const defaultAudiences = options.serviceAccounts?.audiences ?? [];
  // The same user object for the same credential lets the authorizer remember its decisions.
  const remembered = new WeakMap<UserInfo, UserInfo>();
  const finished = (user: UserInfo): UserInfo => {
    let whole = remembered.get(user);
    if (whole === undefined) {
      whole = authenticated(user);
      remembered.set(user, whole);
    }
    return whole;
  };

  const authenticateToken = async (
    token: string,
    audiences: readonly string[] = defaultAudiences,
  ): Promise<VerifiedToken> => {
    const problems: string[] = ["invalid bearer token"];
    // Static, bootstrap and OIDC tokens know no audiences: they are for this server alone.
    const forUs = audiences.length === 0 || audiences.some((audience) => defaultAudiences.includes(audience));
    const plain = forUs
      ? (options.staticTokens?.get(token) ??
        (options.bootstrapTokens === undefined
          ? undefined
          : authenticateBootstrapToken(token, options.bootstrapTokens, options.clock)))
      : undefined;
    const ours = audiences.filter((audience) => defaultAudiences.includes(audience));
    if (plain !== undefined) return { user: finished(plain), audiences: ours };
    try {
      const verified = await options.serviceAccounts?.verify(token, audiences);
      if (verified !== undefined) return { user: finished(verified.user), audiences: verified.audiences };
      const user = forUs ? await oidc?.authenticate(token) : undefined;
      if (user !== undefined) return { user: finished(user), audiences: ours };
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      problems.push(error.message);
    }
    throw new TokenError(aggregate(problems));
  };

  return {
    audiences: defaultAudiences,
    authenticateToken,
    async authenticate({ headers, clientCertificate }) {
      if (clientCertificate !== undefined) {
        const user = fromCertificate(clientCertificate);
        if (user !== undefined) return finished(user);
      }
      const token = bearerToken(headers["authorization"]);
      if (token !== undefined) {
        try {
          return (await authenticateToken(token)).user;
        } catch (error) {
          if (error instanceof TokenError) throw unauthorized();
          throw error;
        }
      }
      if (!options.anonymous) throw unauthorized();
      return ANONYMOUS;
    },
    close: async () => oidc?.close(),
  };
}

/** The token of an `Authorization: Bearer` header; empty ones and other schemes count as absent, as upstream reads it. */
function bearerToken(header: string | undefined): string | undefined {
  const [scheme = "", token = ""] = header?.trim().split(" ") ?? [];
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}
