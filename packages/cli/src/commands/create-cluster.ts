import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, NAMESPACE_OPTION } from "../options.ts";

/** The --no-wait and --timeout flags of commands that wait for their effect. */
export const WAIT_OPTIONS = [
  { flags: "--no-wait", summary: "Do not wait for the end" },
  { flags: "--timeout <duration>", summary: "Wait at most this long", default: "30m" },
];

/** Defines `capstan create cluster`, which plans a cluster from flags or questions and creates its objects. */
export const createCluster: CommandDefinition = {
  name: "create cluster",
  summary: "Create a cluster with a hosted control plane and workers of one or several providers",
  details: [
    "Each --workers is one group: name=NAME,provider=PROVIDER,replicas=N and what the provider takes. select.LABEL=VALUE chooses among",
    "hosts. Providers are memory (bootSeconds=), byoh, and metal3 (image= and format=live-iso; checksum=, checksumType=).",
    "",
    "--pool replicas=N,strategy=Cheapest|Ordered|Weighted,name=NAME makes the groups members of one WorkerPool: one count of machines over",
    "all of them. Groups then take min=, max=, cost= and weight= instead of replicas=.",
    "",
    "Nothing is created while the control plane could not start, because its version of Kubernetes is not installed here, or while fewer",
    "hosts are free and match than the groups ask for; --wait-for-capacity lets machines wait for hosts.",
    "",
    "Without a name it asks, on a terminal. Interrupted, it goes on when called again with the same name.",
  ].join("\n"),
  arguments: [{ name: "name", summary: "Name of the cluster", required: false }],
  options: [
    {
      flags: "--kubernetes-version <version>",
      summary: "Version of Kubernetes (default: the newest that is installed)",
    },
    { flags: "--workers <group>", summary: "A group of workers; may be given several times", repeatable: true },
    { flags: "--pool <pool>", summary: "One count of machines over all groups: a WorkerPool" },
    {
      flags: "--placement <type>",
      summary: "Where the control plane runs (default: the manager's; Embedded when all workers are in memory)",
      choices: ["Process", "Pods", "Embedded"],
    },
    { flags: "--control-plane-replicas <count>", summary: "How many kube-apiservers" },
    {
      flags: "--endpoint <host:port>",
      summary: "Address of the new cluster's API (default: chosen by the control plane)",
    },
    { flags: "--pod-cidr <cidrs>", summary: "Addresses of pods", default: "10.244.0.0/16" },
    { flags: "--service-cidr <cidrs>", summary: "Addresses of Services", default: "10.96.0.0/16" },
    { flags: "--label <key=value>", summary: "Label of the Cluster; may be given several times", repeatable: true },
    { flags: "--dry-run [mode]", summary: "Show what would be made: client (default) or server, which checks it too" },
    { flags: "-o, --output <format>", summary: "With --dry-run: yaml, json or name" },
    {
      flags: "--wait-for-capacity",
      summary: "Create the cluster even if too few matching hosts are free; machines wait for them",
    },
    ...WAIT_OPTIONS,
    NAMESPACE_OPTION,
    ...API_OPTIONS,
  ],
  examples: [
    { command: "capstan create cluster c1 --workers provider=memory,replicas=2", does: "in memory, to try things out" },
    {
      command:
        "capstan create cluster c1 --workers name=own,provider=byoh,replicas=2 --workers name=metal,provider=metal3,replicas=2,image=http://images/node.iso,format=live-iso",
      does: "own hosts and bare metal in one cluster",
    },
    {
      command:
        "capstan create cluster c1 --pool replicas=4 --workers name=own,provider=byoh,max=2,cost=0.10 --workers name=cloud,provider=memory,cost=0.50",
      does: "own hosts first, and what does not fit elsewhere",
    },
    {
      command: "capstan create cluster c1 --workers provider=byoh,select.rack=1 --dry-run -o yaml",
      does: "only print the manifests",
    },
  ],
  run: async (input) => (await import("./create-cluster.run.ts")).runCreateCluster(input),
};
