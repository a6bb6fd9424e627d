import type { ApiRequest, ApiResponse, Transport } from "@capstan/apimachinery";
import { VirtualClock } from "@capstan/apimachinery";
import { Client } from "@capstan/runtime";
import { expect, test } from "vitest";
import { podLogs } from "./pod-logs.ts";

const pod = (name: string, component: string, owner: string, containers = [component]): object => ({
  metadata: {
    namespace: "default",
    name,
    labels: { "capstan.dev/hosted": "c1", "app.kubernetes.io/component": component },
    annotations: { "capstan.dev/hosted-by": owner },
  },
  spec: { containers: containers.map((container) => ({ name: container })) },
});

/** A host cluster that answers from a table of logs, as a kube-apiserver does. */
function hostCluster(logs: Record<string, string[]>, asked: ApiRequest[]): Client {
  const answer = (status: number, body: unknown): ApiResponse => ({ status, headers: {}, body, warnings: [] });
  const transport: Transport = {
    request: (request) => {
      asked.push(request);
      if (!request.path.endsWith("/log"))
        return Promise.resolve(
          answer(200, {
            metadata: { resourceVersion: "1" },
            items: [
              pod("c1-kube-apiserver-x", "kube-apiserver", "default/c1", ["kube-apiserver", "konnectivity-server"]),
              pod("c1-etcd-0", "etcd", "default/c1"),
              pod("c1-etcd-1", "etcd", "default/c1"),
              pod("other-etcd-0", "etcd", "default/other"),
            ],
          }),
        );
      const name = `${request.path.split("/")[6] ?? ""}/${String(request.query?.["container"])}`;
      const lines = logs[name];
      if (lines === undefined) return Promise.resolve(answer(400, { message: "container is waiting to start" }));
      const since = request.query?.["sinceTime"];
      const kept = typeof since === "string" ? lines.filter((line) => line >= since.slice(0, 19)) : lines;
      const tail = request.query?.["tailLines"];
      return Promise.resolve(answer(200, kept.slice(tail === undefined ? 0 : -Number(tail)).join("\n")));
    },
    watch: () => {
      throw new Error("unexpected request");
    },
    close: () => Promise.resolve(),
  };
  return new Client(transport, { fieldManager: "test", clock: new VirtualClock() });
}

test("returns a log per container of the control plane's own pods, with distinct names", async () => {
  const found = await podLogs(hostCluster({}, []), "default", "c1");
  expect(found.map(({ component }) => component)).toEqual([
    "etcd c1-etcd-0",
    "etcd c1-etcd-1",
    "konnectivity-server",
    "kube-apiserver",
  ]);
});

test("follows without printing a line twice, even within one second", async () => {
  const asked: ApiRequest[] = [];
  const lines = ["2026-01-01T00:00:01.100000000Z one", "2026-01-01T00:00:01.200000000Z two"];
  const sources = await podLogs(hostCluster({ "c1-kube-apiserver-x/kube-apiserver": lines }, asked), "default", "c1");
  const api = sources.find(({ component }) => component === "kube-apiserver");
  expect(await api?.begin(1)).toBe("two");
  lines.push("2026-01-01T00:00:01.300000000Z three");
  expect(await api?.next()).toBe("three");
  expect(await api?.next()).toBe("");
  expect(asked.at(-1)?.query?.["sinceTime"]).toBe("2026-01-01T00:00:01Z");
});

test("reports a pod that is not running yet once", async () => {
  const [etcd] = await podLogs(hostCluster({}, []), "default", "c1");
  expect(await etcd?.begin(20)).toBe("(container is waiting to start)");
  expect(await etcd?.next()).toBe("");
});
