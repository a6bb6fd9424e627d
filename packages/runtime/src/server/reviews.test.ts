import type { IncomingMessage } from "node:http";
import { type ApiRequest, type Transport, VirtualClock } from "@capstan/apimachinery";
import { beforeEach, expect, test } from "vitest";
import { Client } from "../client/client.ts";
import type { CheckAccess } from "./metrics-endpoint.ts";
import { reviewedAccess } from "./reviewed-access.ts";

const USER = { username: "prometheus", uid: "u1", groups: ["scrapers"], extra: { scopes: ["read"] } };
let clock: VirtualClock;
let access: CheckAccess;
/** What the API server was asked. */
let asked: ApiRequest[];
/** What it says of a token. */
let identity: object;
let isDown: boolean;

beforeEach(() => {
  clock = new VirtualClock();
  asked = [];
  identity = { authenticated: true, user: USER };
  isDown = false;
  const transport: Transport = {
    request: async (request) => {
      asked.push(request);
      if (isDown) throw new Error("the line is cut");
      const status = request.path.endsWith("/tokenreviews") ? identity : { allowed: true };
      return { status: 201, headers: {}, body: { status }, warnings: [] };
    },
    watch: async function* () {},
    close: async () => undefined,
  };
  access = reviewedAccess(new Client(transport, { fieldManager: "test", clock }), { clock });
});

const ask = (token: string, path = "/metrics") =>
  access({ headers: { authorization: `Bearer ${token}` } } as IncomingMessage, path);

test("authorizes with all attributes of the authenticated user", async () => {
  expect(await ask("good")).toBe("allowed");
  const { username: user, ...rest } = USER;
  expect(asked.at(-1)?.body).toMatchObject({
    spec: { user, ...rest, nonResourceAttributes: { path: "/metrics", verb: "get" } },
  });
});

test("ignores the user of a token that was not accepted", async () => {
  identity = { authenticated: false, user: USER };
  expect(await ask("bad")).toBe("unauthenticated");
  identity = { user: USER };
  expect(await ask("worse")).toBe("unauthenticated");
});

test("denies access while the API server does not answer, and asks again at once", async () => {
  isDown = true;
  expect(await ask("good")).toBe("forbidden");
  isDown = false;
  expect(await ask("good")).toBe("allowed");
});

test("forgets the earliest of many tokens, so that they do not fill the memory", async () => {
  identity = { authenticated: false };
  for (let i = 0; i < 1001; i++) await ask(`made-up-${i}`);
  const before = asked.length;
  await ask("made-up-1000");
  expect(asked.length, "the last is remembered").toBe(before);
  await ask("made-up-0");
  expect(asked.length).toBe(before + 1);
});
