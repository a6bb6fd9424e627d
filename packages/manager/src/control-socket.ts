import { rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { join } from "node:path";

const FILE = "control.sock";

/** What the commands on the same machine may ask of a running instance, beyond its API. */
export interface ControlActions {
  /** Writes a consistent copy of the store while running. */
  backup(path: string): Promise<void>;
}

/**
 * Listens on a socket in the data directory, which only its owner can enter: whoever can connect can read the data anyway. Returns a
 * function that stops it.
 */
export async function serveControl(dataDir: string, actions: ControlActions): Promise<() => Promise<void>> {
  const path = join(dataDir, FILE);
  await rm(path, { force: true });
  const server: Server = createServer((incoming, response) => {
    const finish = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    let text = "";
    incoming.setEncoding("utf8");
    incoming.on("data", (chunk: string) => {
      text += chunk;
    });
    incoming.on("end", () => {
      const target = parsePath(text);
      if (incoming.method !== "POST" || incoming.url !== "/backup" || target === undefined) {
        finish(400, { message: "unknown request" });
        return;
      }
      actions.backup(target).then(
        () => finish(200, {}),
        (error: unknown) =>
          finish(500, {
            message: error instanceof Error ? error.message : String(error),
            cure: (error as { cure?: string }).cure,
          }),
      );
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  server.unref();
  return async () => {
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await rm(path, { force: true });
  };
}

function parsePath(text: string): string | undefined {
  try {
    const { path } = JSON.parse(text) as { path?: unknown };
    return typeof path === "string" && path.startsWith("/") ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Asks the running instance of a data directory for a backup; `path` is absolute. */
export function requestBackup(dataDir: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: join(dataDir, FILE), method: "POST", path: "/backup" }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        if (response.statusCode === 200) {
          resolve();
          return;
        }
        const answer = JSON.parse(text) as { message: string; cure?: string };
        reject(Object.assign(new Error(answer.message), answer.cure === undefined ? {} : { cure: answer.cure }));
      });
    });
    call.on("error", reject);
    call.end(JSON.stringify({ path }));
  });
}
