import {
  deepEqual,
  duplicate,
  type FieldError,
  forbiddenField,
  formatAge,
  formatTime,
  invalidValue,
  isDns1123Subdomain,
  notSupported,
  required,
  tooLong,
  type Unstructured,
  type UserInfo,
} from "@capstan/apimachinery";
import { AGE, column, NAME } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { at, child, list, obj, text, texts } from "../read.ts";

const GROUP = "certificates.k8s.io";
const DECISIONS = ["Approved", "Denied"];

/** certificates.k8s.io/v1 CertificateSigningRequest. The spec is fixed at creation and says who asked. */
export const certificateSigningRequest = defineBuiltin({
  group: GROUP,
  kind: "CertificateSigningRequest",
  shortNames: ["csr"],
  namespaced: false,
  status: true,
  subresources: [
    {
      name: "approval",
      kind: "CertificateSigningRequest",
      verbs: ["get", "patch", "update"],
      keeps: [["spec"], ["status", "certificate"]],
    },
  ],
  columns: [
    NAME,
    AGE,
    column("SignerName", (o) => text(at(o, "spec", "signerName")) || "<none>"),
    column("Requestor", (o) => text(at(o, "spec", "username"))),
    column("RequestedDuration", (o) => {
      const seconds = at(o, "spec", "expirationSeconds");
      return typeof seconds === "number" ? formatAge(seconds * 1000) : "<none>";
    }),
    column("Condition", csrStatus),
  ],
  fieldSelectors: { "spec.signerName": (o) => text(at(o, "spec", "signerName")) },
  strategy: {
    noGeneration: true,
    nameRule: "path-segment",
    prepareForCreate,
    prepareForUpdate,
    validate,
    validateUpdate,
  },
});

function csrStatus(o: Unstructured): string {
  const has = (type: string): boolean => conditions(o, type).length > 0;
  let word = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  if (has("Failed")) word += ",Failed";
  if (text(at(o, "status", "certificate")) !== "") word += ",Issued";
  return word;
}

function conditions(o: Unstructured, type: string): readonly unknown[] {
  return list(at(o, "status", "conditions")).filter((c) => at(c, "type") === type);
}

/** Who asks is taken from the request, never from the body. */
function prepareForCreate(object: Unstructured, context?: { readonly user?: UserInfo }): void {
  const spec = child(object, "spec");
  for (const key of ["username", "uid", "groups", "extra"]) delete spec[key];
  const user = context?.user;
  if (user !== undefined) {
    spec.username = user.name;
    if (user.uid !== undefined && user.uid !== "") spec.uid = user.uid;
    spec.groups = [...user.groups];
    if (user.extra !== undefined && Object.keys(user.extra).length > 0) spec.extra = { ...user.extra };
  }
  object.status = {};
}

/** The spec never changes; /status keeps decisions as they are, and validation refuses new ones there. */
function prepareForUpdate(object: Unstructured, old: Unstructured, subresource: string, nowMs: number): void {
  object.spec = { ...obj(old.spec) };
  if (subresource === "status")
    for (const type of DECISIONS) {
      const decided = [...conditions(old, type)];
      if (decided.length !== conditions(object, type).length) continue;
      const status = child(object, "status");
      status.conditions = list(status.conditions).map((c) => (at(c, "type") === type ? decided.shift() : c));
    }
  if (subresource !== "") addTimes(object, old, nowMs);
}

/** Conditions without times get them: a transition is when the status was first seen. */
function addTimes(object: Unstructured, old: Unstructured, nowMs: number): void {
  const found = list(at(object, "status", "conditions"));
  if (found.length === 0) return;
  const now = formatTime(nowMs);
  child(object, "status").conditions = found.map((condition) => {
    const same = conditions(old, text(at(condition, "type"))).find((c) => at(c, "status") === at(condition, "status"));
    return {
      ...obj(condition),
      lastUpdateTime: text(at(condition, "lastUpdateTime")) || now,
      lastTransitionTime: text(at(condition, "lastTransitionTime")) || text(at(same, "lastTransitionTime")) || now,
    };
  });
}

const USAGES = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

/** Longer ones are none: reading them would hold up others. */
const MAX_REQUEST = 64 * 1024;

function validate(object: Unstructured): FieldError[] {
  const spec = obj(object.spec);
  const errors: FieldError[] = [];
  const request = text(spec.request);
  if (request.length > MAX_REQUEST) return [tooLong("spec.request", MAX_REQUEST)];
  const pem = Buffer.from(request, "base64").toString("latin1");
  if (!pem.includes("-----BEGIN CERTIFICATE REQUEST-----"))
    errors.push(invalidValue("spec.request", spec.request ?? null, "PEM block type must be CERTIFICATE REQUEST"));
  const usages = texts(spec.usages);
  if (usages.length === 0) errors.push(required("spec.usages"));
  const seen = new Set<string>();
  usages.forEach((usage, i) => {
    if (!USAGES.includes(usage)) errors.push(notSupported(`spec.usages[${i}]`, usage, USAGES));
    if (seen.has(usage)) errors.push(duplicate(`spec.usages[${i}]`, usage));
    seen.add(usage);
  });
  errors.push(...signerNameErrors(text(spec.signerName)));
  const seconds = spec.expirationSeconds;
  if (typeof seconds === "number" && seconds < 600)
    errors.push(
      invalidValue("spec.expirationSeconds", seconds, "may not specify a duration less than 600 seconds (10 minutes)"),
    );
  return [...errors, ...conditionErrors(object)];
}

function signerNameErrors(name: string): FieldError[] {
  const field = "spec.signerName";
  if (name === "") return [required(field)];
  if (name === "kubernetes.io/legacy-unknown")
    return [invalidValue(field, name, "the legacy signerName is not allowed via this API version")];
  const slash = name.indexOf("/");
  if (slash < 0)
    return [
      invalidValue(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ];
  const domain = name.slice(0, slash);
  return isDns1123Subdomain(domain).map((m) => invalidValue(field, domain, m));
}

function conditionErrors(object: Unstructured): FieldError[] {
  const path = "status.conditions";
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  list(at(object, "status", "conditions")).forEach((condition, i) => {
    const type = text(at(condition, "type"));
    if (type === "") errors.push(required(`${path}[${i}].type`));
    const status = text(at(condition, "status"));
    const allowed = [...DECISIONS, "Failed"].includes(type) ? ["True"] : ["False", "True", "Unknown"];
    if (status === "") errors.push(required(`${path}[${i}].status`));
    else if (!allowed.includes(status)) errors.push(notSupported(`${path}[${i}].status`, status, allowed));
    if (DECISIONS.includes(type) && DECISIONS.some((d) => d !== type && seen.has(d)))
      errors.push(invalidValue(path, type, "Approved and Denied conditions are mutually exclusive"));
    if (seen.has(type)) errors.push(duplicate(`${path}[${i}].type`, type));
    seen.add(type);
  });
  return errors;
}

function validateUpdate(object: Unstructured, old: Unstructured, subresource: string): FieldError[] {
  const errors = validate(object);
  const path = "status.conditions";
  for (const type of [...DECISIONS, "Failed"])
    if (conditions(object, type).length < conditions(old, type).length)
      errors.push(forbiddenField(path, `updates may not remove a condition of type "${type}"`));
  if (subresource !== "approval")
    for (const type of DECISIONS)
      if (conditions(object, type).length > conditions(old, type).length)
        errors.push(forbiddenField(path, `updates may not add a condition of type "${type}"`));
      else if (
        conditions(object, type).length === conditions(old, type).length &&
        !deepEqual(conditions(object, type), conditions(old, type))
      )
        errors.push(forbiddenField(path, `updates may not modify a condition of type "${type}"`));
  const before = text(at(old, "status", "certificate"));
  if (text(at(object, "status", "certificate")) !== before) {
    if (subresource !== "status")
      errors.push(forbiddenField("status.certificate", "updates may not set certificate content"));
    else if (before !== "")
      errors.push(forbiddenField("status.certificate", "updates may not modify existing certificate content"));
  }
  return errors;
}
