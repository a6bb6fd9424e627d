import { clusterNetwork } from "@capstan/controlplane";
import type { EtcdMember } from "@capstan/etcd";
import { expect, test } from "vitest";
import type { ComponentContext } from "./context.ts";
import { ETCD_FILES, etcdArguments } from "./etcd.ts";
import { KUBE_APISERVER_FILES, kubeApiserverArguments } from "./kube-apiserver.ts";
import { KUBE_CONTROLLER_MANAGER_FILES, kubeControllerManagerArguments } from "./kube-controller-manager.ts";
import { KUBE_SCHEDULER_FILES, kubeSchedulerArguments } from "./kube-scheduler.ts";

const member: EtcdMember = {
  name: "etcd-0",
  clientUrl: "https://127.0.0.1:1",
  peerUrl: "https://127.0.0.1:2",
  metricsUrl: "http://127.0.0.1:3",
};
const context: ComponentContext = {
  clusterName: "c1",
  version: "v1.34.4",
  network: clusterNetwork(undefined),
  spec: { version: "v1.34.4", apiServer: { extraArgs: [{ name: "event-ttl", value: "2h" }] } },
  endpoint: { host: "10.89.0.1", port: 6443 },
  bindAddress: "10.89.0.1",
  apiPort: 6443,
  ports: { controllerManager: 4, scheduler: 5 },
  etcd: [member],
};

test.each([
  ["etcd", etcdArguments(context, member), ETCD_FILES],
  ["kube-apiserver", kubeApiserverArguments(context), KUBE_APISERVER_FILES],
  ["kube-controller-manager", kubeControllerManagerArguments(context), KUBE_CONTROLLER_MANAGER_FILES],
  ["kube-scheduler", kubeSchedulerArguments(context), KUBE_SCHEDULER_FILES],
])("%s gets every file that it refers to, and keys only as files", (_name, args, files) => {
  const named = args.flatMap((argument) =>
    [...argument.matchAll(/\$FILES\/([A-Za-z0-9./-]+)/g)].map((match) => match[1]),
  );
  expect(named.filter((file) => !files.includes(file ?? ""))).toEqual([]);
  expect(args.join(" ")).not.toContain("PRIVATE KEY");
});

test("kube-apiserver does not serve the machine's logs", () => {
  expect(kubeApiserverArguments({ ...context, version: "v1.28.1" })).toContain("--enable-logs-handler=false");
  expect(kubeApiserverArguments({ ...context, version: "v1.35.4" }).join()).not.toContain("enable-logs-handler");
});

test("runs a scheduler, and enables the controllers that kubeadm join relies on", () => {
  expect(kubeSchedulerArguments(context)).toContain("--leader-elect=false");
  expect(kubeControllerManagerArguments(context)).toContain("--controllers=*,bootstrapsigner,tokencleaner");
  expect(kubeApiserverArguments(context)).toEqual(
    expect.arrayContaining(["--enable-bootstrap-token-auth=true", "--event-ttl=2h"]),
  );
});

test("a flag without a value does not swallow the next one", () => {
  const extraArgs = [{ name: "external-hostname" }, { name: "authorization-mode", value: "Node,RBAC" }];
  const args = kubeApiserverArguments({ ...context, spec: { version: "v1.34.4", apiServer: { extraArgs } } });
  expect(args.slice(-2)).toEqual(["--external-hostname=true", "--authorization-mode=Node,RBAC"]);
});
