import { WORKER_PROVIDERS as PROVIDERS, type ProviderName } from "@capstan/capi";
import { type CommandInput, usageError } from "../command.ts";
import { checkName, parseWorkers } from "./plan.ts";

/** Asks a person for what the flags did not say. */
export async function askForPlan(input: CommandInput, newest: string): Promise<CommandInput> {
  const { io } = input;
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
  const name = await until("Name of the cluster", "", (answer) => {
    checkName(answer);
    return answer;
  });
  const given = input.options["kubernetesVersion"];
  const version = typeof given === "string" ? given : await question("Kubernetes version", newest);
  const workers = [...(input.lists["workers"] ?? [])];
  if (workers.length === 0) {
    io.err("Workers come from:\n");
    for (const [key, { summary }] of Object.entries(PROVIDERS)) io.err(`  ${key.padEnd(8)}${summary}\n`);
    for (;;) {
      const provider = await until(`Provider of worker group ${workers.length + 1} (empty: no more)`, "", readProvider);
      if (provider === undefined) break;
      const group = await question("  Name of the group", workers.length === 0 ? "workers" : provider);
      const parts = [`name=${group}`, `provider=${provider}`];
      parts.push(`replicas=${await question("  How many", "2")}`);
      for (const [key, { summary, required }] of Object.entries(PROVIDERS[provider].settings)) {
        const value = required === true ? await question(`  ${key}, ${summary}`, "") : "";
        if (value !== "") parts.push(`${key}=${value}`);
      }
      try {
        parseWorkers(parts.join(","));
        workers.push(parts.join(","));
      } catch (error) {
        io.err(`${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
  }
  const flags = workers.map((group) => ` --workers ${group}`).join("");
  io.err(`The same in one line: capstan create cluster ${name} --kubernetes-version ${version}${flags}\n`);
  return {
    ...input,
    arguments: [name],
    options: { ...input.options, kubernetesVersion: version },
    lists: { ...input.lists, ...(workers.length === 0 ? {} : { workers }) },
  };
}

function readProvider(answer: string): ProviderName | undefined {
  if (answer === "") return undefined;
  if (!Object.hasOwn(PROVIDERS, answer)) throw new Error(`choose one of: ${Object.keys(PROVIDERS).join(", ")}`);
  return answer as ProviderName;
}
