import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { StandaloneOptions } from "@capstan/manager";
import { type CommandInput, UserError, usageError } from "../command.ts";
import { textOption } from "../options.ts";
import { OIDC_OPTIONS, OIDC_SIGNING_ALGORITHMS } from "./up-oidc.ts";

type OidcOptions = NonNullable<StandaloneOptions["oidc"]>;

/** Parses the OIDC issuer from the --oidc-* flags; undefined when none is given. */
export async function oidcOf(input: CommandInput): Promise<OidcOptions | undefined> {
  const given = OIDC_OPTIONS.map(({ flags }) => flags.split(" ")[0] ?? "").filter((flag) => isGiven(input, flag));
  if (given.length === 0) return undefined;
  const issuerUrl = textOption(input, "oidcIssuerUrl") ?? "";
  const clientId = textOption(input, "oidcClientId") ?? "";
  if (issuerUrl === "" || clientId === "")
    throw usageError(
      "--oidc-issuer-url and --oidc-client-id must be specified together when any --oidc option is given",
      `given: ${given.join(", ")}`,
    );
  checkIssuer(issuerUrl);
  const claims = requiredClaims(input.lists["oidcRequiredClaim"] ?? []);
  const caFile = textOption(input, "oidcCaFile");
  return {
    issuerUrl,
    clientId,
    ...named("usernameClaim", input, "oidcUsernameClaim"),
    ...named("usernamePrefix", input, "oidcUsernamePrefix"),
    ...named("groupsClaim", input, "oidcGroupsClaim"),
    ...named("groupsPrefix", input, "oidcGroupsPrefix"),
    ...(claims === undefined ? {} : { requiredClaims: claims }),
    ...signingAlgorithms(textOption(input, "oidcSigningAlgs")),
    ...(caFile === undefined ? {} : { caPem: await readCa(caFile) }),
  };
}

function isGiven({ options, lists }: CommandInput, flag: string): boolean {
  const name = flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return typeof options[name] === "string" || (lists[name] ?? []).length > 0;
}

/** An empty value counts as unset, as in kube-apiserver's flags. */
function named<Key extends string>(key: Key, input: CommandInput, option: string): Partial<Record<Key, string>> {
  const value = textOption(input, option) ?? "";
  return value === "" ? {} : ({ [key]: value } as Record<Key, string>);
}

/** The rules of kube-apiserver for an issuer's address. */
function checkIssuer(text: string): void {
  const refuse = (why: string): UserError => usageError(`--oidc-issuer-url ${text}: ${why}`);
  if (!URL.canParse(text)) throw usageError(`--oidc-issuer-url ${text} is not a URL such as https://login.example.com`);
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw usageError("--oidc-issuer-url must not contain a username or password");
  if (url.protocol !== "https:") throw refuse("URL scheme must be https");
  if (url.search !== "") throw refuse("URL must not contain a query");
  if (url.hash !== "") throw refuse("URL must not contain a fragment");
}

function requiredClaims(pairs: readonly string[]): Record<string, string> | undefined {
  if (pairs.length === 0) return undefined;
  const claims = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at <= 0) throw usageError(`--oidc-required-claim ${pair} is not of the form claim=value`);
    claims.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim());
  }
  return Object.fromEntries(claims);
}

function signingAlgorithms(text: string | undefined): Pick<OidcOptions, "signingAlgorithms"> {
  if (text === undefined) return {};
  const algorithms = text.split(",").map((name) => name.trim());
  for (const name of algorithms)
    if (!OIDC_SIGNING_ALGORITHMS.some((known) => known === name))
      throw usageError(
        `--oidc-signing-algs: ${JSON.stringify(name)} is not supported`,
        `possible: ${OIDC_SIGNING_ALGORITHMS.join(", ")}`,
      );
  return { signingAlgorithms: algorithms };
}

/** A file without a certificate would make every token fail later, with an error that does not name the file. */
async function readCa(file: string): Promise<string> {
  const pem = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UserError(
      `--oidc-ca-file ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  try {
    void new X509Certificate(pem);
    return pem;
  } catch {
    throw new UserError(`--oidc-ca-file ${file} holds no PEM certificate`, {
      hint: "it must be the certificate of the authority that signed the issuer's, -----BEGIN CERTIFICATE-----",
    });
  }
}
