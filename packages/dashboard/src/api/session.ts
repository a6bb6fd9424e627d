import type { SessionInfo } from "@capstan/dashboard-server";
import { useQuery } from "@tanstack/react-query";
import { request } from "./request.ts";

/** Returns the signed-in user; throws RequestError 401 when there is none. */
export function readSession(): Promise<SessionInfo> {
  return request<SessionInfo>("/auth/session");
}

/** Signs in with the code of a one-time link, a token, or the browser's client certificate. */
export function signIn(
  credentials: { code: string } | { token: string } | { certificate: true },
): Promise<SessionInfo> {
  return request<SessionInfo>("/auth/session", { method: "POST", body: credentials });
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await request("/auth/session", { method: "DELETE" });
}

/** Returns the signed-in user; undefined until it is loaded. */
export function useSession(): SessionInfo | undefined {
  return useQuery({ queryKey: ["session"], queryFn: readSession }).data;
}
