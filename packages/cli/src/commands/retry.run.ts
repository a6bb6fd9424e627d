import { RETRY_ANNOTATION } from "@capstan/capi";
import { type CommandInput, UserError } from "../command.ts";
import { clockOf } from "../context/api-target.ts";
import { withTarget } from "../context/with-cluster.ts";
import { WorkerPool } from "../kinds/kinds.ts";
import { namespaceOf } from "../options.ts";

/** Runs `capstan retry workerpool`: annotates a WorkerPool so that its controller clears the cool-down of its members. */
export function runRetryWorkerPool(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const [name = ""] = input.arguments;
    const namespace = namespaceOf(input);
    const pool = await target.client.get(WorkerPool, { namespace, name });
    if (pool === undefined)
      throw new UserError(`workerpool ${namespace}/${name} not found in ${target.description}`, {
        hint: "list all with: capstan get workerpools -A",
      });
    input.io.err(`In ${target.description}\n`);
    const retryAt = new Date(clockOf(input).now()).toISOString();
    await target.client.patch(pool, { metadata: { annotations: { [RETRY_ANNOTATION]: retryAt } } });
    const cooling = (pool.status?.members ?? []).filter(({ state }) => state === "CoolingDown");
    const members = cooling.map((member) => member.name).join(", ");
    input.io.out(
      cooling.length === 0
        ? `workerpool/${name}: no member is cooling down\n`
        : `workerpool/${name} retries its members: ${members}\n`,
    );
    return 0;
  });
}
