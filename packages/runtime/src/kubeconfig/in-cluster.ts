import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import type { ClientConfig } from "../transport/client-config.ts";
import { FileCredentials } from "./file-credentials.ts";

const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Returns the client configuration of a pod from its environment and service account files; undefined outside a pod. */
export async function inClusterConfig(options: {
  readonly clock: Clock;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly directory?: string | undefined;
}): Promise<ClientConfig | undefined> {
  const environment = options.environment ?? process.env;
  const host = environment["KUBERNETES_SERVICE_HOST"];
  const port = environment["KUBERNETES_SERVICE_PORT"];
  if (host === undefined || host === "" || port === undefined || port === "") return undefined;
  const directory = options.directory ?? SERVICE_ACCOUNT_DIR;
  const read = async (name: string): Promise<string | undefined> =>
    await readFile(join(directory, name), "utf8").catch(() => undefined);
  if ((await read("token")) === undefined) {
    throw new Error(`this looks like a pod, but ${join(directory, "token")} cannot be read: mount its service account`);
  }
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tls: { caPem: await read("ca.crt") },
    credentials: new FileCredentials({ tokenFile: join(directory, "token") }, options.clock),
    namespace: (await read("namespace"))?.trim(),
  };
}
