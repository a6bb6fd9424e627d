import { readInstance, requestSignInLink } from "@capstan/manager/instance";
import { type CommandInput, UserError } from "../command.ts";
import { dataDirOf } from "../options.ts";

/** Runs `capstan dashboard`: requests a one-time sign-in link from the running instance and prints it. */
export async function runDashboard(input: CommandInput): Promise<number> {
  const dataDir = dataDirOf(input);
  if ((await readInstance(dataDir)) === undefined)
    throw new UserError(`capstan is not running on ${dataDir}`, {
      hint: "start it with: capstan up, or name its directory with --data",
    });
  const link = await requestSignInLink(dataDir);
  if (link === undefined)
    throw new UserError("this instance serves no dashboard", { hint: "start it without --dashboard off" });
  input.io.out(`${link}\n`);
  input.io.err("The link works once, within an hour, with the permissions of the kubeconfig.\n");
  return 0;
}
