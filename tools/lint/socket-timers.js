/**
 * Files that may use a timer of the operating system's or of a socket's, and why a Clock would not do. Everything here talks to another
 * program over a real connection; code in virtual time does not get there.
 */
export const SOCKET_TIMERS = new Map([
  [
    "packages/runtime/src/transport/agents.ts",
    "silence of a connection to a real API server; tests in virtual time use the in-process transport",
  ],
  ["packages/runtime/src/transport/socks5.ts", "as agents.ts, while a proxy connects"],
  ["packages/runtime/src/transport/node-agents.ts", "as agents.ts, for what undici does not do"],
  [
    "packages/runtime/src/server/http-endpoint.ts",
    "how long a real client may take to say what it wants: Node's own limits end slow ones",
  ],
  ["packages/media/src/fetcher.ts", "silence of the server that programs are downloaded from"],
  ["packages/kubernetes-install/src/version-check.ts", "a program that does not report its version is killed"],
  ["packages/workloads/src/process/probe.ts", "silence of a program on this machine, whose own time is real too"],
  ["packages/backup/src/s3-store.ts", "silence of the store that backups are in"],
  ["packages/etcd/src/tools.ts", "etcd's tools are killed when they hang"],
  ["packages/media/src/download.ts", "silence of the server an image is downloaded from"],
  [
    "providers/infra-metal3/src/provisioner/redfish/client.ts",
    "how long a BMC may take for its handshake; how long for its answer is the Clock's",
  ],
]);
