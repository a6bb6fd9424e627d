import type { SessionInfo } from "@capstan/dashboard-server";
import { useQuery } from "@tanstack/react-query";
import { request } from "./request.ts";

/** Who is signed in; throws RequestError 401 when nobody is. */
export function readSession(): Promise<SessionInfo> {
  return request<SessionInfo>("/auth/session");
}

/** Signs in with what a person has: the code of a one-time link, a token, or the browser's client certificate. */
export function signIn(
  credentials: { code: string } | { token: string } | { certificate: true },
): Promise<SessionInfo> {
  return request<SessionInfo>("/auth/session", { method: "POST", body: credentials });
}

export async function signOut(): Promise<void> {
  await request("/auth/session", { method: "DELETE" });
}

/** Who is signed in, once that is known. */
export function useSession(): SessionInfo | undefined {
  return useQuery({ queryKey: ["session"], queryFn: readSession }).data;
}
