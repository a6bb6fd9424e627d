/** What commands on the same machine need of a running instance: small, so that they start at once. */
export { requestBackup, requestSignInLink } from "../control-socket.ts";
export { INSTANCE_EXTENSION, readInstance, stopInstance } from "../instance.ts";
