import { isObject } from "@capstan/apimachinery";
import { redactText } from "@capstan/runtime";
import { failure, type StepFailure } from "../provisioner.ts";

/** Whoever knows where a host's medium is published can read what is on it; management controllers like to repeat it, or cut it. */
const MEDIA_TOKEN = /(\/media\/)[\w-]{16,}/g;

/** Thrown if a Redfish request fails. */
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

/**
 * The meanings of messages in Redfish's registries that say more than a status. A management controller's own message is not repeated:
 * whoever chose its address would read in a condition what another server there says.
 */
const MEANINGS: Readonly<Record<string, string>> = {
  InsufficientPrivilege: "the user lacks the permission for this",
  AccountNotModified: "the account cannot be changed",
  NoValidSession: "the session has expired",
  SessionLimitExceeded: "too many sessions are open: close some, or raise the limit",
  ServiceShuttingDown: "the service is restarting",
  ServiceTemporarilyUnavailable: "the service is temporarily unavailable",
  ServiceInUnknownState: "the service is in an unknown state: restart the management controller",
  ResourceInUse: "the resource is in use",
  ResourceInStandby: "the system is in standby",
  ResourceMissingAtURI: "there is no resource at this address",
  ResourceNotFound: "there is no such resource",
  ResourceCannotBeDeleted: "the resource cannot be deleted",
  ActionNotSupported: "the action is not supported",
  ActionParameterNotSupported: "a parameter of the action is not supported",
  ActionParameterMissing: "a parameter of the action is missing",
  ActionParameterValueNotInList: "a parameter of the action has an unsupported value",
  PropertyNotWritable: "a property is read-only",
  PropertyValueNotInList: "a property has an unsupported value",
  PropertyUnknown: "a property is not supported",
  LicenseRequired: "a license is required",
  OperationNotAllowed: "the operation is not allowed",
  OperationTimeout: "the operation timed out",
  CouldNotEstablishConnection: "it cannot connect to the address of the medium: allow it to reach the management host",
  ResourceAtUriUnauthorized: "it has no access to the address of the medium",
  ResourceAtUriInUnknownFormat: "it does not recognize the format of the medium",
  InternalError: "internal error",
  GeneralError: "general error",
};

/** How many messages of an answer are looked at. */
const MAX_MESSAGES = 16;

/** Explains the known Redfish message IDs of an error response; empty if there are none. */
export function wordsOf(body: unknown): string {
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : body;
  if (!isObject(error)) return "";
  const details = error["@Message.ExtendedInfo"] ?? error["Messages"];
  const entries = [
    ...(Array.isArray(details) ? details.slice(0, MAX_MESSAGES) : [details]),
    { MessageId: error["code"] },
  ];
  const meanings = entries.flatMap((entry) => {
    // Such as Base.1.8.InsufficientPrivilege.
    const id = isObject(entry) ? String(entry["MessageId"]).slice(0, 256).split(".").pop() : undefined;
    return id !== undefined && Object.hasOwn(MEANINGS, id) ? [`${id}: ${MEANINGS[id]}`] : [];
  });
  const [first, ...more] = [...new Set(meanings)];
  // The outer code is mostly a general one.
  const told = more.filter((meaning) => !meaning.startsWith("GeneralError"));
  return first === undefined ? "" : ` (${[first, ...told].join("; ")})`;
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
  [/ERR_ADDRESS_REFUSED/, "correct spec.bmc.address"],
  [/EPROTO|WRONG_VERSION_NUMBER/, "it does not speak TLS there: use redfish-virtualmedia+http:// or another port"],
];

/** Wraps a connection error in a RedfishError that says what to do. */
export function connectionError(what: string, error: unknown): RedfishError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = isObject(cause) || cause instanceof Error ? String((cause as { code?: unknown }).code ?? "") : "";
  const text = cause instanceof Error ? cause.message : String(cause);
  const cure =
    CURES.find(([pattern]) => pattern.test(code) || pattern.test(text))?.[1] ??
    "check that the management controller is powered on and that spec.bmc.address and the network path to it are correct";
  return new RedfishError(`${what}: ${text}${code === "" || text.includes(code) ? "" : ` (${code})`}: ${cure}`, {
    access: "unreachable",
  });
}

/** Converts an error to the failure that the driver returns. */
export function failureOf(error: unknown): StepFailure {
  if (error instanceof RedfishError)
    return failure(error.message, error.access === undefined ? {} : { access: error.access });
  throw error;
}
