import type { ObjectItem } from "@capstan/dashboard-server";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { request } from "../api/request.ts";

/** Checks with the API whether the signed-in user may do something, so that buttons that would only fail are not offered. */
export function useAllowed(verb: string, group: string, resource: string, namespace: string, name?: string): boolean {
  const { data } = useQuery({
    queryKey: ["allowed", verb, group, resource, namespace, name],
    staleTime: 30_000,
    queryFn: async () => {
      const review = await request<{ status?: { allowed?: boolean } }>(
        "/k8s/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        {
          method: "POST",
          body: {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SelfSubjectAccessReview",
            metadata: {},
            spec: { resourceAttributes: { verb, group, resource, namespace, name } },
          },
        },
      );
      return review.status?.allowed === true;
    },
  });
  return data === true;
}

interface AllowedProps {
  readonly verb: string;
  readonly item: ObjectItem;
  readonly children: (allowed: boolean) => ReactNode;
}

/** Passes its children whether the user may do this to the object. */
export function Allowed({ verb, item, children }: AllowedProps): ReactNode {
  const group = item.apiVersion.split("/")[0] ?? "";
  return children(useAllowed(verb, group, item.plural, item.namespace, item.name));
}
