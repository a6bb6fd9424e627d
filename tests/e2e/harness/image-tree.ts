import { readlinkSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { runCommand } from "../../real-kubernetes/index.ts";
import type { TarEntry } from "./tar.ts";

/** Collects the files of an image: programs of our own, and Debian programs with every shared library they load. */
export class ImageTree {
  readonly #rootfs: string;
  readonly #entries = new Map<string, TarEntry>();

  constructor(rootfs: string) {
    this.#rootfs = rootfs;
  }

  /** Adds an empty folder. */
  folder(path: string, mode = 0o755): this {
    if (!this.#entries.has(path)) {
      if (posix.dirname(path) !== ".") this.folder(posix.dirname(path));
      this.#entries.set(path, { path, directory: true, mode });
    }
    return this;
  }

  /** Adds a program of the machine under a path in the image. */
  program(file: string, path: string): this {
    return this.#add({ path, file, size: statSync(file).size, mode: 0o755 });
  }

  /** Adds a small text file. */
  text(path: string, content: string): this {
    return this.#add({ path, content });
  }

  /** Adds a program of a few lines. */
  script(path: string, content: string): this {
    return this.#add({ path, content, mode: 0o755 });
  }

  /** Adds a symbolic link. */
  link(path: string, target: string): this {
    return this.#add({ path, link: target });
  }

  /** Merged /usr as on Debian, so that library paths with and without /usr both work. */
  mergedUsr(): this {
    for (const name of ["bin", "sbin", "lib", "lib64"]) this.folder(`usr/${name}`).link(name, `usr/${name}`);
    return this;
  }

  /** Adds files of the nodes' root file system with the libraries that they load (plugins included: name them too). */
  async debian(...paths: string[]): Promise<this> {
    // Its exit code is 1 if any of them is static, which is fine.
    const { stdout } = await runCommand("chroot", [this.#rootfs, "ldd", ...paths]);
    const libraries = [...stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map((match) => match[1] ?? "");
    for (const path of new Set([...paths, ...libraries])) {
      const file = this.#resolve(path);
      const inImage = path.replace(/^\/(bin|sbin|lib|lib64)\//, "/usr/$1/").slice(1);
      if (!this.#entries.has(inImage)) this.program(file, inImage);
    }
    return this;
  }

  /** The entries with folders before their contents. */
  entries(): TarEntry[] {
    return [...this.#entries.values()];
  }

  #add(entry: TarEntry): this {
    if (posix.dirname(entry.path) !== ".") this.folder(posix.dirname(entry.path));
    this.#entries.set(entry.path, entry);
    return this;
  }

  /** Follows symbolic links as a process inside the root file system would. */
  #resolve(path: string): string {
    let current = path;
    for (let hops = 0; hops < 20; hops++) {
      try {
        current = posix.resolve(dirname(current), readlinkSync(join(this.#rootfs, current)));
      } catch {
        return join(this.#rootfs, current);
      }
    }
    throw new Error(`${path}: too many symbolic links in ${this.#rootfs}`);
  }
}
