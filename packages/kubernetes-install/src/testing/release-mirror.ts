import { gzipSync } from "node:zlib";
import { FileServer, sha256 } from "@capstan/media/testing";

export const program = (name: string): Buffer => Buffer.from(`#!/bin/sh\n# ${name}\n${"x".repeat(5000)}\n`);

/** A server on loopback with the layout of dl.k8s.io/release and of etcd's releases, and with faults. */
export class ReleaseMirror extends FileServer {
  /** Publishes a version of Kubernetes and etcd for an architecture. */
  publish(version: string, architecture = "amd64", etcd = "v3.7.3"): void {
    for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubeadm", "kubectl"])
      this.put(`/${version}/bin/linux/${architecture}/${name}`, program(`${name} ${version} ${architecture}`));
    const archive = tar({
      [`etcd-${etcd}/README.md`]: { bytes: Buffer.from("no") },
      [`etcd-${etcd}/etcdctl`]: { bytes: Buffer.from("../../etc/passwd"), type: "2" },
      [`etcd-${etcd}/etcd`]: { bytes: program(`etcd ${architecture}`) },
      [`etcd-${etcd}/etcdutl`]: { bytes: program("etcdutl") },
    });
    this.publishEtcd(archive, architecture, etcd);
  }

  publishEtcd(archive: Buffer, architecture = "amd64", etcd = "v3.7.3"): void {
    const name = `etcd-${etcd}-linux-${architecture}.tar.gz`;
    this.files.set(`/${etcd}/${name}`, archive);
    const other = `${"1".repeat(64)}  x${name}\n`;
    const sums = this.files.get(`/${etcd}/SHA256SUMS`)?.toString() ?? other;
    this.files.set(`/${etcd}/SHA256SUMS`, Buffer.from(`${sums}${sha256(archive)}  ${name}\n`));
  }
}

interface Entry {
  bytes: Buffer;
  /** "0" is a file, "2" a link whose target is in the bytes. */
  type?: "0" | "2";
}

export function tar(entries: Record<string, Entry>): Buffer {
  const blocks = Object.entries(entries).flatMap(([name, { bytes, type = "0" }]) => {
    const header = Buffer.alloc(512);
    const content = type === "0" ? bytes : Buffer.alloc(0);
    header.write(name, 0);
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write(type, 156);
    if (type === "2") bytes.copy(header, 157);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}
