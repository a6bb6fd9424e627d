#!/usr/bin/env node
/**
 * Records what upstream's kubeadm control plane provider decides without a cluster: whether a Machine is up to date, what it is to
 * look like, and what becomes of kubeadm-config, CoreDNS, kube-proxy and kubeadm's permissions. Needs Go and nothing that runs.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { cases as desiredCases } from "./decisions/desired.cases.mjs";
import { bases, questionOf, cases as upToDateCases } from "./decisions/up-to-date.cases.mjs";
import { cases as workloadCases } from "./decisions/workload.cases.mjs";
import { run, upstreamVersion } from "./start-upstream.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const target = fileURLToPath(new URL("../../providers/controlplane-kubeadm/testdata/upstream", import.meta.url));
const CRD = "controlplane/kubeadm/config/crd/bases/controlplane.cluster.x-k8s.io_kubeadmcontrolplanes.yaml";

const program = build();
const specSchema = kubeadmConfigSpec();
mkdirSync(target, { recursive: true });

const worlds = bases(specSchema);
const upToDate = [...upToDateCases(specSchema)].map(([name, given]) => ({ name, ...given }));
const answers = ask(upToDate.map(({ base, set }) => questionOf(worlds[base], set)));
write("up-to-date.golden.json", {
  bases: worlds,
  cases: upToDate.map((given, index) => ({ ...given, answer: answers[index] })),
});
record("desired.golden.json", desiredCases(specSchema), withoutChance);
record("workload.golden.json", workloadCases(specSchema), (answer) => answer);

function record(file, questions, normalise) {
  const replies = ask([...questions.values()]).map(normalise);
  write(file, {
    cases: [...questions].map(([name, question], index) => ({ name, question, answer: replies[index] })),
  });
}

/** The random part of generated names. */
function withoutChance(answer) {
  const name = answer.machine?.metadata.name;
  if (name === undefined || name === "cp-1") return answer;
  const fixed = `${name.slice(0, -5)}xxxxx`;
  return JSON.parse(JSON.stringify(answer).replaceAll(`"${name}"`, `"${fixed}"`));
}

/** One case per line, so that a difference can be read. */
function write(file, { cases, ...rest }) {
  const head = Object.entries({ version: upstreamVersion(), ...rest })
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
    .join("");
  const lines = cases.map((each) => JSON.stringify(each)).join(",\n");
  writeFileSync(join(target, file), `{\n${head}"cases": [\n${lines}\n]\n}\n`);
  console.log(`${file}: ${cases.length} cases`);
}

function ask(questions) {
  const answer = run(program, [], { input: JSON.stringify(questions) });
  return JSON.parse(answer);
}

function build() {
  const bin = run(process.execPath, [join(here, "build.mjs"), "--print"]).trim();
  mkdirSync(bin, { recursive: true });
  const file = join(bin, "decisions");
  const flags = ["-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", "-s -w"];
  const { status } = spawnSync("go", ["build", ...flags, "-o", file, "./decisions"], {
    cwd: here,
    stdio: "inherit",
    env: { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false" },
  });
  if (status !== 0)
    throw new Error("building tools/cluster-api/decisions failed (Go 1.26 or newer must be on the PATH)");
  return file;
}

/** The schema of KubeadmConfigSpec in upstream's own CRD, so that no field is forgotten. */
function kubeadmConfigSpec() {
  const source = run("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api"], { cwd: here }).trim();
  const crd = parse(readFileSync(join(source, CRD), "utf8"));
  const { schema } = crd.spec.versions.find(({ name }) => name === "v1beta2");
  return schema.openAPIV3Schema.properties.spec.properties.kubeadmConfigSpec;
}
