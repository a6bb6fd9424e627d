import { type UserInfo, VirtualClock } from "@capstan/apimachinery";
import { expect, it } from "vitest";
import { ask, askPath } from "../auth/testing/tiny-api.ts";
import type { WatchSink, WatchStream } from "../registry/watch.ts";
import type { ApiCall } from "../server/api-call.ts";
import type { Reply } from "../server/reply.ts";
import type { RequestAttributes } from "../types.ts";
import { createMetrics } from "./metrics.ts";

const bob: UserInfo = { name: "bob", groups: [] };
const call = (query = ""): ApiCall => ({
  method: "GET",
  path: "/",
  query: new URLSearchParams(query),
  headers: {},
  body: () => ({ type: "none" }),
  warnings: [],
  warn: () => {},
});
const reply = (status: number): Reply => ({ status, body: { type: "object", object: {} } });
const clock = new VirtualClock();
const make = () =>
  createMetrics({
    clock,
    objects: () => [
      { group: "apps", resource: "deployments", count: 3 },
      { group: "", resource: "pods", count: 0 },
    ],
  });
const lines = (text: string, start: string): string[] => text.split("\n").filter((line) => line.startsWith(start));

it("counts requests by kube-apiserver's labels", async () => {
  const metrics = make();
  const serve = async (attributes: RequestAttributes, status: number, ms: number, query = ""): Promise<void> => {
    const done = metrics.observer.begin(call(query), attributes);
    await clock.advance(ms);
    done(reply(status));
  };
  await serve(ask(bob, "create", "apps/deployments", "ns/"), 201, 30);
  await serve(ask(bob, "create", "apps/deployments", "ns/"), 201, 3000);
  await serve(ask(bob, "create", "apps/deployments", "ns/"), 409, 1);
  await serve(ask(bob, "update", "core/pods/status", "ns/x"), 200, 1, "dryRun=All");
  await serve(askPath(bob, "get", "/openapi/v3/apis/apps/v1"), 200, 1);
  await serve(askPath(bob, "get", "/made-up"), 404, 1);
  const text = metrics.text();
  const deployments = `component="apiserver",dry_run="",group="apps",resource="deployments",scope="namespace",subresource="",verb="POST",version="v1"`;
  expect(lines(text, "apiserver_request_total")).toEqual([
    `apiserver_request_total{code="201",${deployments}} 2`,
    `apiserver_request_total{code="409",${deployments}} 1`,
    `apiserver_request_total{code="200",component="apiserver",dry_run="All",group="",resource="pods",scope="resource",subresource="status",verb="PUT",version="v1"} 1`,
    `apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/openapi/v3",verb="GET",version=""} 1`,
    `apiserver_request_total{code="404",component="",dry_run="",group="",resource="",scope="",subresource="/",verb="GET",version=""} 1`,
  ]);
  const buckets = lines(text, `apiserver_request_duration_seconds_bucket{${deployments}`).map((line) =>
    Number(line.split(" ").at(-1)),
  );
  expect(buckets).toHaveLength(24);
  expect(buckets.slice(0, 4)).toEqual([1, 1, 2, 2]);
  expect(buckets.slice(11, 13)).toEqual([2, 3]);
  expect(text).toContain(`apiserver_request_duration_seconds_count{${deployments}} 3`);
  expect(text).toContain(`apiserver_request_duration_seconds_sum{${deployments}} 3.03`);
  expect(lines(text, "apiserver_storage_objects")).toEqual([
    `apiserver_storage_objects{resource="deployments.apps"} 3`,
    `apiserver_storage_objects{resource="pods"} 0`,
  ]);
  expect(text).toMatch(/^process_cpu_seconds_total [\d.]+$/m);
});

it("knows requests in flight, running watches and their events", () => {
  const metrics = make();
  const gauge = (name: string): number => Number(lines(metrics.text(), name)[0]?.split(" ").at(-1));
  let sink: WatchSink | undefined;
  const stream: WatchStream = {
    start: (given) => {
      sink = given;
      return () => {};
    },
  };
  const done = metrics.observer.begin(call(), ask(bob, "watch", "core/pods", "ns/"));
  expect(gauge(`apiserver_current_inflight_requests{request_kind="readOnly"}`)).toBe(1);
  done({ status: 200, body: { type: "watch", stream } });
  expect(gauge(`apiserver_current_inflight_requests{request_kind="readOnly"}`)).toBe(0);
  const received: number[] = [];
  const stop = stream.start({ send: (events) => received.push(events.length), end: () => {} });
  expect(gauge("apiserver_longrunning_requests")).toBe(1);
  sink?.send(Array.from({ length: 3 }) as never);
  expect(received).toEqual([3]);
  expect(gauge(`apiserver_watch_events_total{group="",resource="pods",version="v1"}`)).toBe(3);
  stop();
  sink?.end();
  expect(gauge("apiserver_longrunning_requests")).toBe(0);
});

it("does not grow without limit on made-up names", () => {
  const metrics = make();
  for (let i = 0; i < 6000; i++) metrics.observer.begin(call(), ask(bob, "get", `g${i}/r`, "ns/"))(reply(404));
  expect(lines(metrics.text(), "apiserver_request_total").length).toBeLessThan(2100);
  expect(metrics.text()).toContain(`resource="other"`);
});
