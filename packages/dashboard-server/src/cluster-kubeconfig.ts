import type { ApiResponse, Transport } from "@capstan/apimachinery";
import { clusterSecretName } from "@capstan/capi";
import { failure } from "./api-proxy.ts";

/** Reads a cluster's kubeconfig from its Secret with the user's permissions; returns the error response when that fails. */
export async function clusterKubeconfig(
  transport: Transport,
  namespace: string,
  name: string,
): Promise<string | ApiResponse> {
  const path = `/api/v1/namespaces/${namespace}/secrets/${clusterSecretName(name, "kubeconfig")}`;
  const answer = await transport.request({ method: "GET", path });
  if (answer.status === 404)
    return failure(404, `cluster ${namespace}/${name} has no kubeconfig yet: its control plane is not initialized`);
  if (answer.status !== 200) return answer;
  const value = (answer.body as { data?: Record<string, string> }).data?.["value"];
  if (value === undefined) return failure(404, `the kubeconfig Secret of ${namespace}/${name} is empty`);
  return Buffer.from(value, "base64").toString("utf8");
}
