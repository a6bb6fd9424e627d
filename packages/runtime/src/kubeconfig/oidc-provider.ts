import { type Clock, isObject } from "@capstan/apimachinery";
import { readText } from "@capstan/apimachinery/foreign";
import { type Answer, type CreateAgents, createAgents } from "../transport/agents.ts";
import type { CredentialSource, Credentials } from "../transport/client-config.ts";
import type { AuthProviderConfig } from "./types.ts";

/** A token is no longer used this shortly before it expires: the request has to arrive, and clocks differ. */
const LEEWAY_MS = 10_000;
const MAX_ANSWER = 1024 * 1024;

/** The tokens to store after a refresh; many issuers accept a refresh token only once. */
export interface OidcTokens {
  readonly "id-token": string;
  readonly "refresh-token": string;
}

/** Dependencies of the OIDC provider. */
export interface OidcDeps {
  readonly clock: Clock;
  /** CA bundle of the issuer; by default the system's. */
  readonly caPem: string | undefined;
  /** Keeps new tokens where the old ones came from. */
  readonly keep: (tokens: OidcTokens) => Promise<void>;
  readonly agents?: CreateAgents | undefined;
}

/** kubectl's auth-provider `oidc`: an ID token as bearer token, refreshed with the refresh token when it expires. */
export class OidcCredentials implements CredentialSource {
  readonly #issuer: string;
  readonly #client: { readonly id: string; readonly secret: string };
  readonly #deps: OidcDeps;
  #refreshToken: string;
  #current: { credentials: Credentials; expiresAt: number } | undefined;
  #pending: Promise<Credentials> | undefined;

  constructor({ config }: AuthProviderConfig, deps: OidcDeps) {
    for (const key of ["idp-issuer-url", "client-id"] as const)
      if ((config[key] ?? "") === "") throw new Error(`auth-provider "oidc": config.${key} is required`);
    this.#issuer = (config["idp-issuer-url"] ?? "").replace(/\/$/, "");
    this.#client = { id: config["client-id"] ?? "", secret: config["client-secret"] ?? "" };
    this.#refreshToken = config["refresh-token"] ?? "";
    this.#deps = deps;
    const token = config["id-token"] ?? "";
    if (token !== "") this.#current = { credentials: { token }, expiresAt: expiryOf(token) };
  }

  async get(): Promise<Credentials> {
    const current = this.#current;
    if (current !== undefined && current.expiresAt - LEEWAY_MS > this.#deps.clock.now()) return current.credentials;
    // Requests that come meanwhile share one refresh.
    this.#pending ??= this.#refresh().finally(() => {
      this.#pending = undefined;
    });
    return await this.#pending;
  }

  invalidate(used: Credentials): boolean {
    if (this.#refreshToken === "") return false;
    if (this.#current?.credentials === used) this.#current = undefined;
    return true;
  }

  async #refresh(): Promise<Credentials> {
    if (this.#refreshToken === "")
      throw wrong("the id-token is missing or has expired and there is no refresh-token: sign in again");
    const { caPem, agents = createAgents } = this.#deps;
    const connections = await agents({ server: this.#issuer, tls: { caPem } }, {});
    try {
      const read = async (url: string, answer: Promise<Answer>): Promise<Record<string, unknown>> => {
        const { statusCode, body } = await answer;
        const value = parsed(await readText(body, MAX_ANSWER, url));
        if (statusCode === 200 && isObject(value)) return value;
        // The issuer's own word for it, such as invalid_grant; never the body, which may hold tokens.
        const reason = isObject(value) && typeof value["error"] === "string" ? ` (${value["error"]})` : "";
        throw wrong(`${url} answered ${statusCode}${reason}: sign in again if the refresh token has expired`);
      };
      const wellKnown = `${this.#issuer}/.well-known/openid-configuration`;
      const about = await read(wellKnown, connections.send(wellKnown, false, { method: "GET", headers: {} }));
      const endpoint = about["token_endpoint"];
      if (typeof endpoint !== "string" || endpoint === "") throw wrong(`${wellKnown} names no token_endpoint`);
      const answer = await read(endpoint, connections.send(endpoint, false, this.#question()));
      return await this.#take(answer);
    } finally {
      await connections.destroy();
    }
  }

  #question(): { method: string; headers: Record<string, string>; body: string } {
    const { id, secret } = this.#client;
    const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token: this.#refreshToken });
    const headers: Record<string, string> = {
      "content-type": "application/x-www-form-urlencoded",
      accept: "application/json",
    };
    if (secret === "") form.set("client_id", id);
    else {
      const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
      headers["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
    }
    return { method: "POST", headers, body: form.toString() };
  }

  async #take(answer: Record<string, unknown>): Promise<Credentials> {
    const { id_token: token, refresh_token: next } = answer;
    if (typeof token !== "string")
      throw wrong("the issuer gave no id_token: sign in with the scope openid, or use an exec plugin");
    if (typeof next === "string" && next !== "") this.#refreshToken = next;
    await this.#deps.keep({ "id-token": token, "refresh-token": this.#refreshToken });
    const credentials = { token };
    this.#current = { credentials, expiresAt: expiryOf(token) };
    return credentials;
  }
}

function wrong(what: string): Error {
  return new Error(`auth-provider "oidc": ${what}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** When a token expires; one without an expiration counts as expired. The server checks the rest. */
function expiryOf(token: string): number {
  const claims = parsed(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  const exp = isObject(claims) ? claims["exp"] : undefined;
  return typeof exp === "number" ? exp * 1000 : Number.NEGATIVE_INFINITY;
}
