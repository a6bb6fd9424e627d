/** What commands on the same machine need of a running instance: small, so that they start at once. */
export { requestBackup } from "../control-socket.ts";
export { readInstance } from "../instance.ts";
