import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Clock } from "@capstan/apimachinery";
import type { CredentialSource, Credentials } from "../transport/client-config.ts";
import type { FileOrData } from "./types.ts";

/** Files are read again this often: service-account tokens and client certificates rotate while a process runs. */
const REREAD_MS = 60_000;

/** Where each part of the credentials comes from. */
export interface FileCredentialParts {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly basic?: Credentials["basic"];
  readonly certificate?: FileOrData | undefined;
  readonly key?: FileOrData | undefined;
}

/** Credentials from a kubeconfig's fields and files. As in client-go, a token file takes precedence over a token. */
export class FileCredentials implements CredentialSource {
  readonly #parts: FileCredentialParts;
  readonly #clock: Clock;
  #current: { credentials: Credentials; readAt: number } | undefined;

  constructor(parts: FileCredentialParts, clock: Clock) {
    this.#parts = parts;
    this.#clock = clock;
  }

  async get(): Promise<Credentials> {
    const current = this.#current;
    if (current !== undefined && this.#clock.monotonic() - current.readAt < REREAD_MS) return current.credentials;
    try {
      const credentials = await this.#read();
      if (current !== undefined && !fits(credentials, current.credentials)) return current.credentials;
      this.#current = { credentials, readAt: this.#clock.monotonic() };
      return credentials;
    } catch (error) {
      // A file that vanishes for a moment during rotation must not stop a running process.
      if (current !== undefined) return current.credentials;
      throw error;
    }
  }

  invalidate(used: Credentials): boolean {
    // Kept, for the case that the files cannot be read just now, but not to be trusted any longer.
    if (this.#current?.credentials === used) this.#current.readAt = Number.NEGATIVE_INFINITY;
    const { tokenFile, certificate } = this.#parts;
    return tokenFile !== undefined || (certificate !== undefined && "path" in certificate);
  }

  async #read(): Promise<Credentials> {
    const { token, tokenFile, basic, certificate, key } = this.#parts;
    const [fromFile, certPem, keyPem] = await Promise.all([
      tokenFile === undefined ? undefined : readFile(tokenFile, "utf8"),
      readFileOrData(certificate),
      readFileOrData(key),
    ]);
    return {
      token: fromFile === undefined || fromFile.trim() === "" ? token : fromFile.trim(),
      basic,
      certPem,
      keyPem,
    };
  }
}

/** Whether new files can be used: certificate and key are two, and are seldom replaced in the same moment. */
function fits(next: Credentials, current: Credentials): boolean {
  if (next.certPem === current.certPem && next.keyPem === current.keyPem) return true;
  if (next.certPem === undefined || next.keyPem === undefined) return false;
  try {
    return new X509Certificate(next.certPem).checkPrivateKey(createPrivateKey(next.keyPem));
  } catch {
    // Half written.
    return false;
  }
}

/** Returns inline data, or the content of the file. */
export async function readFileOrData(source: FileOrData | undefined): Promise<string | undefined> {
  if (source === undefined) return undefined;
  return "data" in source ? source.data : await readFile(source.path, "utf8");
}
