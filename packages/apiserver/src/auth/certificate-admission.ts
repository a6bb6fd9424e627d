import { deepEqual, forbidden, goQuote, type Unstructured } from "@capstan/apimachinery";
import { PkiError, parseCertificateRequest } from "@capstan/pki";
import { at, text } from "../builtin/read.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorizer } from "../types.ts";
import { Signer } from "./certificate-requests.ts";
import { Groups } from "./users.ts";

const GR = { group: "certificates.k8s.io", resource: "certificatesigningrequests" };

/**
 * Approving and signing need `approve` and `sign` on the signer; no client certificate grants system:masters
 * (upstream's CertificateApproval, CertificateSigning and CertificateSubjectRestriction).
 */
export function certificateAdmission(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: "CertificateSigningRequests",
    handles: (type, operation, subresource) =>
      type.group === GR.group &&
      type.plural === GR.resource &&
      (operation === "CREATE" || (operation === "UPDATE" && subresource !== "")),
    validate(request) {
      const { object, oldObject } = request;
      if (object === undefined) return;
      const signer = text(at(oldObject ?? object, "spec", "signerName"));
      if (request.operation === "CREATE") return restrictSubject(object, signer);
      if (request.attributes.subresource === "approval") {
        if (!maySigner(authorizer, request, "approve", signer))
          throw refused(object, `user not permitted to approve requests with signerName ${goQuote(signer)}`);
        return;
      }
      const changed = ["certificate", "conditions"].some(
        (field) => !deepEqual(at(object, "status", field) ?? null, at(oldObject, "status", field) ?? null),
      );
      if (changed && !maySigner(authorizer, request, "sign", signer))
        throw refused(object, `user not permitted to sign requests with signerName ${goQuote(signer)}`);
    },
  };
}

const refused = (object: Unstructured, detail: string): Error => forbidden(GR, object.metadata.name ?? "", detail);

async function restrictSubject(object: Unstructured, signer: string): Promise<void> {
  if (signer !== Signer.client) return;
  const pem = Buffer.from(text(at(object, "spec", "request")), "base64").toString("latin1");
  try {
    const { organizations } = await parseCertificateRequest(pem);
    if (!organizations.includes(Groups.masters)) return;
  } catch (error) {
    // What cannot be read is refused by validation, with the field's name.
    if (error instanceof PkiError) return;
    throw error;
  }
  throw refused(object, `use of ${signer} signer with ${Groups.masters} group is not allowed`);
}

/** By the signer's whole name, or by its domain as `domain/*`. */
function maySigner(authorizer: Authorizer, request: AdmissionRequest, verb: string, signer: string): boolean {
  const { user, path } = request.attributes;
  const names = [signer, `${signer.split("/")[0]}/*`];
  return names.some(
    (name) =>
      authorizer.authorize({
        user,
        verb,
        isResource: true,
        path,
        group: GR.group,
        version: "*",
        resource: "signers",
        subresource: "",
        namespace: "",
        name,
      }).allowed,
  );
}
