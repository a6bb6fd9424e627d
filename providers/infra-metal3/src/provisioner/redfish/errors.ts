import { isObject } from "@capstan/apimachinery";
import { redactText } from "@capstan/runtime";
import { failure, type StepFailure } from "../provisioner.ts";

/** Whoever knows where a host's medium is published can read what is on it; management controllers like to repeat it, or cut it. */
const MEDIA_TOKEN = /(\/media\/)[\w-]{16,}/g;

/** A request that did not come to what it should. */
export class RedfishError extends Error {
  readonly access: "unreachable" | "refused" | undefined;
  readonly status: number | undefined;

  constructor(message: string, options: { access?: "unreachable" | "refused"; status?: number } = {}) {
    super(redactText(message).replace(MEDIA_TOKEN, "$1[hidden]"));
    this.name = "RedfishError";
    this.access = options.access;
    this.status = options.status;
  }
}

const MAX_TEXT = 600;

/** What a management controller said in an answer, in its own words. */
export function wordsOf(body: unknown): string {
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : body;
  if (!isObject(error)) return "";
  const details = error["@Message.ExtendedInfo"];
  const list = Array.isArray(details) ? details : [details];
  const texts = list.flatMap((entry) =>
    isObject(entry) && typeof entry["Message"] === "string" ? [entry["Message"]] : [],
  );
  const message = typeof error["message"] === "string" ? [error["message"]] : [];
  // The outer message is mostly a general one.
  return [...new Set(texts.length > 0 ? texts : message)].join(" ").slice(0, MAX_TEXT);
}

const CURES: readonly (readonly [RegExp, string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_UNTRUSTED/,
    "put the CA that signed its certificate into ca.crt of the credentials Secret, or set spec.bmc.disableCertificateVerification",
  ],
  [
    /CERT_HAS_EXPIRED/,
    "renew the certificate of the management controller, or set spec.bmc.disableCertificateVerification",
  ],
  [/ALTNAME_INVALID/, "use the name that its certificate is for, or set spec.bmc.disableCertificateVerification"],
  [/ENOTFOUND|EAI_AGAIN/, "correct the host name in spec.bmc.address"],
  [/EPROTO|WRONG_VERSION_NUMBER/, "it does not speak TLS there: use redfish-virtualmedia+http:// or another port"],
];

/** An error of the connection, with what to do. */
export function connectionError(what: string, error: unknown): RedfishError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = isObject(cause) || cause instanceof Error ? String((cause as { code?: unknown }).code ?? "") : "";
  const text = cause instanceof Error ? cause.message : String(cause);
  const cure =
    CURES.find(([pattern]) => pattern.test(code) || pattern.test(text))?.[1] ??
    "is the management controller on, and are spec.bmc.address and the way to it right?";
  return new RedfishError(`${what}: ${text}${code === "" || text.includes(code) ? "" : ` (${code})`}: ${cure}`, {
    access: "unreachable",
  });
}

/** What a driver reports of an error. */
export function failureOf(error: unknown): StepFailure {
  if (error instanceof RedfishError)
    return failure(error.message, error.access === undefined ? {} : { access: error.access });
  throw error;
}
