import { array, boolean, type Infer, integer, map, object, optional, string, time } from "../schema/schema.ts";
import { args, texts } from "./kubeadm-cluster-configuration.ts";

const taint = object(
  {
    key: string({ doc: "Taint key." }),
    value: optional(string({ doc: "Taint value." })),
    effect: string({ doc: "What happens to pods that do not tolerate it." }),
    timeAdded: optional(time({ doc: "When it was added." })),
  },
  { doc: "A taint of the Node." },
);

const nodeRegistration = object(
  {
    name: optional(string({ doc: "Name of the Node; the host name if absent.", minLength: 1, maxLength: 253 })),
    criSocket: optional(string({ doc: "Socket of the container runtime.", minLength: 1, maxLength: 512 })),
    taints: optional(array(taint, { doc: "Taints of the Node; absent: kubeadm's own, empty: none.", maxItems: 100 })),
    kubeletExtraArgs: optional(args("Flags of the kubelet.", "kubeletExtraArgs")),
    ignorePreflightErrors: optional(texts("Preflight checks of kubeadm that may fail.", 50, 512)),
    imagePullPolicy: optional(string({ doc: "When kubeadm pulls images.", enum: ["Always", "IfNotPresent", "Never"] })),
    imagePullSerial: optional(boolean({ doc: "Whether images are pulled one after the other." })),
  },
  { doc: "How the node registers itself.", minProperties: 1 },
);

const endpoint = object(
  {
    advertiseAddress: optional(string({ doc: "Address of this node's API server.", minLength: 1, maxLength: 39 })),
    bindPort: optional(integer({ doc: "Its port.", minimum: 1 })),
  },
  { doc: "Address and port that the API server of this node advertises.", minProperties: 1 },
);

const seconds = (doc: string) => optional(integer({ doc, minimum: 0 }));

/** How long kubeadm waits. */
const timeouts = object(
  {
    controlPlaneComponentHealthCheckSeconds: seconds("For control plane components to be healthy."),
    kubeletHealthCheckSeconds: seconds("For the kubelet to be healthy."),
    kubernetesAPICallSeconds: seconds("For a call to the API."),
    etcdAPICallSeconds: seconds("For a call to etcd."),
    tlsBootstrapSeconds: seconds("For the kubelet to get its certificate."),
    discoverySeconds: seconds("For discovery to succeed."),
  },
  { doc: "How long kubeadm waits for its steps, in seconds.", minProperties: 1 },
);

const shared = {
  nodeRegistration: optional(nodeRegistration),
  skipPhases: optional(texts("Phases of kubeadm to skip.", 50, 256)),
  patches: optional(
    object(
      { directory: optional(string({ doc: "Folder with patches.", minLength: 1, maxLength: 512 })) },
      { doc: "Patches that kubeadm applies to the manifests of the components.", minProperties: 1 },
    ),
  ),
  timeouts: optional(timeouts),
};

const bootstrapToken = object(
  {
    token: string({ doc: "Token in the form id.secret.", pattern: String.raw`^[a-z0-9]{6}\.[a-z0-9]{16}$` }),
    description: optional(string({ doc: "What it is for.", minLength: 1, maxLength: 512 })),
    ttlSeconds: optional(integer({ doc: "How long the token is valid; 0: forever.", minimum: 0 })),
    expires: optional(time({ doc: "When the token expires." })),
    usages: optional(texts("What it may be used for.", 100, 256)),
    groups: optional(texts("Groups of a client that authenticates with it.", 100, 256)),
  },
  { doc: "A token with which nodes join." },
);

/** Schema of kubeadm's InitConfiguration. */
export const initConfiguration = object(
  {
    bootstrapTokens: optional(
      array(bootstrapToken, { doc: "Tokens that kubeadm init creates.", minItems: 1, maxItems: 100 }),
    ),
    ...shared,
    localAPIEndpoint: optional(endpoint),
  },
  { doc: "Settings of the first control plane node.", minProperties: 1 },
);

const tokenDiscovery = object(
  {
    token: optional(string({ doc: "The token; one is created if absent.", minLength: 1, maxLength: 512 })),
    apiServerEndpoint: optional(string({ doc: "host:port; the Cluster's if absent.", minLength: 1, maxLength: 512 })),
    caCertHashes: optional(texts("Pins of the cluster CA; computed if absent.", 100, 512)),
    unsafeSkipCAVerification: optional(boolean({ doc: "Whether to trust any CA." })),
  },
  { doc: "Discovery of the cluster with a bootstrap token.", minProperties: 1 },
);

const kubeConfigUser = object(
  {
    authProvider: optional(
      object(
        {
          name: string({ doc: "Name of the plugin.", minLength: 1, maxLength: 256 }),
          config: optional(map(string(), { doc: "Its settings." })),
        },
        { doc: "Authentication with an auth provider plugin." },
      ),
    ),
    exec: optional(
      object(
        {
          command: string({ doc: "Program to run.", minLength: 1, maxLength: 1024 }),
          args: optional(texts("Its arguments.", 100, 512)),
          env: optional(
            array(
              object(
                {
                  name: string({ doc: "Name of the variable.", minLength: 1, maxLength: 512 }),
                  value: string({ doc: "Its value.", minLength: 1, maxLength: 512 }),
                },
                { doc: "One environment variable of the program." },
              ),
              { doc: "Its environment.", minItems: 1, maxItems: 100 },
            ),
          ),
          apiVersion: optional(
            string({ doc: "Version of the API that the program uses.", minLength: 1, maxLength: 512 }),
          ),
          provideClusterInfo: optional(boolean({ doc: "Whether the program receives the cluster's data." })),
        },
        { doc: "Authentication with a program that prints credentials." },
      ),
    ),
  },
  { doc: "Credentials of the node while it joins: authProvider or exec.", minProperties: 1 },
);

const fileDiscovery = object(
  {
    kubeConfigPath: string({ doc: "Where the kubeconfig is on the node.", minLength: 1, maxLength: 512 }),
    kubeConfig: optional(
      object(
        {
          cluster: optional(
            object(
              {
                server: optional(
                  string({ doc: "URL of the API; the Cluster's if absent.", minLength: 1, maxLength: 512 }),
                ),
                tlsServerName: optional(string({ doc: "Server name to verify.", minLength: 1, maxLength: 512 })),
                insecureSkipTLSVerify: optional(boolean({ doc: "Whether to trust any certificate." })),
                certificateAuthorityData: optional(
                  string({ doc: "CA; the cluster's if absent.", minLength: 1, maxLength: 51200, format: "byte" }),
                ),
                proxyURL: optional(string({ doc: "Proxy to use.", minLength: 1, maxLength: 512 })),
              },
              { doc: "How the API server is reached and verified.", minProperties: 1 },
            ),
          ),
          user: kubeConfigUser,
        },
        { doc: "The kubeconfig that is written to kubeConfigPath; without it the file must exist on the node." },
      ),
    ),
  },
  { doc: "Discovery of the cluster with a kubeconfig file." },
);

/** Schema of kubeadm's JoinConfiguration. */
export const joinConfiguration = object(
  {
    ...shared,
    caCertPath: optional(string({ doc: "Path of the cluster CA on the node.", minLength: 1, maxLength: 512 })),
    discovery: optional(
      object(
        {
          bootstrapToken: optional(tokenDiscovery),
          file: optional(fileDiscovery),
          tlsBootstrapToken: optional(string({ doc: "Token for TLS bootstrap.", minLength: 1, maxLength: 512 })),
        },
        {
          doc: "How a joining node finds and verifies the cluster; by default with a bootstrap token that the controller creates.",
          minProperties: 1,
        },
      ),
    ),
    controlPlane: optional(
      object({ localAPIEndpoint: optional(endpoint) }, { doc: "Settings of a node that joins the control plane." }),
    ),
  },
  { doc: "Settings of a joining node.", minProperties: 1 },
);

/** kubeadm's InitConfiguration: how the first control plane node is set up. */
export type InitConfiguration = Infer<typeof initConfiguration>;
/** kubeadm's JoinConfiguration: how further nodes join the cluster. */
export type JoinConfiguration = Infer<typeof joinConfiguration>;
