import { expect, test } from "vitest";
import { parse } from "yaml";
import { clusterInfoKubeconfig, signatureKey, signClusterInfo } from "./cluster-info.ts";

test("signatures equal those of kube-controller-manager's bootstrapsigner", () => {
  // Test vector of Kubernetes' own test of the signer.
  const content = "Hello from the other side. I must have called a thousand times.";
  expect(signClusterInfo(content, "joshua", "my voice is my passcode")).toBe(
    "eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8",
  );
  expect(signatureKey("joshua")).toBe("jws-kubeconfig-joshua");
});

test("cluster-info contains the server and its CA, and no user", () => {
  const kubeconfig = parse(clusterInfoKubeconfig("https://10.0.0.1:6443", "PEM")) as Record<string, unknown>;
  expect(kubeconfig).toEqual({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "", cluster: { server: "https://10.0.0.1:6443", "certificate-authority-data": "UEVN" } }],
    contexts: null,
    users: null,
    "current-context": "",
  });
});
