/**
 * What CI can run. A stage is a command, and what a commit has to touch for the stage to go first; its duration is in durations.json.
 *
 * @typedef {object} Stage
 * @property {string} name
 * @property {string} command Words separated by single spaces, without quotes.
 * @property {boolean} [always] Runs in every landing, before the others and whatever time it takes.
 * @property {boolean} [once] A failure is final. Other stages are repeated once, since they run real programs on a shared machine.
 * @property {readonly string[]} [paths] Prefixes of paths that this stage tests. Packages that every stage uses are not named.
 * @property {boolean} [long] Only `--all` runs it.
 * @property {string} [sideBySide] Stages with the same word mostly wait and share nothing: two of them run at the same time.
 */

const HOSTED = ["providers/controlplane-hosted/", "packages/workloads/", "tests/e2e/hosted-planes.ts"];
const HARNESS = ["tests/e2e/harness/", "tests/e2e/setup.ts", "tests/real-kubernetes/"];
const OWN_HOSTS = ["providers/infra-byoh/", "packages/host-agent/", "packages/userdata/"];
const MACHINES = ["providers/controlplane-kubeadm/", "tests/e2e/kcp-world.ts", "tests/e2e/kcp.yaml"];
const METAL = ["providers/infra-metal3/", "tests/e2e/harness/bmc"];

/** @type {readonly Stage[]} */
export const STAGES = [
  { name: "npm ci", command: "npm ci", always: true, once: true },
  { name: "npm test", command: "npm test", always: true },
  { name: "check", command: "npm run --silent check", always: true, once: true },
  {
    name: "kubernetes programs",
    command: "npm run --silent kubernetes -- --version v1.37,v1.36",
    always: true,
    once: true,
  },
  { name: "conformance", command: "npm run --silent conformance", always: true },
  { name: "first run", command: "npm run --silent first-run", always: true },
  { name: "browser", command: "npm run --silent browser", always: true },
  { name: "security", command: "npm run --silent security", always: true },

  {
    name: "cloud-init",
    command: "npm run --silent cloud-init",
    paths: ["tests/cloud-init/", "packages/userdata/", "providers/bootstrap-kubeadm/"],
  },
  {
    name: "docs with kubectl",
    command: "npx vitest run tests/docs",
    paths: ["docs/", "README.md", "tests/docs/", "packages/cli/"],
  },
  real("kinds", "mjs", "real-a", ["packages/capi/", "packages/manager/src/kinds", "packages/apiserver/src/crd/"]),
  real("runtime", "ts", "real-a", ["packages/runtime/"]),
  real("pods", "mjs", "real-b", ["providers/controlplane-hosted/src/placement", "packages/workloads/"]),
  real("byoh", "mjs", "real-b", ["providers/infra-byoh/", "packages/host-agent/"]),
  {
    name: "clusterctl",
    command: "npm run --silent clusterctl",
    paths: ["tests/clusterctl/", "tools/cluster-api/", "packages/capi/src/kinds/", "packages/apiserver/"],
  },
  {
    name: "faults",
    command: "npm run --silent faults -- 10",
    paths: ["tests/faults/", "packages/apiserver/", "packages/runtime/"],
  },

  e2e("harness", HARNESS),
  e2e("nodes", [...HARNESS, "tools/cni/", "tools/kubernetes/"]),
  e2e("hosted", [
    ...HOSTED,
    "tests/e2e/hosted-world.ts",
    "tests/e2e/hosted-host.yaml",
    "tests/e2e/hosted-kind.yaml",
    "tools/kubernetes/",
  ]),
  e2e("hosted-trouble", HOSTED),
  e2e("hosted-shared", HOSTED),
  e2e("hosted-day2", [...HOSTED, "tests/e2e/oidc-issuer.ts", "tests/e2e/harness/object-store.ts"]),
  e2e("hosted-s3", [...HOSTED, "tests/e2e/harness/object-store.ts"]),
  // These and the kubeadm control planes below run with --all until a whole run has measured them.
  {
    ...e2e("hosted-pods", [
      ...HOSTED,
      "tests/e2e/hosted-world.ts",
      "tests/e2e/hosted-pods",
      "tests/e2e/capstan/manager.ts",
    ]),
    long: true,
  },
  {
    ...e2e("pods-as-nodes", [
      ...HARNESS,
      "providers/infra-kubernetes/",
      "packages/node-image/",
      "packages/userdata/src/compile/",
      "packages/workloads/src/pods/",
      "tests/e2e/pods-world.ts",
      "tests/e2e/pods-as-nodes",
      "tools/cni/",
    ]),
    long: true,
  },
  e2e("placements", HOSTED),
  e2e("renewal", [...HOSTED, "packages/pki/"]),
  e2e("byoh", OWN_HOSTS),
  { ...e2e("kcp", [...HARNESS, ...OWN_HOSTS, ...MACHINES]), long: true },
  { ...e2e("kcp-failure", MACHINES), long: true },
  { ...e2e("kcp-rollout", MACHINES), long: true },
  { ...e2e("kcp-recovery", [...MACHINES, "packages/backup/", "packages/etcd/"]), long: true },
  {
    ...e2e("kcp-mixed", [
      ...OWN_HOSTS,
      ...METAL,
      ...MACHINES,
      "providers/bootstrap-kubeadm/",
      "packages/controlplane/src/refusals/",
      "tests/e2e/kcp-mixed",
    ]),
    long: true,
  },
  e2e("redfish", METAL),
  e2e("mixed", [...OWN_HOSTS, ...METAL, "providers/infra-meta/", "providers/core/", "tests/e2e/capstan/witness.ts"]),

  bench("apiserver", ["packages/apiserver/", "packages/apimachinery/"]),
  bench("fleet", ["packages/runtime/", "providers/core/", "providers/infra-memory/"]),
  bench("fleet --kubeadm", [
    "packages/runtime/",
    "providers/core/",
    "providers/infra-memory/",
    "providers/controlplane-kubeadm/",
    "providers/bootstrap-kubeadm/",
    "packages/workloads/src/simulated/",
  ]),

  onNode("24"),
  onNode("22"),
  {
    name: "walk",
    command: "npm run --silent walk",
    paths: ["tests/walk/", "tools/kubernetes/", "packages/controlplane/src/versions"],
    long: true,
  },
  {
    name: "mutants of changed files",
    command: "npm run --silent mutants -- --changed landing",
    long: true,
    once: true,
    paths: ["packages/", "providers/", "tools/mutants/"],
  },
];

/**
 * @param {string} name
 * @param {"mjs" | "ts"} ending
 * @param {string} sideBySide
 * @param {string[]} paths
 * @returns {Stage}
 */
function real(name, ending, sideBySide, paths) {
  return {
    name: `${name} on a real kube-apiserver`,
    command: `npx vitest run --config tests/${name}-real/vitest.config.${ending}`,
    paths: [`tests/${name}-real/`, "tests/real-kubernetes/", ...paths],
    sideBySide,
  };
}

/**
 * @param {string} name
 * @param {string[]} paths
 * @returns {Stage}
 */
function e2e(name, paths) {
  return {
    name: `e2e ${name}`,
    command: `npm run --silent e2e -- ${name}`,
    paths: [`tests/e2e/${name}.test.ts`, "tests/e2e/vitest.config.mjs", ...paths],
  };
}

/**
 * Every landing runs the tests on the Node that is installed.
 * @param {string} major
 * @returns {Stage}
 */
function onNode(major) {
  return {
    name: `npm test on Node ${major}`,
    command: `node tools/node/test.mjs ${major}`,
    paths: ["tools/node/", "package.json", "package-lock.json"],
    long: true,
  };
}

/**
 * Not repeated: a figure that is only reached at the second attempt is not reached.
 * @param {string} name The folder of the bench, and its options.
 * @param {string[]} paths
 * @returns {Stage}
 */
function bench(name, paths) {
  return {
    name: `bench ${name}, short form`,
    command: `npm run --silent bench -- ${name} --short`,
    once: true,
    paths: [`bench/${name.replace(/ .*/, "")}/`, "bench/lib/", ...paths],
  };
}
