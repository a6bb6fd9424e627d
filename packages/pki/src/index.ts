export {
  BACKDATE_MS,
  type CertificateAndKey,
  createCertificateAuthority,
  issueCertificate,
  type LeafOptions,
} from "./authority.ts";
export { PkiError } from "./errors.ts";
export type { KeyUsageName, Usage } from "./extensions.ts";
export { createKeyPair, createSecretKey, createServiceAccountKey, type KeyAlgorithm, type KeyPair } from "./keys.ts";
export { buildKubeconfig, type KubeconfigOptions } from "./kubeconfig.ts";
export type { Subject } from "./names.ts";
export {
  isSignedBy,
  type ParsedCertificate,
  parseCertificate,
  parseCertificateDer,
  parseCertificates,
  publicKeyPin,
} from "./parse.ts";
export { ownsCertificate } from "./possession.ts";
export {
  createCertificateRequest,
  type ParsedCertificateRequest,
  parseCertificateRequest,
  signCertificateRequest,
} from "./request.ts";
