/**
 * Written by tools/record-protobuf from the published types, v0.37.1. Per message: `number name type`; `[]` repeated, `{}` a map with
 * text keys, `?` a Go pointer, `!` written to JSON even when zero; no name: the fields belong to the message around it.
 */
export const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  meta: {
    Condition:
      "1 type string!,2 status string!,3 observedGeneration int,4 lastTransitionTime Time,5 reason string!,6 message string!",
    CreateOptions: "1 dryRun string[],3 fieldManager string,4 fieldValidation string",
    DeleteOptions:
      "1 gracePeriodSeconds int?,2 preconditions Preconditions?,3 orphanDependents bool?,4 propagationPolicy string?,5 dryRun string[],6 ignoreStoreReadErrorWithClusterBreakingPotential bool?",
    FieldSelectorRequirement: "1 key string!,2 operator string!,3 values string[]",
    LabelSelector: "1 matchLabels string{},2 matchExpressions LabelSelectorRequirement[]",
    LabelSelectorRequirement: "1 key string!,2 operator string!,3 values string[]",
    ManagedFieldsEntry:
      "1 manager string,2 operation string,3 apiVersion string,4 time Time?,6 fieldsType string,7 fieldsV1 FieldsV1?,8 subresource string",
    ObjectMeta:
      "1 name string,2 generateName string,3 namespace string,4 selfLink string,5 uid string,6 resourceVersion string,7 generation int,8 creationTimestamp Time,9 deletionTimestamp Time?,10 deletionGracePeriodSeconds int?,11 labels string{},12 annotations string{},13 ownerReferences OwnerReference[],14 finalizers string[],17 managedFields ManagedFieldsEntry[]",
    OwnerReference:
      "5 apiVersion string!,1 kind string!,3 name string!,4 uid string!,6 controller bool?,7 blockOwnerDeletion bool?",
    PatchOptions: "1 dryRun string[],2 force bool?,3 fieldManager string,4 fieldValidation string",
    Preconditions: "1 uid string?,2 resourceVersion string?",
    UpdateOptions: "1 dryRun string[],2 fieldManager string,3 fieldValidation string",
  },
  v1: {
    AWSElasticBlockStoreVolumeSource: "1 volumeID string!,2 fsType string,3 partition int,4 readOnly bool",
    Affinity: "1 nodeAffinity NodeAffinity?,2 podAffinity PodAffinity?,3 podAntiAffinity PodAntiAffinity?",
    AppArmorProfile: "1 type string!,2 localhostProfile string?",
    AttachedVolume: "1 name string!,2 devicePath string!",
    AzureDiskVolumeSource:
      "1 diskName string!,2 diskURI string!,3 cachingMode string?,4 fsType string?,5 readOnly bool?,6 kind string?",
    AzureFilePersistentVolumeSource:
      "1 secretName string!,2 shareName string!,3 readOnly bool,4 secretNamespace string?",
    AzureFileVolumeSource: "1 secretName string!,2 shareName string!,3 readOnly bool",
    Binding: "1 metadata meta:ObjectMeta,2 target ObjectReference",
    CSIPersistentVolumeSource:
      "1 driver string!,2 volumeHandle string!,3 readOnly bool,4 fsType string,5 volumeAttributes string{},6 controllerPublishSecretRef SecretReference?,7 nodeStageSecretRef SecretReference?,8 nodePublishSecretRef SecretReference?,9 controllerExpandSecretRef SecretReference?,10 nodeExpandSecretRef SecretReference?",
    CSIVolumeSource:
      "1 driver string!,2 readOnly bool?,3 fsType string?,4 volumeAttributes string{},5 nodePublishSecretRef LocalObjectReference?",
    Capabilities: "1 add string[],2 drop string[]",
    CephFSPersistentVolumeSource:
      "1 monitors string[],2 path string,3 user string,4 secretFile string,5 secretRef SecretReference?,6 readOnly bool",
    CephFSVolumeSource:
      "1 monitors string[],2 path string,3 user string,4 secretFile string,5 secretRef LocalObjectReference?,6 readOnly bool",
    CinderPersistentVolumeSource: "1 volumeID string!,2 fsType string,3 readOnly bool,4 secretRef SecretReference?",
    CinderVolumeSource: "1 volumeID string!,2 fsType string,3 readOnly bool,4 secretRef LocalObjectReference?",
    ClientIPConfig: "1 timeoutSeconds int?",
    ClusterTrustBundleProjection:
      "1 name string?,2 signerName string?,3 labelSelector meta:LabelSelector?,5 optional bool?,4 path string!,6 user int?",
    ConfigMap: "1 metadata meta:ObjectMeta,4 immutable bool?,2 data string{},3 binaryData bytes{}",
    ConfigMapEnvSource: "1  LocalObjectReference,2 optional bool?",
    ConfigMapKeySelector: "1  LocalObjectReference,2 key string!,3 optional bool?",
    ConfigMapNodeConfigSource:
      "1 namespace string!,2 name string!,3 uid string,4 resourceVersion string,5 kubeletConfigKey string!",
    ConfigMapProjection: "1  LocalObjectReference,2 items KeyToPath[],4 optional bool?",
    ConfigMapVolumeSource:
      "1  LocalObjectReference,2 items KeyToPath[],3 defaultMode int?,4 optional bool?,5 defaultUser int?",
    Container:
      "1 name string!,2 image string,3 command string[],4 args string[],5 workingDir string,6 ports ContainerPort[],19 envFrom EnvFromSource[],7 env EnvVar[],8 resources ResourceRequirements,23 resizePolicy ContainerResizePolicy[],24 restartPolicy string?,25 restartPolicyRules ContainerRestartRule[],9 volumeMounts VolumeMount[],21 volumeDevices VolumeDevice[],10 livenessProbe Probe?,11 readinessProbe Probe?,22 startupProbe Probe?,12 lifecycle Lifecycle?,13 terminationMessagePath string,20 terminationMessagePolicy string,14 imagePullPolicy string,15 securityContext SecurityContext?,16 stdin bool,17 stdinOnce bool,18 tty bool",
    ContainerExtendedResourceRequest: "1 containerName string!,2 resourceName string!,3 requestName string!",
    ContainerImage: "1 names string[],2 sizeBytes int",
    ContainerPort: "1 name string,2 hostPort int,3 containerPort int!,4 protocol string,5 hostIP string",
    ContainerResizePolicy: "1 resourceName string!,2 restartPolicy string!",
    ContainerRestartRule: "1 action string,2 exitCodes ContainerRestartRuleOnExitCodes?",
    ContainerRestartRuleOnExitCodes: "1 operator string,2 values int[]",
    ContainerState:
      "1 waiting ContainerStateWaiting?,2 running ContainerStateRunning?,3 terminated ContainerStateTerminated?",
    ContainerStateRunning: "1 startedAt Time",
    ContainerStateTerminated:
      "1 exitCode int!,2 signal int,3 reason string,4 message string,5 startedAt Time,6 finishedAt Time,7 containerID string",
    ContainerStateWaiting: "1 reason string,2 message string",
    ContainerStatus:
      "1 name string!,2 state ContainerState,3 lastState ContainerState,4 ready bool!,5 restartCount int!,6 image string!,7 imageID string!,8 containerID string,9 started bool?,10 allocatedResources Quantity{},11 resources ResourceRequirements?,12 volumeMounts VolumeMountStatus[],13 user ContainerUser?,14 allocatedResourcesStatus ResourceStatus[],15 stopSignal string?",
    ContainerUser: "1 linux LinuxContainerUser?",
    DaemonEndpoint: "1 Port int!",
    DownwardAPIProjection: "1 items DownwardAPIVolumeFile[]",
    DownwardAPIVolumeFile:
      "1 path string!,2 fieldRef ObjectFieldSelector?,3 resourceFieldRef ResourceFieldSelector?,4 mode int?,5 user int?",
    DownwardAPIVolumeSource: "1 items DownwardAPIVolumeFile[],2 defaultMode int?,3 defaultUser int?",
    EmptyDirVolumeSource: "1 medium string,2 sizeLimit Quantity?,3 mode int?",
    EndpointAddress: "1 ip string!,3 hostname string,4 nodeName string?,2 targetRef ObjectReference?",
    EndpointPort: "1 name string,2 port int!,3 protocol string,4 appProtocol string?",
    EndpointSubset: "1 addresses EndpointAddress[],2 notReadyAddresses EndpointAddress[],3 ports EndpointPort[]",
    Endpoints: "1 metadata meta:ObjectMeta,2 subsets EndpointSubset[]",
    EnvFromSource: "1 prefix string,2 configMapRef ConfigMapEnvSource?,3 secretRef SecretEnvSource?",
    EnvVar: "1 name string!,2 value string,3 valueFrom EnvVarSource?",
    EnvVarSource:
      "1 fieldRef ObjectFieldSelector?,2 resourceFieldRef ResourceFieldSelector?,3 configMapKeyRef ConfigMapKeySelector?,4 secretKeyRef SecretKeySelector?,5 fileKeyRef FileKeySelector?",
    EphemeralContainer: "1  EphemeralContainerCommon,2 targetContainerName string",
    EphemeralContainerCommon:
      "1 name string!,2 image string,3 command string[],4 args string[],5 workingDir string,6 ports ContainerPort[],19 envFrom EnvFromSource[],7 env EnvVar[],8 resources ResourceRequirements,23 resizePolicy ContainerResizePolicy[],24 restartPolicy string?,25 restartPolicyRules ContainerRestartRule[],9 volumeMounts VolumeMount[],21 volumeDevices VolumeDevice[],10 livenessProbe Probe?,11 readinessProbe Probe?,22 startupProbe Probe?,12 lifecycle Lifecycle?,13 terminationMessagePath string,20 terminationMessagePolicy string,14 imagePullPolicy string,15 securityContext SecurityContext?,16 stdin bool,17 stdinOnce bool,18 tty bool",
    EphemeralVolumeSource: "1 volumeClaimTemplate PersistentVolumeClaimTemplate?",
    Event:
      "1 metadata meta:ObjectMeta,2 involvedObject ObjectReference,3 reason string,4 message string,5 source EventSource,6 firstTimestamp Time,7 lastTimestamp Time,8 count int,9 type string,10 eventTime MicroTime,11 series EventSeries?,12 action string,13 related ObjectReference?,14 reportingComponent string!,15 reportingInstance string!",
    EventSeries: "1 count int,2 lastObservedTime MicroTime",
    EventSource: "1 component string,2 host string",
    EvictionResponder: "1 name string!,2 priority int?",
    ExecAction: "1 command string[]",
    FCVolumeSource: "1 targetWWNs string[],2 lun int?,3 fsType string,4 readOnly bool,5 wwids string[]",
    FileKeySelector: "1 volumeName string!,2 path string!,3 key string!,4 optional bool?",
    FlexPersistentVolumeSource:
      "1 driver string!,2 fsType string,3 secretRef SecretReference?,4 readOnly bool,5 options string{}",
    FlexVolumeSource:
      "1 driver string!,2 fsType string,3 secretRef LocalObjectReference?,4 readOnly bool,5 options string{}",
    FlockerVolumeSource: "1 datasetName string,2 datasetUUID string",
    GCEPersistentDiskVolumeSource: "1 pdName string!,2 fsType string,3 partition int,4 readOnly bool",
    GRPCAction: "1 port int!,2 service string?,3 mode string?",
    GitRepoVolumeSource: "1 repository string!,2 revision string,3 directory string",
    GlusterfsPersistentVolumeSource: "1 endpoints string!,2 path string!,3 readOnly bool,4 endpointsNamespace string?",
    GlusterfsVolumeSource: "1 endpoints string!,2 path string!,3 readOnly bool",
    HTTPGetAction:
      "1 path string,2 port IntOrString,3 host string,4 scheme string,5 httpHeaders HTTPHeader[],6 protocol string?",
    HTTPHeader: "1 name string!,2 value string!",
    HostAlias: "1 ip string!,2 hostnames string[]",
    HostIP: "1 ip string!",
    HostPathVolumeSource: "1 path string!,2 type string?",
    ISCSIPersistentVolumeSource:
      "1 targetPortal string!,2 iqn string!,3 lun int!,4 iscsiInterface string,5 fsType string,6 readOnly bool,7 portals string[],8 chapAuthDiscovery bool,11 chapAuthSession bool,10 secretRef SecretReference?,12 initiatorName string?",
    ISCSIVolumeSource:
      "1 targetPortal string!,2 iqn string!,3 lun int!,4 iscsiInterface string,5 fsType string,6 readOnly bool,7 portals string[],8 chapAuthDiscovery bool,11 chapAuthSession bool,10 secretRef LocalObjectReference?,12 initiatorName string?",
    ImageVolumeSource: "1 reference string,2 pullPolicy string",
    ImageVolumeStatus: "1 imageRef string",
    KeyToPath: "1 key string!,2 path string!,3 mode int?,4 user int?",
    Lifecycle: "1 postStart LifecycleHandler?,2 preStop LifecycleHandler?,3 stopSignal string?",
    LifecycleHandler: "1 exec ExecAction?,2 httpGet HTTPGetAction?,3 tcpSocket TCPSocketAction?,4 sleep SleepAction?",
    LinuxContainerUser: "1 uid int!,2 gid int!,3 supplementalGroups int[]",
    LoadBalancerIngress: "1 ip string,2 hostname string,3 ipMode string?,4 ports PortStatus[]",
    LoadBalancerStatus: "1 ingress LoadBalancerIngress[]",
    LocalObjectReference: "1 name string",
    LocalVolumeSource: "1 path string!,2 fsType string?",
    ModifyVolumeStatus: "1 targetVolumeAttributesClassName string,2 status string!",
    NFSVolumeSource: "1 server string!,2 path string!,3 readOnly bool",
    Namespace: "1 metadata meta:ObjectMeta,2 spec NamespaceSpec,3 status NamespaceStatus",
    NamespaceCondition: "1 type string!,2 status string!,4 lastTransitionTime Time,5 reason string,6 message string",
    NamespaceSpec: "1 finalizers string[]",
    NamespaceStatus: "1 phase string,2 conditions NamespaceCondition[]",
    Node: "1 metadata meta:ObjectMeta,2 spec NodeSpec,3 status NodeStatus",
    NodeAddress: "1 type string!,2 address string!",
    NodeAffinity:
      "1 requiredDuringSchedulingIgnoredDuringExecution NodeSelector?,2 preferredDuringSchedulingIgnoredDuringExecution PreferredSchedulingTerm[]",
    NodeAllocatableMappedResources: "1 name string!,2 quantity Quantity?",
    NodeAllocatableOverheadResources: "1 name string!,2 perPod Quantity?,3 perContainer Quantity?",
    NodeAllocatableResourceClaimStatus:
      "1 resourceClaimName string!,2 containers string[],4 mapping NodeAllocatableMappedResources[],5 overhead NodeAllocatableOverheadResources[]",
    NodeCondition:
      "1 type string!,2 status string!,3 lastHeartbeatTime Time,4 lastTransitionTime Time,5 reason string,6 message string",
    NodeConfigSource: "2 configMap ConfigMapNodeConfigSource?",
    NodeConfigStatus:
      "1 assigned NodeConfigSource?,2 active NodeConfigSource?,3 lastKnownGood NodeConfigSource?,4 error string",
    NodeDaemonEndpoints: "1 kubeletEndpoint DaemonEndpoint",
    NodeFeatures: "1 supplementalGroupsPolicy bool?",
    NodePodPreemptionPolicy: "1 disableResizePreemption string[]",
    NodeRuntimeHandler: "1 name string!,2 features NodeRuntimeHandlerFeatures?",
    NodeRuntimeHandlerFeatures: "1 recursiveReadOnlyMounts bool?,2 userNamespaces bool?",
    NodeSelector: "1 nodeSelectorTerms NodeSelectorTerm[]",
    NodeSelectorRequirement: "1 key string!,2 operator string!,3 values string[]",
    NodeSelectorTerm: "1 matchExpressions NodeSelectorRequirement[],2 matchFields NodeSelectorRequirement[]",
    NodeSpec:
      "1 podCIDR string,7 podCIDRs string[],3 providerID string,4 unschedulable bool,5 taints Taint[],6 configSource NodeConfigSource?,2 externalID string,8 podPreemptionPolicy NodePodPreemptionPolicy?",
    NodeStatus:
      "1 capacity Quantity{},2 allocatable Quantity{},3 phase string,4 conditions NodeCondition[],5 addresses NodeAddress[],6 daemonEndpoints NodeDaemonEndpoints,7 nodeInfo NodeSystemInfo,8 images ContainerImage[],9 volumesInUse string[],10 volumesAttached AttachedVolume[],11 config NodeConfigStatus?,12 runtimeHandlers NodeRuntimeHandler[],13 features NodeFeatures?,14 declaredFeatures string[]",
    NodeSwapStatus: "1 capacity int?",
    NodeSystemInfo:
      "1 machineID string!,2 systemUUID string!,3 bootID string!,4 kernelVersion string!,5 osImage string!,6 containerRuntimeVersion string!,7 kubeletVersion string!,8 kubeProxyVersion string!,9 operatingSystem string!,10 architecture string!,11 swap NodeSwapStatus?,12 runningInUserNamespace bool?",
    ObjectFieldSelector: "1 apiVersion string,2 fieldPath string!",
    ObjectReference:
      "1 kind string,2 namespace string,3 name string,4 uid string,5 apiVersion string,6 resourceVersion string,7 fieldPath string",
    PersistentVolume: "1 metadata meta:ObjectMeta,2 spec PersistentVolumeSpec,3 status PersistentVolumeStatus",
    PersistentVolumeClaim:
      "1 metadata meta:ObjectMeta,2 spec PersistentVolumeClaimSpec,3 status PersistentVolumeClaimStatus",
    PersistentVolumeClaimCondition:
      "1 type string!,2 status string!,3 lastProbeTime Time,4 lastTransitionTime Time,5 reason string,6 message string",
    PersistentVolumeClaimSpec:
      "1 accessModes string[],4 selector meta:LabelSelector?,2 resources VolumeResourceRequirements,3 volumeName string,5 storageClassName string?,6 volumeMode string?,7 dataSource TypedLocalObjectReference?,8 dataSourceRef TypedObjectReference?,9 volumeAttributesClassName string?",
    PersistentVolumeClaimStatus:
      "1 phase string,2 accessModes string[],3 capacity Quantity{},4 conditions PersistentVolumeClaimCondition[],5 allocatedResources Quantity{},7 allocatedResourceStatuses string{},8 currentVolumeAttributesClassName string?,9 modifyVolumeStatus ModifyVolumeStatus?,10 healthStatus VolumeHealthStatus?",
    PersistentVolumeClaimTemplate: "1 metadata meta:ObjectMeta,2 spec PersistentVolumeClaimSpec",
    PersistentVolumeClaimVolumeSource: "1 claimName string!,2 readOnly bool",
    PersistentVolumeSource:
      "1 gcePersistentDisk GCEPersistentDiskVolumeSource?,2 awsElasticBlockStore AWSElasticBlockStoreVolumeSource?,3 hostPath HostPathVolumeSource?,4 glusterfs GlusterfsPersistentVolumeSource?,5 nfs NFSVolumeSource?,6 rbd RBDPersistentVolumeSource?,7 iscsi ISCSIPersistentVolumeSource?,8 cinder CinderPersistentVolumeSource?,9 cephfs CephFSPersistentVolumeSource?,10 fc FCVolumeSource?,11 flocker FlockerVolumeSource?,12 flexVolume FlexPersistentVolumeSource?,13 azureFile AzureFilePersistentVolumeSource?,14 vsphereVolume VsphereVirtualDiskVolumeSource?,15 quobyte QuobyteVolumeSource?,16 azureDisk AzureDiskVolumeSource?,17 photonPersistentDisk PhotonPersistentDiskVolumeSource?,18 portworxVolume PortworxVolumeSource?,19 scaleIO ScaleIOPersistentVolumeSource?,20 local LocalVolumeSource?,21 storageos StorageOSPersistentVolumeSource?,22 csi CSIPersistentVolumeSource?",
    PersistentVolumeSpec:
      "1 capacity Quantity{},2  PersistentVolumeSource,3 accessModes string[],4 claimRef ObjectReference?,5 persistentVolumeReclaimPolicy string,6 storageClassName string,7 mountOptions string[],8 volumeMode string?,9 nodeAffinity VolumeNodeAffinity?,10 volumeAttributesClassName string?",
    PersistentVolumeStatus: "1 phase string,2 message string,3 reason string,4 lastPhaseTransitionTime Time?",
    PhotonPersistentDiskVolumeSource: "1 pdID string!,2 fsType string",
    Pod: "1 metadata meta:ObjectMeta,2 spec PodSpec,3 status PodStatus",
    PodAffinity:
      "1 requiredDuringSchedulingIgnoredDuringExecution PodAffinityTerm[],2 preferredDuringSchedulingIgnoredDuringExecution WeightedPodAffinityTerm[]",
    PodAffinityTerm:
      "1 labelSelector meta:LabelSelector?,2 namespaces string[],3 topologyKey string!,4 namespaceSelector meta:LabelSelector?,5 matchLabelKeys string[],6 mismatchLabelKeys string[]",
    PodAntiAffinity:
      "1 requiredDuringSchedulingIgnoredDuringExecution PodAffinityTerm[],2 preferredDuringSchedulingIgnoredDuringExecution WeightedPodAffinityTerm[]",
    PodCertificateProjection:
      "1 signerName string,2 keyType string,3 maxExpirationSeconds int?,4 credentialBundlePath string,5 keyPath string,6 certificateChainPath string,7 userAnnotations string{},8 user int?",
    PodCondition:
      "1 type string!,7 observedGeneration int,2 status string!,3 lastProbeTime Time,4 lastTransitionTime Time,5 reason string,6 message string",
    PodDNSConfig: "1 nameservers string[],2 searches string[],3 options PodDNSConfigOption[]",
    PodDNSConfigOption: "1 name string,2 value string?",
    PodExtendedResourceClaimStatus: "1 requestMappings ContainerExtendedResourceRequest[],2 resourceClaimName string!",
    PodIP: "1 ip string!",
    PodOS: "1 name string!",
    PodReadinessGate: "1 conditionType string!",
    PodResourceClaim: "1 name string!,3 resourceClaimName string?,4 resourceClaimTemplateName string?",
    PodResourceClaimStatus: "1 name string!,2 resourceClaimName string?",
    PodSchedulingGate: "1 name string!",
    PodSchedulingGroup: "1 podGroupName string?",
    PodSecurityContext:
      "1 seLinuxOptions SELinuxOptions?,8 windowsOptions WindowsSecurityContextOptions?,2 runAsUser int?,6 runAsGroup int?,3 runAsNonRoot bool?,4 supplementalGroups int[],12 supplementalGroupsPolicy string?,5 fsGroup int?,7 sysctls Sysctl[],9 fsGroupChangePolicy string?,10 seccompProfile SeccompProfile?,11 appArmorProfile AppArmorProfile?,13 seLinuxChangePolicy string?",
    PodSpec:
      "1 volumes Volume[],20 initContainers Container[],2 containers Container[],34 ephemeralContainers EphemeralContainer[],3 restartPolicy string,4 terminationGracePeriodSeconds int?,5 activeDeadlineSeconds int?,6 dnsPolicy string,7 nodeSelector string{},8 serviceAccountName string,9 serviceAccount string,21 automountServiceAccountToken bool?,10 nodeName string,11 hostNetwork bool,12 hostPID bool,13 hostIPC bool,27 shareProcessNamespace bool?,14 securityContext PodSecurityContext?,15 imagePullSecrets LocalObjectReference[],16 hostname string,17 subdomain string,18 affinity Affinity?,19 schedulerName string,22 tolerations Toleration[],23 hostAliases HostAlias[],24 priorityClassName string,25 priority int?,26 dnsConfig PodDNSConfig?,28 readinessGates PodReadinessGate[],29 runtimeClassName string?,30 enableServiceLinks bool?,31 preemptionPolicy string?,32 overhead Quantity{},33 topologySpreadConstraints TopologySpreadConstraint[],35 setHostnameAsFQDN bool?,36 os PodOS?,37 hostUsers bool?,38 schedulingGates PodSchedulingGate[],39 resourceClaims PodResourceClaim[],40 resources ResourceRequirements?,41 hostnameOverride string?,43 schedulingGroup PodSchedulingGroup?,44 evictionResponders EvictionResponder[]",
    PodStatus:
      "17 observedGeneration int,1 phase string,2 conditions PodCondition[],3 message string,4 reason string,11 nominatedNodeName string,5 hostIP string,16 hostIPs HostIP[],6 podIP string,12 podIPs PodIP[],7 startTime Time?,10 initContainerStatuses ContainerStatus[],8 containerStatuses ContainerStatus[],9 qosClass string,13 ephemeralContainerStatuses ContainerStatus[],14 resize string,15 resourceClaimStatuses PodResourceClaimStatus[],18 extendedResourceClaimStatus PodExtendedResourceClaimStatus?,19 allocatedResources Quantity{},20 resources ResourceRequirements?,21 nodeAllocatableResourceClaimStatuses NodeAllocatableResourceClaimStatus[],22 volumeHealth PodVolumeHealth[]",
    PodTemplate: "1 metadata meta:ObjectMeta,2 template PodTemplateSpec",
    PodTemplateSpec: "1 metadata meta:ObjectMeta,2 spec PodSpec",
    PodVolumeHealth: "1 name string!,2 healthConditions VolumeHealthCondition[],3 lastTransitionTime Time",
    PortStatus: "1 port int!,2 protocol string!,3 error string?",
    PortworxVolumeSource: "1 volumeID string!,2 fsType string,3 readOnly bool",
    PreferredSchedulingTerm: "1 weight int!,2 preference NodeSelectorTerm",
    Probe:
      "1  ProbeHandler,2 initialDelaySeconds int,3 timeoutSeconds int,4 periodSeconds int,5 successThreshold int,6 failureThreshold int,7 terminationGracePeriodSeconds int?",
    ProbeHandler: "1 exec ExecAction?,2 httpGet HTTPGetAction?,3 tcpSocket TCPSocketAction?,4 grpc GRPCAction?",
    ProjectedVolumeSource: "1 sources VolumeProjection[],2 defaultMode int?,3 defaultUser int?",
    QuobyteVolumeSource:
      "1 registry string!,2 volume string!,3 readOnly bool,4 user string,5 group string,6 tenant string",
    RBDPersistentVolumeSource:
      "1 monitors string[],2 image string!,3 fsType string,4 pool string,5 user string,6 keyring string,7 secretRef SecretReference?,8 readOnly bool",
    RBDVolumeSource:
      "1 monitors string[],2 image string!,3 fsType string,4 pool string,5 user string,6 keyring string,7 secretRef LocalObjectReference?,8 readOnly bool",
    ResourceClaim: "1 name string!,2 request string",
    ResourceFieldSelector: "1 containerName string,2 resource string!,3 divisor Quantity",
    ResourceHealth: "1 resourceID string!,2 health string,6 message string?",
    ResourceRequirements: "1 limits Quantity{},2 requests Quantity{},3 claims ResourceClaim[]",
    ResourceStatus: "1 name string!,2 resources ResourceHealth[]",
    SELinuxOptions: "1 user string,2 role string,3 type string,4 level string",
    ScaleIOPersistentVolumeSource:
      "1 gateway string!,2 system string!,3 secretRef SecretReference?,4 sslEnabled bool,5 protectionDomain string,6 storagePool string,7 storageMode string,8 volumeName string,9 fsType string,10 readOnly bool",
    ScaleIOVolumeSource:
      "1 gateway string!,2 system string!,3 secretRef LocalObjectReference?,4 sslEnabled bool,5 protectionDomain string,6 storagePool string,7 storageMode string,8 volumeName string,9 fsType string,10 readOnly bool",
    SeccompProfile: "1 type string!,2 localhostProfile string?",
    Secret: "1 metadata meta:ObjectMeta,5 immutable bool?,2 data bytes{},4 stringData string{},3 type string",
    SecretEnvSource: "1  LocalObjectReference,2 optional bool?",
    SecretKeySelector: "1  LocalObjectReference,2 key string!,3 optional bool?",
    SecretProjection: "1  LocalObjectReference,2 items KeyToPath[],4 optional bool?",
    SecretReference: "1 name string,2 namespace string",
    SecretVolumeSource:
      "1 secretName string,2 items KeyToPath[],3 defaultMode int?,4 optional bool?,5 defaultUser int?",
    SecurityContext:
      "1 capabilities Capabilities?,2 privileged bool?,3 seLinuxOptions SELinuxOptions?,10 windowsOptions WindowsSecurityContextOptions?,4 runAsUser int?,8 runAsGroup int?,5 runAsNonRoot bool?,6 readOnlyRootFilesystem bool?,7 allowPrivilegeEscalation bool?,9 procMount string?,11 seccompProfile SeccompProfile?,12 appArmorProfile AppArmorProfile?",
    Service: "1 metadata meta:ObjectMeta,2 spec ServiceSpec,3 status ServiceStatus",
    ServiceAccount:
      "1 metadata meta:ObjectMeta,2 secrets ObjectReference[],3 imagePullSecrets LocalObjectReference[],4 automountServiceAccountToken bool?",
    ServiceAccountTokenProjection: "1 audience string,2 expirationSeconds int?,3 path string!,4 user int?",
    ServicePort:
      "1 name string,2 protocol string,6 appProtocol string?,3 port int!,4 targetPort IntOrString,5 nodePort int",
    ServiceSpec:
      "1 ports ServicePort[],2 selector string{},3 clusterIP string,18 clusterIPs string[],4 type string,5 externalIPs string[],7 sessionAffinity string,8 loadBalancerIP string,9 loadBalancerSourceRanges string[],10 externalName string,11 externalTrafficPolicy string,12 healthCheckNodePort int,13 publishNotReadyAddresses bool,14 sessionAffinityConfig SessionAffinityConfig?,19 ipFamilies string[],17 ipFamilyPolicy string?,20 allocateLoadBalancerNodePorts bool?,21 loadBalancerClass string?,22 internalTrafficPolicy string?,23 trafficDistribution string?",
    ServiceStatus: "1 loadBalancer LoadBalancerStatus,2 conditions meta:Condition[]",
    SessionAffinityConfig: "1 clientIP ClientIPConfig?",
    SleepAction: "1 seconds int!",
    StorageOSPersistentVolumeSource:
      "1 volumeName string,2 volumeNamespace string,3 fsType string,4 readOnly bool,5 secretRef ObjectReference?",
    StorageOSVolumeSource:
      "1 volumeName string,2 volumeNamespace string,3 fsType string,4 readOnly bool,5 secretRef LocalObjectReference?",
    Sysctl: "1 name string!,2 value string!",
    TCPSocketAction: "1 port IntOrString,2 host string",
    Taint: "1 key string!,2 value string,3 effect string!,4 timeAdded Time?",
    Toleration: "1 key string,2 operator string,3 value string,4 effect string,5 tolerationSeconds int?",
    TopologySelectorLabelRequirement: "1 key string!,2 values string[]",
    TopologySelectorTerm: "1 matchLabelExpressions TopologySelectorLabelRequirement[]",
    TopologySpreadConstraint:
      "1 maxSkew int!,2 topologyKey string!,3 whenUnsatisfiable string!,4 labelSelector meta:LabelSelector?,5 minDomains int?,6 nodeAffinityPolicy string?,7 nodeTaintsPolicy string?,8 matchLabelKeys string[]",
    TypedLocalObjectReference: "1 apiGroup string?,2 kind string!,3 name string!",
    TypedObjectReference: "1 apiGroup string?,2 kind string!,3 name string!,4 namespace string?",
    Volume: "1 name string!,2  VolumeSource",
    VolumeDevice: "1 name string!,2 devicePath string!",
    VolumeHealthCondition: "1 status string!,2 reason string!,3 message string",
    VolumeHealthStatus: "1 healthConditions VolumeHealthCondition[],2 lastTransitionTime Time",
    VolumeMount:
      "1 name string!,2 readOnly bool,7 recursiveReadOnly string?,3 mountPath string!,4 subPath string,5 mountPropagation string?,6 subPathExpr string,8 bindMountOptions string[]",
    VolumeMountStatus:
      "1 name string!,2 mountPath string!,3 readOnly bool,4 recursiveReadOnly string?,5 volumeStatus VolumeStatus?",
    VolumeNodeAffinity: "1 required NodeSelector?",
    VolumeProjection:
      "1 secret SecretProjection?,2 downwardAPI DownwardAPIProjection?,3 configMap ConfigMapProjection?,4 serviceAccountToken ServiceAccountTokenProjection?,5 clusterTrustBundle ClusterTrustBundleProjection?,6 podCertificate PodCertificateProjection?",
    VolumeResourceRequirements: "1 limits Quantity{},2 requests Quantity{}",
    VolumeSource:
      "1 hostPath HostPathVolumeSource?,2 emptyDir EmptyDirVolumeSource?,3 gcePersistentDisk GCEPersistentDiskVolumeSource?,4 awsElasticBlockStore AWSElasticBlockStoreVolumeSource?,5 gitRepo GitRepoVolumeSource?,6 secret SecretVolumeSource?,7 nfs NFSVolumeSource?,8 iscsi ISCSIVolumeSource?,9 glusterfs GlusterfsVolumeSource?,10 persistentVolumeClaim PersistentVolumeClaimVolumeSource?,11 rbd RBDVolumeSource?,12 flexVolume FlexVolumeSource?,13 cinder CinderVolumeSource?,14 cephfs CephFSVolumeSource?,15 flocker FlockerVolumeSource?,16 downwardAPI DownwardAPIVolumeSource?,17 fc FCVolumeSource?,18 azureFile AzureFileVolumeSource?,19 configMap ConfigMapVolumeSource?,20 vsphereVolume VsphereVirtualDiskVolumeSource?,21 quobyte QuobyteVolumeSource?,22 azureDisk AzureDiskVolumeSource?,23 photonPersistentDisk PhotonPersistentDiskVolumeSource?,26 projected ProjectedVolumeSource?,24 portworxVolume PortworxVolumeSource?,25 scaleIO ScaleIOVolumeSource?,27 storageos StorageOSVolumeSource?,28 csi CSIVolumeSource?,29 ephemeral EphemeralVolumeSource?,30 image ImageVolumeSource?",
    VolumeStatus: "1 image ImageVolumeStatus?",
    VsphereVirtualDiskVolumeSource:
      "1 volumePath string!,2 fsType string,3 storagePolicyName string,4 storagePolicyID string",
    WeightedPodAffinityTerm: "1 weight int!,2 podAffinityTerm PodAffinityTerm",
    WindowsSecurityContextOptions:
      "1 gmsaCredentialSpecName string?,2 gmsaCredentialSpec string?,3 runAsUserName string?,4 hostProcess bool?",
  },
  "events.k8s.io/v1": {
    Event:
      "1 metadata meta:ObjectMeta,2 eventTime MicroTime,3 series EventSeries?,4 reportingController string,5 reportingInstance string,6 action string,7 reason string,8 regarding v1:ObjectReference,9 related v1:ObjectReference?,10 note string,11 type string,12 deprecatedSource v1:EventSource,13 deprecatedFirstTimestamp Time,14 deprecatedLastTimestamp Time,15 deprecatedCount int",
    EventSeries: "1 count int!,2 lastObservedTime MicroTime",
  },
  "apps/v1": {
    DaemonSet: "1 metadata meta:ObjectMeta,2 spec DaemonSetSpec,3 status DaemonSetStatus",
    DaemonSetCondition: "1 type string!,2 status string!,3 lastTransitionTime Time,4 reason string,5 message string",
    DaemonSetSpec:
      "1 selector meta:LabelSelector?,2 template v1:PodTemplateSpec,3 updateStrategy DaemonSetUpdateStrategy,4 minReadySeconds int,6 revisionHistoryLimit int?",
    DaemonSetStatus:
      "1 currentNumberScheduled int!,2 numberMisscheduled int!,3 desiredNumberScheduled int!,4 numberReady int!,5 observedGeneration int,6 updatedNumberScheduled int,7 numberAvailable int,8 numberUnavailable int,9 collisionCount int?,10 conditions DaemonSetCondition[]",
    DaemonSetUpdateStrategy: "1 type string,2 rollingUpdate RollingUpdateDaemonSet?",
    Deployment: "1 metadata meta:ObjectMeta,2 spec DeploymentSpec,3 status DeploymentStatus",
    DeploymentCondition:
      "1 type string!,2 status string!,6 lastUpdateTime Time,7 lastTransitionTime Time,4 reason string,5 message string",
    DeploymentSpec:
      "1 replicas int?,2 selector meta:LabelSelector?,3 template v1:PodTemplateSpec,4 strategy DeploymentStrategy,5 minReadySeconds int,6 revisionHistoryLimit int?,7 paused bool,9 progressDeadlineSeconds int?",
    DeploymentStatus:
      "1 observedGeneration int,2 replicas int,3 updatedReplicas int,7 readyReplicas int,4 availableReplicas int,5 unavailableReplicas int,9 terminatingReplicas int?,6 conditions DeploymentCondition[],8 collisionCount int?",
    DeploymentStrategy: "1 type string,2 rollingUpdate RollingUpdateDeployment?",
    ReplicaSet: "1 metadata meta:ObjectMeta,2 spec ReplicaSetSpec,3 status ReplicaSetStatus",
    ReplicaSetCondition: "1 type string!,2 status string!,3 lastTransitionTime Time,4 reason string,5 message string",
    ReplicaSetSpec:
      "1 replicas int?,4 minReadySeconds int,2 selector meta:LabelSelector?,3 template v1:PodTemplateSpec",
    ReplicaSetStatus:
      "1 replicas int!,2 fullyLabeledReplicas int,4 readyReplicas int,5 availableReplicas int,7 terminatingReplicas int?,3 observedGeneration int,6 conditions ReplicaSetCondition[]",
    RollingUpdateDaemonSet: "1 maxUnavailable IntOrString?,2 maxSurge IntOrString?",
    RollingUpdateDeployment: "1 maxUnavailable IntOrString?,2 maxSurge IntOrString?",
    RollingUpdateStatefulSetStrategy: "1 partition int?,2 maxUnavailable IntOrString?",
    StatefulSet: "1 metadata meta:ObjectMeta,2 spec StatefulSetSpec,3 status StatefulSetStatus",
    StatefulSetCondition: "1 type string!,2 status string!,3 lastTransitionTime Time,4 reason string,5 message string",
    StatefulSetOrdinals: "1 start int!",
    StatefulSetPersistentVolumeClaimRetentionPolicy: "1 whenDeleted string,2 whenScaled string",
    StatefulSetSpec:
      "1 replicas int?,2 selector meta:LabelSelector?,3 template v1:PodTemplateSpec,4 volumeClaimTemplates v1:PersistentVolumeClaim[],5 serviceName string!,6 podManagementPolicy string,7 updateStrategy StatefulSetUpdateStrategy,8 revisionHistoryLimit int?,9 minReadySeconds int,10 persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy?,11 ordinals StatefulSetOrdinals?",
    StatefulSetStatus:
      "1 observedGeneration int,2 replicas int!,3 readyReplicas int,4 currentReplicas int,5 updatedReplicas int,6 currentRevision string,7 updateRevision string,9 collisionCount int?,10 conditions StatefulSetCondition[],11 availableReplicas int!",
    StatefulSetUpdateStrategy: "1 type string,2 rollingUpdate RollingUpdateStatefulSetStrategy?",
  },
  "batch/v1": {
    Job: "1 metadata meta:ObjectMeta,2 spec JobSpec,3 status JobStatus",
    JobCondition:
      "1 type string!,2 status string!,3 lastProbeTime Time,4 lastTransitionTime Time,5 reason string,6 message string",
    JobSchedulingConfiguration:
      "1 schedulingPolicy scheduling.k8s.io/v1alpha3:WorkloadPodGroupSchedulingPolicy?,2 schedulingConstraints scheduling.k8s.io/v1alpha3:WorkloadPodGroupSchedulingConstraints?,3 disruptionMode scheduling.k8s.io/v1alpha3:WorkloadPodGroupDisruptionMode?,4 resourceClaims scheduling.k8s.io/v1alpha3:WorkloadPodGroupResourceClaim[]",
    JobSpec:
      "1 parallelism int?,2 completions int?,3 activeDeadlineSeconds int?,11 podFailurePolicy PodFailurePolicy?,16 successPolicy SuccessPolicy?,7 backoffLimit int?,12 backoffLimitPerIndex int?,13 maxFailedIndexes int?,4 selector meta:LabelSelector?,5 manualSelector bool?,6 template v1:PodTemplateSpec,8 ttlSecondsAfterFinished int?,9 completionMode string?,10 suspend bool?,14 podReplacementPolicy string?,15 managedBy string?,17 scheduling JobSchedulingConfiguration?",
    JobStatus:
      "1 conditions JobCondition[],2 startTime Time?,3 completionTime Time?,4 active int,5 succeeded int,6 failed int,11 terminating int?,7 completedIndexes string,10 failedIndexes string?,8 uncountedTerminatedPods UncountedTerminatedPods?,9 ready int?",
    PodFailurePolicy: "1 rules PodFailurePolicyRule[]",
    PodFailurePolicyOnExitCodesRequirement: "1 containerName string?,2 operator string!,3 values int[]",
    PodFailurePolicyOnPodConditionsPattern: "1 type string!,2 status string!",
    PodFailurePolicyRule:
      "1 action string!,2 onExitCodes PodFailurePolicyOnExitCodesRequirement?,3 onPodConditions PodFailurePolicyOnPodConditionsPattern[]",
    SuccessPolicy: "1 rules SuccessPolicyRule[]",
    SuccessPolicyRule: "1 succeededIndexes string?,2 succeededCount int?",
    UncountedTerminatedPods: "1 succeeded string[],2 failed string[]",
  },
  "policy/v1": {
    Eviction: "1 metadata meta:ObjectMeta,2 deleteOptions meta:DeleteOptions?",
    PodDisruptionBudget: "1 metadata meta:ObjectMeta,2 spec PodDisruptionBudgetSpec,3 status PodDisruptionBudgetStatus",
    PodDisruptionBudgetSpec:
      "1 minAvailable IntOrString?,2 selector meta:LabelSelector?,3 maxUnavailable IntOrString?,4 unhealthyPodEvictionPolicy string?",
    PodDisruptionBudgetStatus:
      "1 observedGeneration int,2 disruptedPods Time{},3 disruptionsAllowed int!,4 currentHealthy int!,5 desiredHealthy int!,6 expectedPods int!,7 conditions meta:Condition[]",
  },
  "storage.k8s.io/v1": {
    StorageClass:
      "1 metadata meta:ObjectMeta,2 provisioner string!,3 parameters string{},4 reclaimPolicy string?,5 mountOptions string[],6 allowVolumeExpansion bool?,7 volumeBindingMode string?,8 allowedTopologies v1:TopologySelectorTerm[]",
    VolumeAttachment: "1 metadata meta:ObjectMeta,2 spec VolumeAttachmentSpec,3 status VolumeAttachmentStatus",
    VolumeAttachmentSource: "1 persistentVolumeName string?,2 inlineVolumeSpec v1:PersistentVolumeSpec?",
    VolumeAttachmentSpec: "1 attacher string!,2 source VolumeAttachmentSource,3 nodeName string!",
    VolumeAttachmentStatus:
      "1 attached bool!,2 attachmentMetadata string{},3 attachError VolumeError?,4 detachError VolumeError?",
    VolumeError: "1 time Time,2 message string,3 errorCode int?",
  },
  "scheduling.k8s.io/v1": {
    PriorityClass:
      "1 metadata meta:ObjectMeta,2 value int!,3 globalDefault bool,4 description string,5 preemptionPolicy string?",
  },
  "scheduling.k8s.io/v1alpha3": {
    TopologyConstraint: "1 key string!",
    WorkloadPodGroupAllDisruptionMode: "",
    WorkloadPodGroupBasicSchedulingPolicy: "",
    WorkloadPodGroupDisruptionMode:
      "1 single WorkloadPodGroupSingleDisruptionMode?,2 all WorkloadPodGroupAllDisruptionMode?",
    WorkloadPodGroupGangSchedulingPolicy: "1 minCount int?",
    WorkloadPodGroupResourceClaim: "1 name string!,2 resourceClaimName string?,3 resourceClaimTemplateName string?",
    WorkloadPodGroupSchedulingConstraints: "1 topology TopologyConstraint[]",
    WorkloadPodGroupSchedulingPolicy:
      "1 basic WorkloadPodGroupBasicSchedulingPolicy?,2 gang WorkloadPodGroupGangSchedulingPolicy?",
    WorkloadPodGroupSingleDisruptionMode: "",
  },
  "discovery.k8s.io/v1": {
    Endpoint:
      "1 addresses string[],2 conditions EndpointConditions,3 hostname string?,4 targetRef v1:ObjectReference?,5 deprecatedTopology string{},6 nodeName string?,7 zone string?,8 hints EndpointHints?",
    EndpointConditions: "1 ready bool?,2 serving bool?,3 terminating bool?",
    EndpointHints: "1 forZones ForZone[],2 forNodes ForNode[]",
    EndpointPort: "1 name string?,2 protocol string?,3 port int?,4 appProtocol string?",
    EndpointSlice: "1 metadata meta:ObjectMeta,4 addressType string!,2 endpoints Endpoint[],3 ports EndpointPort[]",
    ForNode: "1 name string!",
    ForZone: "1 name string!",
  },
  "coordination.k8s.io/v1": {
    Lease: "1 metadata meta:ObjectMeta,2 spec LeaseSpec",
    LeaseSpec:
      "1 holderIdentity string?,2 leaseDurationSeconds int?,3 acquireTime MicroTime?,4 renewTime MicroTime?,5 leaseTransitions int?,6 strategy string?,7 preferredHolder string?",
  },
  "rbac.authorization.k8s.io/v1": {
    AggregationRule: "1 clusterRoleSelectors meta:LabelSelector[]",
    ClusterRole: "1 metadata meta:ObjectMeta,2 rules PolicyRule[],3 aggregationRule AggregationRule?",
    ClusterRoleBinding: "1 metadata meta:ObjectMeta,2 subjects Subject[],3 roleRef RoleRef",
    PolicyRule:
      "1 verbs string[],2 apiGroups string[],3 resources string[],4 resourceNames string[],5 nonResourceURLs string[]",
    Role: "1 metadata meta:ObjectMeta,2 rules PolicyRule[]",
    RoleBinding: "1 metadata meta:ObjectMeta,2 subjects Subject[],3 roleRef RoleRef",
    RoleRef: "1 apiGroup string!,2 kind string!,3 name string!",
    Subject: "1 kind string!,2 apiGroup string,3 name string!,4 namespace string",
  },
  "certificates.k8s.io/v1": {
    CertificateSigningRequest:
      "1 metadata meta:ObjectMeta,2 spec CertificateSigningRequestSpec,3 status CertificateSigningRequestStatus",
    CertificateSigningRequestCondition:
      "1 type string!,6 status string!,2 reason string,3 message string,4 lastUpdateTime Time,5 lastTransitionTime Time",
    CertificateSigningRequestSpec:
      "1 request bytes,7 signerName string!,8 expirationSeconds int?,5 usages string[],2 username string,3 uid string,4 groups string[],6 extra ExtraValue{}",
    CertificateSigningRequestStatus: "1 conditions CertificateSigningRequestCondition[],2 certificate bytes",
  },
  "admissionregistration.k8s.io/v1": {
    MatchCondition: "1 name string!,2 expression string!",
    MutatingWebhook:
      "1 name string!,2 clientConfig WebhookClientConfig,3 rules RuleWithOperations[],4 failurePolicy string?,9 matchPolicy string?,5 namespaceSelector meta:LabelSelector?,11 objectSelector meta:LabelSelector?,6 sideEffects string?,7 timeoutSeconds int?,8 admissionReviewVersions string[],10 reinvocationPolicy string?,12 matchConditions MatchCondition[]",
    MutatingWebhookConfiguration: "1 metadata meta:ObjectMeta,2 webhooks MutatingWebhook[]",
    Rule: "1 apiGroups string[],2 apiVersions string[],3 resources string[],4 scope string?",
    RuleWithOperations: "1 operations string[],2  Rule",
    ServiceReference: "1 namespace string!,2 name string!,3 path string?,4 port int?",
    ValidatingWebhook:
      "1 name string!,2 clientConfig WebhookClientConfig,3 rules RuleWithOperations[],4 failurePolicy string?,9 matchPolicy string?,5 namespaceSelector meta:LabelSelector?,10 objectSelector meta:LabelSelector?,6 sideEffects string?,7 timeoutSeconds int?,8 admissionReviewVersions string[],11 matchConditions MatchCondition[]",
    ValidatingWebhookConfiguration: "1 metadata meta:ObjectMeta,2 webhooks ValidatingWebhook[]",
    WebhookClientConfig: "3 url string?,1 service ServiceReference?,2 caBundle bytes",
  },
  "apiregistration.k8s.io/v1": {
    APIService: "1 metadata meta:ObjectMeta,2 spec APIServiceSpec,3 status APIServiceStatus",
    APIServiceCondition: "1 type string!,2 status string!,3 lastTransitionTime Time,4 reason string,5 message string",
    APIServiceSpec:
      "1 service ServiceReference?,2 group string,3 version string,4 insecureSkipTLSVerify bool,5 caBundle bytes,7 groupPriorityMinimum int!,8 versionPriority int!",
    APIServiceStatus: "1 conditions APIServiceCondition[]",
    ServiceReference: "1 namespace string,2 name string,3 port int?",
  },
  "apiextensions.k8s.io/v1": {
    CustomResourceColumnDefinition:
      "1 name string!,2 type string!,3 format string,4 description string,5 priority int,6 jsonPath string!",
    CustomResourceConversion: "1 strategy string!,2 webhook WebhookConversion?",
    CustomResourceDefinition:
      "1 metadata meta:ObjectMeta,2 spec CustomResourceDefinitionSpec,3 status CustomResourceDefinitionStatus",
    CustomResourceDefinitionCondition:
      "1 type string!,2 status string!,3 lastTransitionTime Time,4 reason string,5 message string,6 observedGeneration int",
    CustomResourceDefinitionNames:
      "1 plural string!,2 singular string,3 shortNames string[],4 kind string!,5 listKind string,6 categories string[]",
    CustomResourceDefinitionSpec:
      "1 group string!,3 names CustomResourceDefinitionNames,4 scope string!,7 versions CustomResourceDefinitionVersion[],9 conversion CustomResourceConversion?,10 preserveUnknownFields bool",
    CustomResourceDefinitionStatus:
      "1 conditions CustomResourceDefinitionCondition[],2 acceptedNames CustomResourceDefinitionNames,3 storedVersions string[],4 observedGeneration int",
    CustomResourceDefinitionVersion:
      "1 name string!,2 served bool!,3 storage bool!,7 deprecated bool,8 deprecationWarning string?,4 schema CustomResourceValidation?,5 subresources CustomResourceSubresources?,6 additionalPrinterColumns CustomResourceColumnDefinition[],9 selectableFields SelectableField[]",
    CustomResourceSubresourceScale:
      "1 specReplicasPath string!,2 statusReplicasPath string!,3 labelSelectorPath string?",
    CustomResourceSubresourceStatus: "",
    CustomResourceSubresources: "1 status CustomResourceSubresourceStatus?,2 scale CustomResourceSubresourceScale?",
    CustomResourceValidation: "1 openAPIV3Schema JSONSchemaProps?",
    ExternalDocumentation: "1 description string,2 url string",
    JSONSchemaProps:
      "1 id string,2 $schema string,3 $ref string?,4 description string,5 type string,6 format string,7 title string,8 default JSON?,9 maximum double?,10 exclusiveMaximum bool,11 minimum double?,12 exclusiveMinimum bool,13 maxLength int?,14 minLength int?,15 pattern string,16 maxItems int?,17 minItems int?,18 uniqueItems bool,19 multipleOf double?,20 enum JSON[],21 maxProperties int?,22 minProperties int?,23 required string[],24 items JSONSchemaPropsOrArray?,25 allOf JSONSchemaProps[],26 oneOf JSONSchemaProps[],27 anyOf JSONSchemaProps[],28 not JSONSchemaProps?,29 properties JSONSchemaProps{},30 additionalProperties JSONSchemaPropsOrBool?,31 patternProperties JSONSchemaProps{},32 dependencies JSONSchemaPropsOrStringArray{},33 additionalItems JSONSchemaPropsOrBool?,34 definitions JSONSchemaProps{},35 externalDocs ExternalDocumentation?,36 example JSON?,37 nullable bool,38 x-kubernetes-preserve-unknown-fields bool?,39 x-kubernetes-embedded-resource bool,40 x-kubernetes-int-or-string bool,41 x-kubernetes-list-map-keys string[],42 x-kubernetes-list-type string?,43 x-kubernetes-map-type string?,44 x-kubernetes-validations ValidationRule[]",
    SelectableField: "1 jsonPath string!",
    ServiceReference: "1 namespace string!,2 name string!,3 path string?,4 port int?",
    ValidationRule:
      "1 rule string!,2 message string,3 messageExpression string,4 reason string?,5 fieldPath string,6 optionalOldSelf bool?",
    WebhookClientConfig: "3 url string?,1 service ServiceReference?,2 caBundle bytes",
    WebhookConversion: "2 clientConfig WebhookClientConfig?,3 conversionReviewVersions string[]",
  },
  "authentication.k8s.io/v1": {
    BoundObjectReference: "1 kind string,2 apiVersion string,3 name string,4 uid string",
    SelfSubjectReview: "1 metadata meta:ObjectMeta,2 status SelfSubjectReviewStatus",
    SelfSubjectReviewStatus: "1 userInfo UserInfo",
    TokenRequest: "1 metadata meta:ObjectMeta,2 spec TokenRequestSpec,3 status TokenRequestStatus",
    TokenRequestSpec:
      "1 audiences string[],4 expirationSeconds int?,3 boundObjectRef BoundObjectReference?,5 attestations AttestationValue{}",
    TokenRequestStatus: "1 token string!,2 expirationTimestamp Time",
    TokenReview: "1 metadata meta:ObjectMeta,2 spec TokenReviewSpec,3 status TokenReviewStatus",
    TokenReviewSpec: "1 token string,2 audiences string[]",
    TokenReviewStatus: "1 authenticated bool,2 user UserInfo,4 audiences string[],3 error string",
    UserInfo: "1 username string,2 uid string,3 groups string[],4 extra ExtraValue{}",
  },
  "authorization.k8s.io/v1": {
    FieldSelectorAttributes: "1 rawSelector string,2 requirements meta:FieldSelectorRequirement[]",
    LabelSelectorAttributes: "1 rawSelector string,2 requirements meta:LabelSelectorRequirement[]",
    LocalSubjectAccessReview:
      "1 metadata meta:ObjectMeta,2 spec SubjectAccessReviewSpec,3 status SubjectAccessReviewStatus",
    NonResourceAttributes: "1 path string,2 verb string",
    NonResourceRule: "1 verbs string[],2 nonResourceURLs string[]",
    ResourceAttributes:
      "1 namespace string,2 verb string,3 group string,4 version string,5 resource string,6 subresource string,7 name string,8 fieldSelector FieldSelectorAttributes?,9 labelSelector LabelSelectorAttributes?",
    ResourceRule: "1 verbs string[],2 apiGroups string[],3 resources string[],4 resourceNames string[]",
    SelfSubjectAccessReview:
      "1 metadata meta:ObjectMeta,2 spec SelfSubjectAccessReviewSpec,3 status SubjectAccessReviewStatus",
    SelfSubjectAccessReviewSpec:
      "1 resourceAttributes ResourceAttributes?,2 nonResourceAttributes NonResourceAttributes?",
    SelfSubjectRulesReview:
      "1 metadata meta:ObjectMeta,2 spec SelfSubjectRulesReviewSpec,3 status SubjectRulesReviewStatus",
    SelfSubjectRulesReviewSpec: "1 namespace string",
    SubjectAccessReview: "1 metadata meta:ObjectMeta,2 spec SubjectAccessReviewSpec,3 status SubjectAccessReviewStatus",
    SubjectAccessReviewSpec:
      "1 resourceAttributes ResourceAttributes?,2 nonResourceAttributes NonResourceAttributes?,3 user string,4 groups string[],5 extra ExtraValue{},6 uid string",
    SubjectAccessReviewStatus: "1 allowed bool!,4 denied bool,2 reason string,3 evaluationError string",
    SubjectRulesReviewStatus:
      "1 resourceRules ResourceRule[],2 nonResourceRules NonResourceRule[],3 incomplete bool!,4 evaluationError string",
  },
  "autoscaling/v1": {
    CrossVersionObjectReference: "1 kind string!,2 name string!,3 apiVersion string",
    HorizontalPodAutoscaler:
      "1 metadata meta:ObjectMeta,2 spec HorizontalPodAutoscalerSpec,3 status HorizontalPodAutoscalerStatus",
    HorizontalPodAutoscalerSpec:
      "1 scaleTargetRef CrossVersionObjectReference,2 minReplicas int?,3 maxReplicas int!,4 targetCPUUtilizationPercentage int?",
    HorizontalPodAutoscalerStatus:
      "1 observedGeneration int?,2 lastScaleTime Time?,3 currentReplicas int!,4 desiredReplicas int!,5 currentCPUUtilizationPercentage int?",
    Scale: "1 metadata meta:ObjectMeta,2 spec ScaleSpec,3 status ScaleStatus",
    ScaleSpec: "1 replicas int",
    ScaleStatus: "1 replicas int!,2 selector string",
  },
  "autoscaling/v2": {
    ContainerResourceMetricSource: "1 name string!,2 target MetricTarget,3 container string!",
    ContainerResourceMetricStatus: "1 name string!,2 current MetricValueStatus,3 container string!",
    CrossVersionObjectReference: "1 kind string!,2 name string!,3 apiVersion string",
    ExternalMetricSource: "1 metric MetricIdentifier,2 target MetricTarget",
    ExternalMetricStatus: "1 metric MetricIdentifier,2 current MetricValueStatus",
    HPAScalingPolicy: "1 type string!,2 value int!,3 periodSeconds int!",
    HPAScalingRules:
      "3 stabilizationWindowSeconds int?,1 selectPolicy string?,2 policies HPAScalingPolicy[],4 tolerance Quantity?",
    HorizontalPodAutoscaler:
      "1 metadata meta:ObjectMeta,2 spec HorizontalPodAutoscalerSpec,3 status HorizontalPodAutoscalerStatus",
    HorizontalPodAutoscalerBehavior: "1 scaleUp HPAScalingRules?,2 scaleDown HPAScalingRules?",
    HorizontalPodAutoscalerCondition:
      "1 type string!,2 status string!,3 lastTransitionTime Time,4 reason string,5 message string,6 observedGeneration int?",
    HorizontalPodAutoscalerSpec:
      "1 scaleTargetRef CrossVersionObjectReference,2 minReplicas int?,3 maxReplicas int!,4 metrics MetricSpec[],5 behavior HorizontalPodAutoscalerBehavior?",
    HorizontalPodAutoscalerStatus:
      "1 observedGeneration int?,2 lastScaleTime Time?,3 currentReplicas int,4 desiredReplicas int!,5 currentMetrics MetricStatus[],6 conditions HorizontalPodAutoscalerCondition[]",
    MetricIdentifier: "1 name string!,2 selector meta:LabelSelector?",
    MetricSpec:
      "1 type string!,2 object ObjectMetricSource?,3 pods PodsMetricSource?,4 resource ResourceMetricSource?,7 containerResource ContainerResourceMetricSource?,5 external ExternalMetricSource?",
    MetricStatus:
      "1 type string!,2 object ObjectMetricStatus?,3 pods PodsMetricStatus?,4 resource ResourceMetricStatus?,7 containerResource ContainerResourceMetricStatus?,5 external ExternalMetricStatus?",
    MetricTarget: "1 type string!,2 value Quantity?,3 averageValue Quantity?,4 averageUtilization int?",
    MetricValueStatus: "1 value Quantity?,2 averageValue Quantity?,3 averageUtilization int?",
    ObjectMetricSource: "1 describedObject CrossVersionObjectReference,2 target MetricTarget,3 metric MetricIdentifier",
    ObjectMetricStatus:
      "1 metric MetricIdentifier,2 current MetricValueStatus,3 describedObject CrossVersionObjectReference",
    PodsMetricSource: "1 metric MetricIdentifier,2 target MetricTarget",
    PodsMetricStatus: "1 metric MetricIdentifier,2 current MetricValueStatus",
    ResourceMetricSource: "1 name string!,2 target MetricTarget",
    ResourceMetricStatus: "1 name string!,2 current MetricValueStatus",
  },
};
