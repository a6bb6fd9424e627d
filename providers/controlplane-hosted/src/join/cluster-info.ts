import { createHmac } from "node:crypto";

/** The kubeconfig that anonymous joiners read: where the API is and which CA signs for it, nothing else. */
export function clusterInfoKubeconfig(server: string, caPem: string, serverName?: string): string {
  const ca = Buffer.from(caPem).toString("base64");
  return [
    "apiVersion: v1",
    "clusters:",
    "- cluster:",
    `    certificate-authority-data: ${ca}`,
    `    server: ${server}`,
    ...(serverName === undefined ? [] : [`    tls-server-name: ${serverName}`]),
    '  name: ""',
    "contexts: null",
    'current-context: ""',
    "kind: Config",
    "users: null",
    "",
  ].join("\n");
}

/**
 * The detached signature kubeadm checks: what kube-controller-manager's bootstrapsigner writes, byte for byte. Signing here as well
 * saves the first join the wait for that controller.
 */
export function signClusterInfo(kubeconfig: string, tokenId: string, tokenSecret: string): string {
  const encode = (text: string): string => Buffer.from(text).toString("base64url");
  const header = encode(`{"alg":"HS256","kid":"${tokenId}"}`);
  const signature = createHmac("sha256", tokenSecret)
    .update(`${header}.${encode(kubeconfig)}`)
    .digest("base64url");
  return `${header}..${signature}`;
}

/** The ConfigMap key that holds a token's signature. */
export function signatureKey(tokenId: string): string {
  return `jws-kubeconfig-${tokenId}`;
}
