import { createServer } from "node:net";

/** Ports that were free a moment ago; all are held open until the last one is known, so that they differ from each other. */
export async function freePorts(count: number, address = "127.0.0.1"): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(0, address, resolve);
      });
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const bound = server.address();
    if (bound === null || typeof bound === "string") throw new Error(`no port on ${address}`);
    return bound.port;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
