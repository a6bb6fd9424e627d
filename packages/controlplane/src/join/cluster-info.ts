import { createHmac } from "node:crypto";

/** Returns the kubeconfig that anonymous joining nodes read: only the API server's address and CA. */
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
 * Returns the detached signature that kubeadm verifies, identical to the one of kube-controller-manager's bootstrapsigner. Signing here
 * spares the first node the wait for that controller.
 */
export function signClusterInfo(kubeconfig: string, tokenId: string, tokenSecret: string): string {
  const encode = (text: string): string => Buffer.from(text).toString("base64url");
  const header = encode(`{"alg":"HS256","kid":"${tokenId}"}`);
  const signature = createHmac("sha256", tokenSecret)
    .update(`${header}.${encode(kubeconfig)}`)
    .digest("base64url");
  return `${header}..${signature}`;
}

/** Returns the ConfigMap key of a token's signature. */
export function signatureKey(tokenId: string): string {
  return `jws-kubeconfig-${tokenId}`;
}
