/** The quick start of cluster-api-provider-kubernetes, with its variables; control plane and workers are pods. */
function quickStart(controllerStorage: string, ignored: readonly string[]): string {
  return `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: \${CLUSTER_NAME}
  namespace: \${NAMESPACE}
spec:
  clusterNetwork:
    services:
      cidrBlocks: \${SERVICE_CIDR:=["10.128.0.0/12"]}
    pods:
      cidrBlocks: \${POD_CIDR:=["192.168.0.0/16"]}
    serviceDomain: \${SERVICE_DOMAIN:=cluster.local}
  infrastructureRef:
    apiGroup: infrastructure.cluster.x-k8s.io
    kind: KubernetesCluster
    name: \${CLUSTER_NAME}
  controlPlaneRef:
    apiGroup: controlplane.cluster.x-k8s.io
    kind: KubeadmControlPlane
    name: \${CLUSTER_NAME}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: KubernetesCluster
metadata:
  name: \${CLUSTER_NAME}
  namespace: \${NAMESPACE}
spec:
  controlPlaneService:
    type: \${KUBERNETES_CONTROL_PLANE_SERVICE_TYPE:=ClusterIP}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: KubernetesMachineTemplate
metadata:
  name: \${CLUSTER_NAME}-controller
  namespace: \${NAMESPACE}
spec:
  template:
    spec:
      resources:
        requests:
          cpu: \${KUBERNETES_CONTROLLER_MACHINE_CPU_REQUEST:=0}
          memory: \${KUBERNETES_CONTROLLER_MACHINE_MEMORY_REQUEST:=0}
${controllerStorage}---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata:
  name: \${CLUSTER_NAME}
  namespace: \${NAMESPACE}
spec:
  replicas: \${CONTROL_PLANE_MACHINE_COUNT}
  version: \${KUBERNETES_VERSION}
  machineTemplate:
    spec:
      infrastructureRef:
        apiGroup: infrastructure.cluster.x-k8s.io
        kind: KubernetesMachineTemplate
        name: \${CLUSTER_NAME}-controller
  kubeadmConfigSpec:
    clusterConfiguration:
      apiServer:
        certSANs:
        - localhost
        - 127.0.0.1
        - \${CLUSTER_NAME}-api-server
        - \${CLUSTER_NAME}-api-server.\${NAMESPACE}
        - \${CLUSTER_NAME}-api-server.\${NAMESPACE}.svc
    initConfiguration:
      nodeRegistration:
        ignorePreflightErrors: [${ignored.join(", ")}]
    joinConfiguration:
      nodeRegistration:
        ignorePreflightErrors: [${ignored.join(", ")}]
    postKubeadmCommands:
    # The limit of the outer node's connection table cannot be set from a pod, and kube-proxy must not try.
    - |-
      if [ -e /run/kubeadm/kubeadm.yaml ]; then
        export KUBECONFIG=/etc/kubernetes/admin.conf
        kubectl -n kube-system get configmap kube-proxy -o yaml | sed 's/maxPerCore: null/maxPerCore: 0/' | kubectl apply -f -
      fi
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: KubernetesMachineTemplate
metadata:
  name: \${CLUSTER_NAME}-worker
  namespace: \${NAMESPACE}
spec:
  template:
    spec:
      resources:
        requests:
          cpu: \${KUBERNETES_WORKER_MACHINE_CPU_REQUEST:=0}
          memory: \${KUBERNETES_WORKER_MACHINE_MEMORY_REQUEST:=0}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata:
  name: \${CLUSTER_NAME}
  namespace: \${NAMESPACE}
spec:
  template:
    spec:
      joinConfiguration:
        nodeRegistration:
          ignorePreflightErrors: [${IGNORED.join(", ")}]
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata:
  name: \${CLUSTER_NAME}
  namespace: \${NAMESPACE}
spec:
  clusterName: \${CLUSTER_NAME}
  replicas: \${WORKER_MACHINE_COUNT}
  selector:
    matchLabels: {}
  template:
    spec:
      clusterName: \${CLUSTER_NAME}
      version: \${KUBERNETES_VERSION}
      bootstrap:
        configRef:
          apiGroup: bootstrap.cluster.x-k8s.io
          kind: KubeadmConfigTemplate
          name: \${CLUSTER_NAME}
      infrastructureRef:
        apiGroup: infrastructure.cluster.x-k8s.io
        kind: KubernetesMachineTemplate
        name: \${CLUSTER_NAME}-worker
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata:
  name: \${CLUSTER_NAME}
  namespace: \${NAMESPACE}
spec:
  clusterName: \${CLUSTER_NAME}
  selector:
    matchLabels:
      cluster.x-k8s.io/cluster-name: \${CLUSTER_NAME}
  checks:
    nodeStartupTimeoutSeconds: 600
    unhealthyNodeConditions:
    - {type: Ready, status: Unknown, timeoutSeconds: 120}
    - {type: Ready, status: "False", timeoutSeconds: 120}
`;
}

/** What a kernel and the limits of a container make kubeadm complain about. */
const IGNORED = ["SystemVerification", "Swap", "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables"];

const ETCD_CLAIM = `      recreationPolicy: Always
      volumeClaimTemplates:
      - metadata:
          name: var-lib-etcd
        spec:
          accessModes: [ReadWriteOnce]
          storageClassName: \${ETCD_STORAGE_CLASS_NAME}
          resources:
            requests:
              storage: \${ETCD_STORAGE_SIZE}
`;

/** Templates of clusters by flavor, as cluster-api-provider-kubernetes offers them. */
export const QUICK_START: Readonly<Record<string, string>> = {
  default: quickStart("", IGNORED),
  // A pod that is created again initializes over the data that is there.
  "persistent-control-plane": quickStart(ETCD_CLAIM, [...IGNORED, "DirAvailable--var-lib-etcd"]),
};
