import { rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { join } from "node:path";
import { HTTP_TIME_LIMITS } from "@capstan/apimachinery";

const FILE = "control.sock";
/** A request holds a path at most. */
const MAX_BODY_CHARS = 64 * 1024;

/** What commands on the same machine can request from a running instance, in addition to its API. */
export interface ControlActions {
  /** Writes a consistent copy of the store while running. */
  backup(path: string): Promise<void>;
  /** A new address that signs in to the dashboard once; undefined without a dashboard. */
  signInLink(): string | undefined;
}

/**
 * Listens on a socket in the data directory, which only its owner can enter: whoever can connect can read the data anyway. Returns a
 * function that stops listening.
 */
export async function serveControl(dataDir: string, actions: ControlActions): Promise<() => Promise<void>> {
  const path = join(dataDir, FILE);
  await rm(path, { force: true });
  const server: Server = createServer(HTTP_TIME_LIMITS, (incoming, response) => {
    const finish = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    let text = "";
    incoming.setEncoding("utf8");
    incoming.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > MAX_BODY_CHARS) incoming.destroy();
    });
    incoming.on("end", () => {
      if (incoming.method === "POST" && incoming.url === "/sign-in-link") {
        finish(200, { link: actions.signInLink() });
        return;
      }
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

/** Requests a backup from the running instance of a data directory; `path` must be absolute. */
export async function requestBackup(dataDir: string, path: string): Promise<void> {
  await ask(dataDir, "/backup", { path });
}

/** Requests a one-time sign-in link to the dashboard of the running instance; undefined when it serves no dashboard. */
export async function requestSignInLink(dataDir: string): Promise<string | undefined> {
  const { link } = (await ask(dataDir, "/sign-in-link", {})) as { link?: string };
  return link;
}

function ask(dataDir: string, path: string, body: object): Promise<object> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: join(dataDir, FILE), method: "POST", path }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        const answer = JSON.parse(text) as { message: string; cure?: string };
        if (response.statusCode === 200) {
          resolve(answer);
          return;
        }
        reject(Object.assign(new Error(answer.message), answer.cure === undefined ? {} : { cure: answer.cure }));
      });
    });
    call.on("error", reject);
    call.end(JSON.stringify(body));
  });
}
