import { type MissingVersion, type Shortage, shortageText, versionProblem, workerOptions } from "@capstan/capi";
import { type CommandInput, usageError } from "../command.ts";
import type { Providers } from "../providers.ts";
import { checkName, parseWorkers } from "./plan.ts";
import { cureText } from "./preflight.ts";

/** Reasons why a cluster could not start, shown while the user answers questions. */
export interface Notes {
  readonly version: MissingVersion | undefined;
  readonly shortages: readonly Shortage[];
}

/** Asks for what the flags did not specify, and reports obstacles as soon as an answer reveals them. */
export async function askForPlan(
  input: CommandInput,
  { newest, providers }: { newest: string; providers: Providers },
  notesOn: (soFar: CommandInput) => Promise<Notes>,
): Promise<CommandInput> {
  const { io } = input;
  const offered = workerOptions(providers);
  const { ask } = io;
  if (!io.interactive || ask === undefined)
    throw usageError(
      "the cluster's name is missing",
      "capstan create cluster NAME --workers provider=memory,replicas=2",
    );
  const question = async (text: string, standard: string): Promise<string> => {
    const answer = (await ask(`${text}${standard === "" ? "" : ` [${standard}]`}: `)).trim();
    return answer === "" ? standard : answer;
  };
  /** Asks again until the answer can be used. */
  const until = async <T>(text: string, standard: string, read: (answer: string) => T): Promise<T> => {
    for (;;) {
      try {
        return read(await question(text, standard));
      } catch (error) {
        io.err(`${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
  };
  const readProvider = (answer: string): string | undefined => {
    if (answer === "") return undefined;
    if (!offered.has(answer)) throw new Error(`choose one of: ${[...offered.keys()].join(", ")}`);
    return answer;
  };
  const name = await until("Name of the cluster", "", (answer) => {
    checkName(answer);
    return answer;
  });
  const given = input.options["kubernetesVersion"];
  const version = typeof given === "string" ? given : await until("Kubernetes version", newest, readVersion);
  const workers = [...(input.lists["workers"] ?? [])];
  const soFar = (): CommandInput => ({
    ...input,
    arguments: [name],
    options: { ...input.options, kubernetesVersion: version },
    lists: { ...input.lists, ...(workers.length === 0 ? {} : { workers: [...workers] }) },
  });
  const said = new Set<string>();
  const report = async (): Promise<Notes> => {
    const notes = await notesOn(soFar());
    for (const line of linesOf(notes)) if (!said.has(line)) io.err(`${line}\n`);
    for (const line of linesOf(notes)) said.add(line);
    return notes;
  };
  if (workers.length === 0) {
    io.err("Workers come from:\n");
    for (const [key, { summary }] of offered) io.err(`  ${key.padEnd(8)}${summary}\n`);
    for (;;) {
      const provider = await until(
        `Provider of worker group ${workers.length + 1} (empty to finish)`,
        "",
        readProvider,
      );
      if (provider === undefined) break;
      const group = await question("  Name of the group", workers.length === 0 ? "workers" : provider);
      const parts = [`name=${group}`, `provider=${provider}`];
      parts.push(`replicas=${await question("  How many", "2")}`);
      for (const [key, { summary, required, usual }] of Object.entries(offered.get(provider)?.settings ?? {})) {
        const value = required === true ? await question(`  ${key}, ${summary}`, usual ?? "") : "";
        if (value !== "") parts.push(`${key}=${value}`);
      }
      try {
        parseWorkers(parts.join(","), providers);
      } catch (error) {
        io.err(`${error instanceof Error ? error.message : String(error)}\n`);
        continue;
      }
      workers.push(parts.join(","));
      await report();
    }
  }
  const { shortages } = await report();
  const asked = soFar();
  if (shortages.length > 0 && asked.options["waitForCapacity"] !== true)
    asked.options["waitForCapacity"] = await until("Create it anyway and let machines wait (yes or no)", "no", readYes);
  const flags = workers.map((group) => ` --workers ${group}`).join("");
  const wait = asked.options["waitForCapacity"] === true ? " --wait-for-capacity" : "";
  io.err(`The same in one line: capstan create cluster ${name} --kubernetes-version ${version}${flags}${wait}\n`);
  return asked;
}

function linesOf({ version, shortages }: Notes): string[] {
  return [
    ...(version === undefined ? [] : [`${version.problem}; install it first: ${version.command}`]),
    ...shortages.map((shortage) => `${shortageText(shortage)}; ${cureText(shortage)}`),
  ];
}

function readVersion(answer: string): string {
  const problem = versionProblem(answer);
  if (problem !== undefined) throw new Error(problem);
  return answer;
}

function readYes(answer: string): boolean {
  if (/^y(es)?$/i.test(answer)) return true;
  if (/^no?$/i.test(answer)) return false;
  throw new Error("answer yes or no");
}
