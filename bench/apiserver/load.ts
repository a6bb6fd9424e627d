/** The client of the create load, in a process of its own so that its CPU is not the server's. Talks to its parent by messages. */
import { type Endpoint, HttpsClient } from "../lib/https-client.ts";
import { configMap, GROUP, machine } from "./objects.ts";

export interface LoadRequest {
  endpoint: Endpoint;
  what: "configmaps" | "machines";
  clients: number;
  count: number;
  prefix: string;
}

export interface LoadReply {
  seconds: number;
  latenciesMs: number[];
  cpuSeconds: number;
}

export function collectionPath(what: LoadRequest["what"]): string {
  return what === "configmaps"
    ? "/api/v1/namespaces/default/configmaps"
    : `/apis/${GROUP}/v1/namespaces/default/benchmachines`;
}

async function run(request: LoadRequest): Promise<LoadReply> {
  const client = new HttpsClient(request.endpoint, request.clients);
  const make = request.what === "configmaps" ? configMap : machine;
  const path = collectionPath(request.what);
  const latenciesMs: number[] = [];
  let next = 0;
  const before = process.cpuUsage();
  const start = performance.now();
  const one = async (): Promise<void> => {
    while (next < request.count) {
      const body = make(`${request.prefix}-${next++}`);
      const begun = performance.now();
      const { status, body: answer } = await client.send("POST", path, body);
      if (status !== 201) throw new Error(`create answered ${status}: ${answer.toString().slice(0, 500)}`);
      latenciesMs.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: request.clients }, one));
  const seconds = (performance.now() - start) / 1000;
  const used = process.cpuUsage(before);
  client.close();
  return { seconds, latenciesMs, cpuSeconds: (used.user + used.system) / 1e6 };
}

process.on("message", (request: LoadRequest) => {
  run(request).then(
    (reply) => process.send?.(reply),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
