import type { OptionDefinition } from "../command.ts";

/** Signing algorithms that an OIDC issuer may use. */
export const OIDC_SIGNING_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
] as const;

/** Flags that configure OIDC authentication, with kube-apiserver's names and defaults. */
export const OIDC_OPTIONS: OptionDefinition[] = [
  { flags: "--oidc-issuer-url <url>", summary: "Accept the ID tokens of this OpenID Connect issuer (https)" },
  { flags: "--oidc-client-id <id>", summary: "Audience that its tokens must be for" },
  {
    flags: "--oidc-ca-file <file>",
    summary: "CA of the issuer's certificate (default: the system's)",
    completes: "files",
  },
  { flags: "--oidc-username-claim <claim>", summary: "Claim that names the user (default: sub)" },
  {
    flags: "--oidc-username-prefix <prefix>",
    summary: 'Prefix of user names, "-" for none (default: the issuer and a #, none for the claim email)',
  },
  { flags: "--oidc-groups-claim <claim>", summary: "Claim that names the user's groups (default: no groups)" },
  { flags: "--oidc-groups-prefix <prefix>", summary: "Prefix of group names" },
  {
    flags: "--oidc-required-claim <claim=value>",
    summary: "Accept only tokens with this claim (repeatable)",
    repeatable: true,
  },
  {
    flags: "--oidc-signing-algs <names>",
    summary: `Accepted signing algorithms, comma-separated: ${OIDC_SIGNING_ALGORITHMS.join(", ")} (default: RS256)`,
  },
];
