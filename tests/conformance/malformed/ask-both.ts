import type { MalformedRequest } from "../../faults/malformed.ts";
import { MALFORMED_FIXTURES } from "../../faults/malformed-fixtures.ts";
import type { Client, RawAnswer } from "../harness/client.ts";

/** The compared part of a response: its status and reason. */
export interface Verdict {
  /** 0 when the connection was closed without an answer. */
  readonly status: number;
  /** Of a Status; empty for other bodies. */
  readonly reason: string;
  readonly message: string;
}

/** Longer than either server takes to serve a new kind. */
const PATIENCE_MS = 30_000;
const POLL_MS = 100;

/** Creates the targets of the requests, and waits until they exist. */
export async function prepare(client: Client): Promise<void> {
  for (const { path, body } of MALFORMED_FIXTURES) {
    const deadline = Date.now() + PATIENCE_MS;
    // A new kind takes a moment to be served: 404 until then. An object that the server created itself is a conflict.
    for (;;) {
      const { status } = await ask(client, {
        method: "POST",
        path,
        headers: { "content-type": "application/json" },
        body: Buffer.from(JSON.stringify(body)),
      });
      if (status === 201 || status === 409) break;
      if (Date.now() > deadline) throw new Error(`POST ${path}: ${status}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/**
 * The request as one that changes nothing, so that both servers are in the same state all the time; undefined when it might
 * still change something: a body of DeleteOptions alone decides whether it is a dry run.
 */
export function harmless(request: MalformedRequest): MalformedRequest | undefined {
  const { method, path, body } = request;
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return request;
  if (method === "DELETE" && body !== undefined && !path.endsWith("/configmaps/x")) return undefined;
  if (path.includes("dryRun=")) return request;
  return { ...request, path: `${path}${path.includes("?") ? "&" : "?"}dryRun=All` };
}

/** Sends one request and reads what is said about it. */
export async function ask(client: Client, request: MalformedRequest): Promise<Verdict> {
  let answer: RawAnswer;
  try {
    answer = await client.send({ ...request, credentials: true });
  } catch (error) {
    return { status: 0, reason: "", message: String(error) };
  }
  const text = answer.body.toString();
  try {
    const value: unknown = JSON.parse(text);
    const { kind, reason = "", message = "" } = value as Record<string, string>;
    if (kind === "Status") return { status: answer.status, reason, message };
  } catch {
    // Not JSON: text for people.
  }
  return { status: answer.status, reason: "", message: text.slice(0, 300) };
}
