import type { Clock } from "@capstan/apimachinery";
import { type Program, type ProgramState, programHash } from "@capstan/workloads";
import type { ControlPlanePlan } from "../placement.ts";
import { type PlaneRecord, writePlaneRecord } from "../plane-record.ts";
import { decideUpgrade } from "../upgrade.ts";
import type { ProcessInputs } from "./inputs.ts";
import { apiserverProgram, type ProgramInput, SUCCESSOR } from "./programs.ts";
import type { LocalWorkloads } from "./workloads.ts";

/** Dependencies of ProcessApiservers. */
export interface ProcessApiserversOptions {
  workloads: LocalWorkloads;
  clock: Clock;
  inputs: ProcessInputs;
  /** Returns the folder with the binaries of a version. */
  binDir(version: string): Promise<string>;
}

/** State of the kube-apiservers, and of a pending change. */
export interface ApiserversReport {
  apiservers: ProgramState[];
  /** Set while the running version or configuration is not the desired one. */
  upgrade?: { reason: string; message: string };
  recheckMs?: number;
}

/** Runs kube-apiservers as processes. They change to another version or configuration one by one, after a trial with a successor. */
export class ProcessApiservers {
  readonly #options: ProcessApiserversOptions;

  constructor(options: ProcessApiserversOptions) {
    this.#options = options;
  }

  /** Runs them and performs as many steps of a change as possible now. `recordDir` is the folder of the record. */
  async run(
    plan: ControlPlanePlan,
    record: PlaneRecord,
    input: ProgramInput,
    names: string[],
    recordDir: string,
  ): Promise<ApiserversReport> {
    const { workloads, clock } = this.#options;
    for (const state of await workloads.list(plan.owner))
      if (isApiserver(state.id.name) && ![...names, SUCCESSOR].includes(state.id.name))
        await workloads.remove(state.id);
    const dir = await this.#options.binDir(record.version ?? plan.version);
    const refusal = await this.#beginConfiguration(plan, record, input, names, dir);
    for (;;) {
      const { upgrade } = record;
      const newDir = upgrade === undefined ? dir : await this.#options.binDir(upgrade.to);
      const rolled = upgrade?.stage === "roll" ? upgrade.rolled : 0;
      const apiservers: ProgramState[] = [];
      for (const [index, name] of names.entries()) {
        const program = apiserverProgram(input, index < rolled ? newDir : dir, name, input.context.apiPort);
        const keeps = (upgrade !== undefined && index >= rolled) || refusal !== undefined;
        apiservers.push(keeps ? await this.#keep(program) : await workloads.ensure(program));
      }
      // etcd is first, and reports its own progress.
      if (upgrade?.stage === "etcd") return { apiservers };
      if (upgrade === undefined) return { apiservers, upgrade: refusal };
      const port =
        upgrade.stage === "trial" ? await this.#options.inputs.trialPort(plan.owner, input) : input.context.apiPort;
      const successor = await workloads.ensure(apiserverProgram(input, newDir, SUCCESSOR, port));
      const serving = upgrade.stage === "trial" ? apiservers : [...apiservers, successor];
      const decision = decideUpgrade(upgrade, {
        successor,
        lastRolled: apiservers[rolled - 1],
        replicas: names.length,
        nowMs: clock.now(),
      });
      const { configuration } = upgrade;
      if (decision.type === "wait")
        return {
          apiservers: serving,
          upgrade: { reason: configuration === undefined ? "Upgrading" : "Reconfiguring", message: decision.message },
          recheckMs: decision.recheckMs,
        };
      if (decision.type === "next") record.upgrade = decision.upgrade;
      else {
        delete record.upgrade;
        if (decision.type === "done") record.version = upgrade.to;
        else
          record.refused = {
            version: upgrade.to,
            message: decision.message,
            configuration,
          };
      }
      await writePlaneRecord(recordDir, record);
      if (decision.type === "next") continue;
      await workloads.remove({ owner: plan.owner, name: SUCCESSOR });
      if (decision.type === "done") return { apiservers };
      return {
        apiservers,
        upgrade:
          configuration === undefined
            ? { reason: "UpgradeFailed", message: decision.message }
            : configurationRefused(decision.message),
      };
    }
  }

  /** A changed configuration is rolled out like a changed version: the running processes serve until a successor is ready. */
  async #beginConfiguration(
    plan: ControlPlanePlan,
    record: PlaneRecord,
    input: ProgramInput,
    names: string[],
    dir: string,
  ): Promise<{ reason: string; message: string } | undefined> {
    const { workloads, clock } = this.#options;
    const { upgrade, refused, version } = record;
    if (version === undefined || (upgrade !== undefined && upgrade.configuration === undefined)) return undefined;
    const programs = names.map((name) => apiserverProgram(input, dir, name, input.context.apiPort));
    const matching = await Promise.all(programs.map((program) => workloads.matches(program)));
    const states = await workloads.list(plan.owner);
    const serves = states.some(({ id, phase }) => names.includes(id.name) && phase === "Ready");
    if (upgrade === undefined && (!matching.includes(false) || !serves)) {
      if (refused?.configuration !== undefined) delete record.refused;
      return undefined;
    }
    const [first] = programs;
    const configuration = first === undefined ? "" : programHash(first);
    if (upgrade?.configuration === configuration) return undefined;
    if (refused?.configuration === configuration) return configurationRefused(refused.message);
    if (upgrade !== undefined) await workloads.remove({ owner: plan.owner, name: SUCCESSOR });
    record.upgrade = { to: version, stage: "trial", sinceMs: clock.now(), rolled: 0, configuration };
    return undefined;
  }

  /** Keeps a running process although another configuration is requested; starts a stopped one as requested. */
  async #keep(program: Program): Promise<ProgramState> {
    const { workloads } = this.#options;
    if ((await workloads.matches(program)) !== false) return await workloads.ensure(program);
    const states = await workloads.list(program.id.owner);
    return states.find(({ id }) => id.name === program.id.name) ?? (await workloads.ensure(program));
  }
}

/** Reports whether a program is a kube-apiserver. */
export function isApiserver(name: string): boolean {
  return name.startsWith("kube-apiserver");
}

function configurationRefused(message: string): { reason: string; message: string } {
  return {
    reason: "ConfigurationRefused",
    message: `${message}; the previous configuration keeps serving. Correct the spec of kube-apiserver`,
  };
}
