import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, NAMESPACE_OPTION } from "../options.ts";

/** The --no-wait and --timeout flags of commands that wait for their effect. */
export const WAIT_OPTIONS = [
  { flags: "--no-wait", summary: "Do not wait for completion" },
  { flags: "--timeout <duration>", summary: "Wait at most this long", default: "30m" },
];

/** Defines `capstan create cluster`, which plans a cluster from flags or questions and creates its objects. */
export const createCluster: CommandDefinition = {
  name: "create cluster",
  summary: "Create a cluster: a control plane, hosted or on machines, and workers of one or several providers",
  details: async () => details(await providerLines()),
  arguments: [{ name: "name", summary: "Name of the cluster", required: false }],
  options: [
    {
      flags: "--kubernetes-version <version>",
      summary: "Kubernetes version (default: the newest installed one)",
    },
    { flags: "--workers <group>", summary: "Group of workers (repeatable)", repeatable: true },
    { flags: "--pool <pool>", summary: "Make the groups members of one WorkerPool with one replica count" },
    {
      flags: "--placement <type>",
      summary: "Where the control plane runs (default: the manager's; Embedded when all workers are in memory)",
      choices: ["Process", "Pods", "Embedded"],
    },
    { flags: "--control-plane <type>", summary: "hosted (default), or kubeadm: on machines" },
    { flags: "--control-plane-replicas <count>", summary: "Number of kube-apiservers of a hosted control plane" },
    { flags: "--control-plane-machines <count>", summary: "Number of control plane machines: 1, 3 or 5 (default: 1)" },
    {
      flags: "--control-plane-provider <provider>",
      summary: "Provider of the control plane machines, as PROVIDER[,select.LABEL=VALUE][,KEY=VALUE]",
    },
    {
      flags: "--endpoint <host:port>",
      summary: "Address of the new cluster's API (default: chosen by the control plane)",
    },
    { flags: "--pod-cidr <cidrs>", summary: "CIDRs of pods", default: "10.244.0.0/16" },
    { flags: "--service-cidr <cidrs>", summary: "CIDRs of Services", default: "10.96.0.0/16" },
    { flags: "--label <key=value>", summary: "Label of the Cluster (repeatable)", repeatable: true },
    {
      flags: "--dry-run [mode]",
      summary: "Print the objects without creating them: client (default), or server, which validates them too",
    },
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
      does: "your own hosts and bare metal in one cluster",
    },
    {
      command:
        "capstan create cluster c1 --pool replicas=4 --workers name=own,provider=byoh,max=2,cost=0.10 --workers name=cloud,provider=memory,cost=0.50",
      does: "your own hosts first, then the other group",
    },
    {
      command:
        "capstan create cluster c1 --control-plane kubeadm --control-plane-machines 3 --control-plane-provider byoh --endpoint 10.0.0.10:6443 --workers provider=byoh,replicas=2",
      does: "a control plane on three of your own hosts, behind a virtual IP",
    },
    {
      command: "capstan create cluster c1 --workers provider=byoh,select.rack=1 --dry-run -o yaml",
      does: "only print the manifests",
    },
  ],
  run: async (input) => (await import("./create-cluster.run.ts")).runCreateCluster(input),
};

/** What --help says below the summary. */
function details(providers: readonly string[]): string {
  return [
    "Each --workers is one group: name=NAME,provider=PROVIDER,replicas=N and the provider's own keys. select.LABEL=VALUE chooses among",
    "hosts. Providers, with their keys:",
    ...providers,
    "",
    "--pool replicas=N,strategy=Cheapest|Ordered|Weighted,name=NAME makes the groups members of one WorkerPool, with one replica count for",
    "all of them. Groups then take min=, max=, cost= and weight= instead of replicas=.",
    "",
    "--control-plane kubeadm puts the control plane on machines of one provider: --control-plane-machines says how many (1, 3 or 5), and",
    "--control-plane-provider where they come from, with the provider's own keys as in --workers. --endpoint is then the address of a load",
    "balancer or virtual IP in front of them; it has to exist before the first machine.",
    "",
    "Refuses to create a cluster whose control plane cannot start because its Kubernetes version is not installed here, or whose groups",
    "request more hosts than are free and match; with --wait-for-capacity, machines wait for hosts.",
    "",
    "Without a name it prompts for the settings, on a terminal. If interrupted, run it again with the same name to continue.",
  ].join("\n");
}

/** The providers of workers with their keys, one on each line. Loaded for help only: they cost as much as the rest of the program. */
async function providerLines(): Promise<string[]> {
  const [{ workerOptions }, { PROVIDERS }] = await Promise.all([
    import("@capstan/capi"),
    import("@capstan/manager/providers"),
  ]);
  return [...workerOptions(PROVIDERS)].map(([name, { settings }]) => {
    const keys = Object.entries(settings).map(([key, { required, usual }]) => {
      const pair = `${key}=${usual ?? ""}`;
      return required === true ? `${pair} (required)` : pair;
    });
    return `- ${[name, ...(keys.length === 0 ? [] : [keys.join(", ")])].join(": ")}`;
  });
}
