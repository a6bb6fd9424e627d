import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
export const program = (name: string): Buffer => Buffer.from(`#!/bin/sh\n# ${name}\n${"x".repeat(5000)}\n`);

/** A server on loopback with the layout of dl.k8s.io/release and of etcd's releases, and with faults. */
export class ReleaseMirror {
  readonly files = new Map<string, Buffer>();
  /** Paths whose next answer is cut after so many bytes. */
  readonly cuts = new Map<string, number>();
  /** Every request: its path, then its Range. */
  readonly asked: string[] = [];
  /** Answers in its place when it gives back true. */
  instead: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Ends the connection that is to be cut. */
  endConnection: () => void = () => undefined;
  /** Servers exist that send all of it whatever is asked for. */
  resumes = true;
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));

  /** Base address. */
  get base(): string {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Publishes a version of Kubernetes and etcd for an architecture. */
  publish(version: string, architecture = "amd64", etcd = "v3.6.5"): void {
    for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler"])
      this.put(`/${version}/bin/linux/${architecture}/${name}`, program(`${name} ${version} ${architecture}`));
    const archive = tar({
      [`etcd-${etcd}/README.md`]: { bytes: Buffer.from("no") },
      [`etcd-${etcd}/etcdctl`]: { bytes: Buffer.from("../../etc/passwd"), type: "2" },
      [`etcd-${etcd}/etcd`]: { bytes: program(`etcd ${architecture}`) },
      [`etcd-${etcd}/etcdutl`]: { bytes: program("etcdutl") },
    });
    this.publishEtcd(archive, architecture, etcd);
  }

  publishEtcd(archive: Buffer, architecture = "amd64", etcd = "v3.6.5"): void {
    const name = `etcd-${etcd}-linux-${architecture}.tar.gz`;
    this.files.set(`/${etcd}/${name}`, archive);
    const other = `${"1".repeat(64)}  x${name}\n`;
    const sums = this.files.get(`/${etcd}/SHA256SUMS`)?.toString() ?? other;
    this.files.set(`/${etcd}/SHA256SUMS`, Buffer.from(`${sums}${sha256(archive)}  ${name}\n`));
  }

  /** A file with its checksum beside it. */
  put(path: string, bytes: Buffer): void {
    this.files.set(path, bytes);
    this.files.set(`${path}.sha256`, Buffer.from(sha256(bytes)));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    this.asked.push(`${path} ${request.headers.range ?? ""}`.trim());
    if (this.instead(request, response)) return;
    const bytes = this.files.get(path);
    if (bytes === undefined) return void response.writeHead(404).end("not found");
    const start = this.resumes ? Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
    if (start > 0 && start >= bytes.length) return void response.writeHead(416).end();
    const rest = bytes.subarray(start);
    const range = { "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` };
    response.writeHead(start > 0 ? 206 : 200, { "content-length": rest.length, ...(start > 0 ? range : {}) });
    const cut = this.cuts.get(path);
    if (cut === undefined) return void response.end(rest);
    this.cuts.delete(path);
    // The rest never comes: the connection ends once the client has taken what was sent.
    response.write(rest.subarray(0, cut));
    this.endConnection = () => response.destroy();
  }
}

interface Entry {
  bytes: Buffer;
  /** "0" is a file, "2" a link to what the bytes say. */
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
