import type { KubeconfigCluster, KubeconfigUser } from "./types.ts";

const EXEC_MODES = ["", "Never", "IfAvailable", "Always"];

/**
 * Rejects combinations of valid fields that kubectl rejects for a user. Only the selected user is checked, as errors in others do not
 * matter.
 */
export function checkUser(name: string, user: KubeconfigUser): void {
  // kubectl's message.
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
  // Groups without a user are meant to restrict; using the user's full permissions would do the opposite.
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

/** Rejects what kubectl rejects for a cluster, again only for the selected one. */
export function checkCluster(name: string, { insecure, ca }: KubeconfigCluster): void {
  if (insecure && ca !== undefined)
    throw new Error(
      `kubeconfig cluster "${name}": certificate-authority and insecure-skip-tls-verify exclude each other; keep one`,
    );
}
