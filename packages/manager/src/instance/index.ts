/** What commands on the same machine need of a running instance: small, so that they start quickly. */
export { requestBackup, requestSignInLink } from "../control-socket.ts";
export { INSTANCE_EXTENSION, readInstance, readProviderFiles, stopInstance } from "../instance.ts";
