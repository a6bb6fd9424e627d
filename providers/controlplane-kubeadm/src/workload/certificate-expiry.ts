import type { Duplex } from "node:stream";
import { connect as secure } from "node:tls";
import type { Clock } from "@capstan/apimachinery";
import type { KubeadmConfig } from "@capstan/capi";
import { Deadline } from "@capstan/etcd";
import { parseCertificateDer } from "@capstan/pki";
import { type Client } from "@capstan/runtime";
import { forwardPort } from "@capstan/workloads";
import { STATIC_PODS, staticPodName } from "./static-pods.ts";

const LIMIT_MS = 15_000;
/** Port of kube-apiserver unless kubeadm is configured otherwise. */
const API_PORT = 6443;

/** The port that kube-apiserver has on a Machine. */
export function apiPort(config: KubeadmConfig | undefined): number {
  const { initConfiguration, joinConfiguration } = config?.spec ?? {};
  return (
    initConfiguration?.localAPIEndpoint?.bindPort ??
    joinConfiguration?.controlPlane?.localAPIEndpoint?.bindPort ??
    API_PORT
  );
}

/**
 * When the certificate of the kube-apiserver on a Node ends, from its TLS handshake. The connection goes through the workload API to the
 * static pod of that Node; nothing is sent over it, so that the certificate needs no verification.
 */
export async function readCertificateExpiry(
  client: Client,
  nodeName: string,
  port: number,
  clock: Clock,
): Promise<number> {
  const deadline = new Deadline(clock, LIMIT_MS, new Error(`no answer within ${LIMIT_MS / 1000} s`));
  let raw: Duplex | undefined;
  try {
    const name = staticPodName("kube-apiserver", nodeName);
    raw = await forwardPort(client, { namespace: STATIC_PODS.namespace, name }, port, deadline.signal);
    return await endOfValidity(raw, deadline.signal);
  } catch (error) {
    throw deadline.reasonOf(error);
  } finally {
    deadline.end();
    raw?.destroy();
  }
}

function endOfValidity(raw: Duplex, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = secure({ socket: raw, rejectUnauthorized: false });
    const failed = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    raw.on("error", failed);
    socket.on("error", failed);
    socket.once("close", () => failed(new Error("the connection was closed")));
    if (signal.aborted) return failed(signal.reason as Error);
    signal.addEventListener("abort", () => failed(signal.reason as Error), { once: true });
    socket.once("secureConnect", () => {
      try {
        const { raw: der } = socket.getPeerX509Certificate() ?? {};
        if (der === undefined) throw new Error("kube-apiserver shows no certificate");
        const { notAfterMs, subject } = parseCertificateDer(der);
        if (subject.commonName !== "kube-apiserver")
          throw new Error(
            `the certificate is for ${JSON.stringify(subject.commonName ?? "").slice(0, 100)} instead of kube-apiserver`,
          );
        resolve(notAfterMs);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      } finally {
        socket.destroy();
      }
    });
  });
}
