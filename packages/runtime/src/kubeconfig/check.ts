import type { KubeconfigCluster, KubeconfigUser } from "./types.ts";

const EXEC_MODES = ["", "Never", "IfAvailable", "Always"];

/**
 * What kubectl refuses of a user although every field is well-formed. Only the user that is to be used is checked: a mistake in another one
 * of the file is nobody's trouble yet.
 */
export function checkUser(name: string, user: KubeconfigUser): void {
  // In kubectl's words.
  if (user.token !== undefined && user.basic !== undefined)
    throw new Error(
      `more than one authentication method found for ${name}; found [token basicAuth], only one is allowed`,
    );
  const problem = userProblem(user);
  if (problem !== undefined) throw new Error(`kubeconfig user "${name}": ${problem}`);
}

function userProblem({ certificate, key, exec, authProvider, impersonate }: KubeconfigUser): string | undefined {
  if (certificate !== undefined && key === undefined)
    return "client-certificate needs its client-key or client-key-data";
  // Who writes groups alone wants less than the user may do; going on with all of it would be the opposite.
  if (impersonate !== undefined && impersonate.user === "")
    return "as-uid, as-groups and as-user-extra need as: name the user to act as";
  if (exec === undefined) return undefined;
  if (authProvider !== undefined) return "exec and auth-provider exclude each other; keep one";
  if (exec.command === "") return "exec.command is required";
  if (exec.env.some((variable) => variable.name === "")) return "every entry of exec.env needs a name";
  // kubectl wants a word with client.authentication.k8s.io/v1; what it takes for the older version without one serves both.
  if (!EXEC_MODES.includes(exec.interactiveMode))
    return `exec.interactiveMode "${exec.interactiveMode}" is none of Never, IfAvailable, Always`;
  return undefined;
}

/** What kubectl refuses of a cluster, likewise. */
export function checkCluster(name: string, { insecure, ca }: KubeconfigCluster): void {
  if (insecure && ca !== undefined)
    throw new Error(
      `kubeconfig cluster "${name}": certificate-authority says whom to trust and insecure-skip-tls-verify to trust everybody; keep one`,
    );
}
