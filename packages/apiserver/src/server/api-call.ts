import type { UserInfo } from "@capstan/apimachinery";
import type { RequestBody } from "./body.ts";

/** One request on its way through the server, wherever it came from. */
export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Known already for calls in process. */
  readonly user?: UserInfo;
  readonly clientCertificate?: Uint8Array;
  /** A client certificate was shown that no accepted authority signed. */
  readonly badCertificate?: boolean;
  readonly sourceAddress?: string;
  /** The same in the answer's header and in the audit log. */
  readonly auditId?: string;
  /** Called when credentials were accepted: the connection is authenticated from now on. */
  authenticated?(): void;
  /** Reads the body; at most once, and never before the request is authorized. */
  body(): RequestBody | Promise<RequestBody>;
  /** Texts for `Warning: 299` headers. */
  readonly warnings: string[];
  warn(text: string): void;
}
