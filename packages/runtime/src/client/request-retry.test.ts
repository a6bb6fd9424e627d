import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  settle,
  type Transport,
  VirtualClock,
} from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { requestWithRetry } from "./request-retry.ts";

const GET: ApiRequest = { method: "GET", path: "/x" };
const POST: ApiRequest = { method: "POST", path: "/x", body: {} };

const answer = (status: number, details: object = {}, headers: Record<string, string> = {}): ApiResponse => ({
  status,
  headers,
  body: { kind: "Status", apiVersion: "v1", details },
  warnings: [],
});

/** Sends over a server that answers so, time after time; gives how it ended and when each attempt was made. */
async function send(request: ApiRequest, answers: (attempt: number) => ApiResponse | Error, signal?: AbortSignal) {
  const clock = new VirtualClock();
  const began = clock.now();
  const at: number[] = [];
  const transport: Transport = {
    request: async () => {
      at.push(clock.now() - began);
      const result = answers(at.length);
      if (result instanceof Error) throw result;
      return result;
    },
    watch: async function* () {},
    close: async () => undefined,
  };
  const ended = requestWithRetry(transport, clock, request, signal).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
  let result: number | string | undefined;
  void ended.then((value) => {
    result = value;
  });
  for (;;) {
    for (let i = 0; i < 5; i++) await settle();
    if (result !== undefined) return { result, at };
    await clock.advance((clock.nextTimer() ?? clock.now()) - clock.now());
  }
}

test("takes the delay from the header or the body, a minute at most", async () => {
  const inBody = await send(POST, (n) => (n === 1 ? answer(429, { retryAfterSeconds: 2 }) : answer(201)));
  expect(inBody).toEqual({ result: 201, at: [0, 2000] });
  const inHeader = await send(POST, (n) => (n === 1 ? answer(503, {}, { "retry-after": "3600" }) : answer(201)));
  expect(inHeader).toEqual({ result: 201, at: [0, 60_000] });
});

test("gives up after ten retries on a server that always requests to wait", async () => {
  const { result, at } = await send(GET, () => answer(429, { retryAfterSeconds: 1 }));
  expect(result).toBe(429);
  expect(at).toHaveLength(11);
});

test("retries a failed read, never a failed write", async () => {
  const failing = (n: number) => (n === 1 ? answer(500, { retryAfterSeconds: 1 }) : answer(200));
  expect(await send(GET, failing)).toEqual({ result: 200, at: [0, 1000] });
  expect(await send(POST, failing)).toEqual({ result: 500, at: [0] });
  expect(await send(GET, () => answer(500)), "no Retry-After").toEqual({ result: 500, at: [0] });
});

test("retries a read five times with backoff after a broken connection, and never a write", async () => {
  const broken = (): Error => new Error("ECONNRESET");
  expect(await send(GET, broken)).toEqual({ result: "ECONNRESET", at: [0, 50, 150, 350, 750] });
  expect(await send(POST, broken)).toEqual({ result: "ECONNRESET", at: [0] });
});

test("treats neither an error response nor the caller's abort as a broken connection", async () => {
  const said = new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "no",
    reason: "Gone",
    code: 410,
  });
  expect((await send(GET, () => said)).at).toEqual([0]);
  const stop = new AbortController();
  const stopped = await send(
    GET,
    () => {
      stop.abort(new Error("enough"));
      return new Error("ECONNRESET");
    },
    stop.signal,
  );
  expect(stopped.at).toEqual([0]);
});
