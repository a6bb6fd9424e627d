/** What users do with pools of in-cluster IPAM, right and wrong, as data. */
const GROUP = "ipam.cluster.x-k8s.io";
const SKIP = "ipam.cluster.x-k8s.io/skip-validate-delete-webhook";
const PAUSED = "cluster.x-k8s.io/paused";
const CLUSTER_NAME = "cluster.x-k8s.io/cluster-name";

const object = (apiVersion, kind, name, spec, metadata = {}) => ({
  apiVersion,
  kind,
  metadata: { name, ...metadata },
  ...(spec === undefined ? {} : { spec }),
});
const pool = (spec, metadata, kind = "InClusterIPPool") => object(`${GROUP}/v1alpha2`, kind, "p", spec, metadata);
const prefixPool = (spec, metadata) => pool(spec, metadata, "InClusterPrefixPool");
const oldPool = (spec, kind = "InClusterIPPool") => object(`${GROUP}/v1alpha1`, kind, "p", spec);
const claim = (name, { kind = "InClusterIPPool", metadata, spec } = {}) =>
  object(
    `${GROUP}/v1beta2`,
    "IPAddressClaim",
    name,
    { poolRef: { apiGroup: GROUP, kind, name: "p" }, ...spec },
    metadata,
  );
const address = (name, text, { poolName = "p", prefix = 24 } = {}) =>
  object(`${GROUP}/v1beta2`, "IPAddress", name, {
    claimRef: { name },
    poolRef: { apiGroup: GROUP, kind: "InClusterIPPool", name: poolName },
    address: text,
    prefix,
  });
const cluster = (spec = {}) =>
  object("cluster.x-k8s.io/v1beta2", "Cluster", "c", {
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "FooCluster", name: "x" },
    ...spec,
  });

const create = (given) => ({ create: given });
const remove = (given) => ({ remove: given });
const change = (given, patch) => ({ change: given, patch });
const claims = (names, options) => names.map((name) => create(claim(name, options)));
const FEW = { addresses: ["10.0.0.10-10.0.0.11"], prefix: 24 };
const annotated = (key, value = "") => ({ metadata: { annotations: { [key]: value } } });

/** Pools that are created and looked at: those that are refused, and what others count. */
const POOLS = {
  "one address": { addresses: ["10.0.0.5"], prefix: 24 },
  "no addresses": { addresses: [], prefix: 24 },
  "without addresses": { prefix: 24 },
  "without a prefix": { addresses: ["10.0.0.5"] },
  "an address that is none": { addresses: ["10.0.0.256"], prefix: 24 },
  "an address with leading zeros": { addresses: ["10.0.0.05"], prefix: 24 },
  "an empty address": { addresses: [""], prefix: 24 },
  "a range backwards": { addresses: ["10.0.0.9-10.0.0.5"], prefix: 24 },
  "a range of one": { addresses: ["10.0.0.9-10.0.0.9"], prefix: 24 },
  "a range with blanks": { addresses: ["10.0.0.5 - 10.0.0.9"], prefix: 24 },
  "a range of two families": { addresses: ["10.0.0.5-fd00::1"], prefix: 24 },
  "a range of three": { addresses: ["10.0.0.5-10.0.0.6-10.0.0.7"], prefix: 24 },
  "a CIDR": { addresses: ["10.0.0.0/28"], prefix: 24 },
  "a CIDR with bits behind its length": { addresses: ["10.0.0.5/28"], prefix: 24 },
  "a CIDR too long": { addresses: ["10.0.0.0/33"], prefix: 24 },
  "overlapping addresses": { addresses: ["10.0.0.0/29", "10.0.0.4-10.0.0.12", "10.0.0.6"], prefix: 24 },
  "two families": { addresses: ["10.0.0.5", "fd00::1"], prefix: 24 },
  "addresses beyond the prefix": { addresses: ["10.0.0.5", "10.0.1.5"], prefix: 24 },
  "a prefix too long": { addresses: ["10.0.0.5"], prefix: 33 },
  "a prefix beyond all": { addresses: ["10.0.0.5"], prefix: 129 },
  "a negative prefix": { addresses: ["10.0.0.5"], prefix: -1 },
  "the whole of IPv4": { addresses: ["0.0.0.0/0"], prefix: 0 },
  "a gateway inside": { addresses: ["10.0.0.1-10.0.0.5"], prefix: 24, gateway: "10.0.0.1" },
  "a gateway outside": { addresses: ["10.0.0.1-10.0.0.5"], prefix: 24, gateway: "10.9.0.1" },
  "a gateway that is none": { addresses: ["10.0.0.5"], prefix: 24, gateway: "router" },
  "an empty gateway": { addresses: ["10.0.0.5"], prefix: 24, gateway: "" },
  "a gateway of another family": { addresses: ["10.0.0.5"], prefix: 24, gateway: "fd00::1" },
  "reserved addresses kept": { addresses: ["10.0.0.0/29"], prefix: 29 },
  "reserved addresses given": { addresses: ["10.0.0.0/29"], prefix: 29, allocateReservedIPAddresses: true },
  "a network of one": { addresses: ["10.0.0.5"], prefix: 32 },
  "a network of one, given": { addresses: ["10.0.0.5"], prefix: 32, allocateReservedIPAddresses: true },
  "a network of two": { addresses: ["10.0.0.4/31"], prefix: 31 },
  exclusions: { addresses: ["10.0.0.0/28"], prefix: 24, excludedAddresses: ["10.0.0.3", "10.0.0.8/30"] },
  "everything excluded": { addresses: ["10.0.0.5"], prefix: 24, excludedAddresses: ["10.0.0.0/24"] },
  "an exclusion that is none": { addresses: ["10.0.0.5"], prefix: 24, excludedAddresses: ["x"] },
  "an exclusion of another family": { addresses: ["10.0.0.5"], prefix: 24, excludedAddresses: ["fd00::/64"] },
  "exclusions of two families": { addresses: ["10.0.0.5"], prefix: 24, excludedAddresses: ["10.0.0.6", "fd00::/64"] },
  "a negative grace period": { addresses: ["10.0.0.5"], prefix: 24, addressReuseGracePeriodSeconds: -1 },
  IPv6: { addresses: ["fd00::/120"], prefix: 120 },
  "IPv6 with reserved addresses": { addresses: ["fd00::/120"], prefix: 120, allocateReservedIPAddresses: true },
  "more IPv6 than can be counted": { addresses: ["fd00::/32"], prefix: 32 },
  "an address with a zone": { addresses: ["fe80::1%eth0"], prefix: 64 },
  "an address of IPv4 written as IPv6": { addresses: ["::ffff:10.0.0.5"], prefix: 120 },
};

const PREFIX_POOLS = {
  "one prefix": { prefixes: ["fd00::/62"] },
  "no prefixes": { prefixes: [] },
  "without prefixes": {},
  "a length of its own": { prefixes: ["fd00::/48"], allocationPrefixLength: 56 },
  "a length of zero": { prefixes: ["fd00::/62"], allocationPrefixLength: 0 },
  "a length too long": { prefixes: ["fd00::/62"], allocationPrefixLength: 129 },
  "a negative length": { prefixes: ["fd00::/62"], allocationPrefixLength: -1 },
  "single addresses": { prefixes: ["fd00::/126"], allocationPrefixLength: 128, gateway: "fd00::1" },
  "a prefix longer than what it gives": { prefixes: ["fd00::/65"] },
  "a prefix that is an address": { prefixes: ["fd00::1"] },
  "a prefix with bits behind its length": { prefixes: ["fd00::1/62"] },
  "a prefix of IPv4": { prefixes: ["10.0.0.0/8"] },
  "a prefix that is none": { prefixes: ["x"] },
  "a gateway that is none": { prefixes: ["fd00::/62"], gateway: "x" },
  "a gateway of IPv4": { prefixes: ["fd00::/62"], gateway: "10.0.0.1" },
  "a gateway": { prefixes: ["fd00::/62"], gateway: "fd00::1" },
  exclusions: {
    prefixes: ["fd00::/60"],
    excludedPrefixes: ["fd00:0:0:1::5", "fd00:0:0:4::/62", "fd00:0:0:9::-fd00:0:0:a::"],
  },
  "an exclusion that is none": { prefixes: ["fd00::/62"], excludedPrefixes: ["x"] },
  "an exclusion of IPv4": { prefixes: ["fd00::/62"], excludedPrefixes: ["10.0.0.1"] },
  "overlapping prefixes": { prefixes: ["fd00::/62", "fd00::/63", "fd00:0:0:8::/64"] },
  "more prefixes than can be counted": { prefixes: ["fd00::/8"], allocationPrefixLength: 128 },
};

/** Pools as the first version wrote them. */
const OLD_POOLS = {
  "a subnet": { subnet: "10.0.0.0/28", gateway: "10.0.0.1" },
  "a subnet with its first": { subnet: "10.0.0.0/24", start: "10.0.0.100" },
  "a subnet with its last": { subnet: "10.0.0.0/24", end: "10.0.0.9" },
  "a subnet and another prefix": { subnet: "10.0.0.0/28", prefix: 24 },
  "first, last and prefix": { start: "10.0.0.10", end: "10.0.0.20", prefix: 24 },
  "first without last": { start: "10.0.0.10", prefix: 24 },
  addresses: { addresses: ["10.0.0.10", "10.0.0.20-10.0.0.22"], prefix: 24, gateway: "10.0.0.1" },
  "addresses and a subnet": { addresses: ["10.0.0.0"], subnet: "10.0.0.0/29" },
  "a subnet of IPv6": { subnet: "fd00::/120" },
  "a subnet that is none": { subnet: "10.0.0.0" },
  "a subnet of one": { subnet: "10.0.0.4/32" },
  "a subnet of two": { subnet: "10.0.0.4/31" },
  nothing: {},
};

const created = (make, specs, prefix, more = {}) =>
  Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [`${prefix}: ${name}`, { steps: [create(make(spec))], ...more }]),
  );

const OWN = {
  "the lowest free address, whatever the order": {
    steps: [
      create(pool({ addresses: ["10.0.0.20", "10.0.0.10-10.0.0.11", "10.0.0.0/30"], prefix: 24, gateway: "10.0.0.2" })),
      ...claims(["a", "b", "c", "d", "e"]),
    ],
  },
  "a released address is given again": {
    steps: [
      create(pool({ addresses: ["10.0.0.10-10.0.0.20"], prefix: 24 })),
      ...claims(["a", "b", "c"]),
      remove(claim("a")),
      ...claims(["d", "e"]),
    ],
  },
  "exclusions and reserved addresses are passed over": {
    steps: [
      create(
        pool({ addresses: ["10.0.0.0/29"], prefix: 29, gateway: "10.0.0.1", excludedAddresses: ["10.0.0.3-10.0.0.4"] }),
      ),
      ...claims(["a", "b", "c", "d"]),
    ],
  },
  "reserved addresses are given": {
    steps: [
      create(pool({ addresses: ["10.0.0.0/30"], prefix: 30, allocateReservedIPAddresses: true })),
      ...claims(["a", "b", "c", "d", "e"]),
    ],
  },
  "IPv6 without its first address": {
    steps: [create(pool({ addresses: ["fd00::/126"], prefix: 126 })), ...claims(["a", "b", "c", "d"])],
  },
  "an empty pool gives when one returns": {
    steps: [create(pool(FEW)), ...claims(["a", "b", "c"]), remove(claim("b"))],
  },
  "an empty pool gives when it grows": {
    steps: [
      create(pool(FEW)),
      ...claims(["a", "b", "c"]),
      change(pool(FEW), { spec: { addresses: ["10.0.0.10-10.0.0.12"] } }),
    ],
  },
  "a pool that comes later": { steps: [...claims(["a"]), create(pool(FEW))] },
  "a pool in use shrinks": {
    steps: [
      create(pool({ addresses: ["10.0.0.10-10.0.0.20"], prefix: 24 })),
      ...claims(["a", "b"]),
      change(pool(FEW), { spec: { addresses: ["10.0.0.10"] } }),
      change(pool(FEW), { spec: { excludedAddresses: ["10.0.0.11"] } }),
      change(pool(FEW), { spec: { gateway: "10.0.0.11" } }),
      change(pool(FEW), { spec: { addresses: ["10.0.0.10-10.0.0.11"] } }),
    ],
  },
  "a pool in use is deleted": {
    steps: [create(pool(FEW)), ...claims(["a"]), remove(pool(FEW)), remove(claim("a")), remove(pool(FEW))],
  },
  "a pool in use is deleted all the same": {
    steps: [
      create(pool(FEW, { annotations: { [SKIP]: "" } })),
      ...claims(["a"]),
      remove(pool(FEW)),
      ...claims(["b"]),
      remove(claim("a")),
      remove(claim("b")),
    ],
  },
  "an address waits for its grace period": {
    steps: [
      create(pool({ ...FEW, addressReuseGracePeriodSeconds: 3600 })),
      ...claims(["a", "b"]),
      remove(claim("a")),
      ...claims(["c"]),
    ],
  },
  "a pool that is deleted skips the grace period": {
    steps: [
      create(pool({ ...FEW, addressReuseGracePeriodSeconds: 3600 }, { annotations: { [SKIP]: "" } })),
      ...claims(["a"]),
      remove(pool(FEW)),
      remove(claim("a")),
    ],
  },
  "a paused pool gives nothing": {
    steps: [
      create(pool(FEW, { annotations: { [PAUSED]: "" } })),
      ...claims(["a"]),
      change(pool(FEW), annotated(PAUSED, null)),
    ],
  },
  "a paused pool takes nothing back": {
    steps: [
      create(pool(FEW)),
      ...claims(["a"]),
      change(pool(FEW), annotated(PAUSED)),
      remove(claim("a")),
      change(pool(FEW), annotated(PAUSED, null)),
    ],
  },
  "a claim of a cluster that comes later": {
    steps: [create(pool(FEW)), create(claim("a", { spec: { clusterName: "c" } })), create(cluster())],
  },
  "a claim of a paused cluster": {
    steps: [
      create(pool(FEW)),
      create(cluster({ paused: true })),
      create(claim("a", { metadata: { labels: { [CLUSTER_NAME]: "c" } } })),
      change(cluster(), { spec: { paused: false } }),
    ],
  },
  "a claim of a cluster that never was is deleted": {
    steps: [create(pool(FEW)), create(claim("a", { spec: { clusterName: "c" } })), remove(claim("a"))],
  },
  "a paused claim": {
    steps: [
      create(pool(FEW)),
      create(claim("a", { metadata: { annotations: { [PAUSED]: "" } } })),
      change(claim("a"), annotated(PAUSED, null)),
    ],
  },
  "an address is deleted by hand": {
    steps: [create(pool(FEW)), ...claims(["a"]), remove(address("a", "10.0.0.10")), remove(claim("a"))],
  },
  "an address that was restored before its claim": {
    steps: [create(pool(FEW)), create(address("a", "10.0.0.11")), ...claims(["b", "a", "c"])],
  },
  "an address of another pool has the claim's name": {
    steps: [create(pool(FEW)), create(address("a", "10.0.0.11", { poolName: "q" })), ...claims(["a"])],
  },
  "a global pool gives to all namespaces": {
    steps: [
      create(pool(FEW, {}, "GlobalInClusterIPPool")),
      ...claims(["a"], { kind: "GlobalInClusterIPPool" }),
      { create: { ...claim("a", { kind: "GlobalInClusterIPPool" }), elsewhere: true } },
      remove(pool(FEW, {}, "GlobalInClusterIPPool")),
    ],
  },
  "a claim of another provider": {
    steps: [
      create(pool(FEW)),
      create(claim("a", { spec: { poolRef: { apiGroup: "ipam.example.com", kind: "InClusterIPPool", name: "p" } } })),
    ],
  },
};

const PREFIX = { kind: "InClusterPrefixPool" };
const OWN_PREFIXES = {
  "the lowest free prefix": {
    steps: [
      create(
        prefixPool({
          prefixes: ["fd00:0:0:8::/63", "fd00::/62"],
          gateway: "fd00::1",
          excludedPrefixes: ["fd00:0:0:1::"],
        }),
      ),
      ...claims(["a", "b", "c", "d"], PREFIX),
      remove(claim("b", PREFIX)),
      ...claims(["e"], PREFIX),
    ],
  },
  "an empty pool of prefixes": {
    steps: [create(prefixPool({ prefixes: ["fd00::/64"] })), ...claims(["a", "b"], PREFIX), remove(claim("a", PREFIX))],
  },
  "a pool of prefixes changes": {
    steps: [
      create(prefixPool({ prefixes: ["fd00::/62"] })),
      ...claims(["a"], PREFIX),
      change(prefixPool({}), { spec: { allocationPrefixLength: 65 } }),
      change(prefixPool({}), { spec: { prefixes: ["fd00:0:0:4::/62"] } }),
      change(prefixPool({}), { spec: { excludedPrefixes: ["fd00::7"] } }),
      change(prefixPool({}), { spec: { prefixes: ["fd00::/64"] } }),
      remove(prefixPool({})),
    ],
  },
  "a global pool of prefixes": {
    steps: [
      create(pool({ prefixes: ["fd00::/48"], allocationPrefixLength: 56 }, {}, "GlobalInClusterPrefixPool")),
      ...claims(["a"], { kind: "GlobalInClusterPrefixPool" }),
      { create: { ...claim("a", { kind: "GlobalInClusterPrefixPool" }), elsewhere: true } },
    ],
  },
};

const OLD = {
  "an old pool gives": { old: true, steps: [create(oldPool(OLD_POOLS["a subnet"])), ...claims(["a", "b"])] },
  "an old pool is changed in the new version": {
    old: true,
    steps: [
      create(oldPool(OLD_POOLS["a subnet"])),
      change(pool({}), { spec: { addresses: ["10.0.0.5"] } }),
      change(oldPool({}), { spec: { gateway: "10.0.0.9" } }),
    ],
  },
  "a new pool is changed in the old version": {
    old: true,
    steps: [
      create(pool({ ...FEW, excludedAddresses: ["10.0.0.10"], allocateReservedIPAddresses: true })),
      change(oldPool({}), { spec: { addresses: ["10.0.0.10-10.0.0.15"] } }),
    ],
  },
  "an old global pool": { old: true, steps: [create(oldPool(OLD_POOLS["a subnet"], "GlobalInClusterIPPool"))] },
};

export const STORIES = {
  ...created(pool, POOLS, "pool"),
  ...created(prefixPool, PREFIX_POOLS, "prefix pool"),
  ...created(oldPool, OLD_POOLS, "old pool", { old: true }),
  ...OWN,
  ...OWN_PREFIXES,
  ...OLD,
};
