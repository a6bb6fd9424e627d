import { expect, test } from "vitest";
import { clusterNetwork } from "../network.ts";
import type { ComponentContext } from "./context.ts";
import { ETCD_FILES, etcdArguments } from "./etcd.ts";
import { KUBE_APISERVER_FILES, kubeApiserverArguments } from "./kube-apiserver.ts";
import { KUBE_CONTROLLER_MANAGER_FILES, kubeControllerManagerArguments } from "./kube-controller-manager.ts";
import { KUBE_SCHEDULER_FILES, kubeSchedulerArguments } from "./kube-scheduler.ts";

const context: ComponentContext = {
  clusterName: "c1",
  version: "v1.34.4",
  network: clusterNetwork(undefined),
  spec: { version: "v1.34.4", apiServer: { extraArgs: [{ name: "event-ttl", value: "2h" }] } },
  endpoint: { host: "10.89.0.1", port: 6443 },
  bindAddress: "10.89.0.1",
  ports: { api: 6443, etcdClient: 1, etcdPeer: 2, etcdMetrics: 3, controllerManager: 4, scheduler: 5 },
};

test.each([
  ["etcd", etcdArguments(context), ETCD_FILES],
  ["kube-apiserver", kubeApiserverArguments(context), KUBE_APISERVER_FILES],
  ["kube-controller-manager", kubeControllerManagerArguments(context), KUBE_CONTROLLER_MANAGER_FILES],
  ["kube-scheduler", kubeSchedulerArguments(context), KUBE_SCHEDULER_FILES],
])("%s gets every file it names, and no key but by file", (_name, args, files) => {
  const named = args.flatMap((argument) =>
    [...argument.matchAll(/\$FILES\/([A-Za-z0-9./-]+)/g)].map((match) => match[1]),
  );
  expect(named.filter((file) => !files.includes(file ?? ""))).toEqual([]);
  expect(args.join(" ")).not.toContain("PRIVATE KEY");
});

test("there is a scheduler, and the controllers that kubeadm join relies on are on", () => {
  expect(kubeSchedulerArguments(context)).toContain("--leader-elect=false");
  expect(kubeControllerManagerArguments(context)).toContain("--controllers=*,bootstrapsigner,tokencleaner");
  expect(kubeApiserverArguments(context)).toEqual(
    expect.arrayContaining(["--enable-bootstrap-token-auth=true", "--event-ttl=2h"]),
  );
});
