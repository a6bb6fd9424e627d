export { type ApiServer, type ApiServerOptions, createApiServer } from "./api-server.ts";
export type { AuditSink } from "./audit/audit.ts";
export { auditFile } from "./audit/audit-file.ts";
export type { AuditPolicy, AuditRule } from "./audit/audit-policy.ts";
export type { OidcOptions } from "./auth/oidc.ts";
export type { AuthOptions } from "./authentication.ts";
export { KUBERNETES_VERSION } from "./server/fixed-paths.ts";
export type { HttpRequest, HttpServerResponse } from "./server/http-handler.ts";
export type { Listener, ListenOptions } from "./server/listen.ts";
export { restoreBackup } from "./store/backup.ts";
export { type DiskReserve, openDiskReserve } from "./store/disk-reserve.ts";
export {
  type EncryptionKeys,
  newEncryptionKeyLine,
  parseEncryptionKeys,
  readEncryptionKeyFile,
} from "./store/encryption.ts";
export { type LmdbStore, type LmdbStoreOptions, openLmdbStore } from "./store/lmdb-store.ts";
export { memoryStore } from "./store/memory-store.ts";
export { openObjectStore } from "./store/object-store.ts";
export type { ObjectStore, StoredChange, StoredObject } from "./store/object-store.types.ts";
export { lockDirectory } from "./store/process-lock.ts";
export { openSharedStores, type SharedStores } from "./store/shared-lmdb.ts";
export { CompactedError, type Store, StoreError } from "./store/store.ts";
export type {
  AdmissionPlugin,
  AdmissionRequest,
  Converter,
  InternalApi,
  InternalChange,
  RequestAttributes,
  ResourceKey,
  ResourceRegistry,
  ResourceType,
} from "./types.ts";
