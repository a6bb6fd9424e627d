import type { ProviderInfo } from "@capstan/dashboard-server";
import type { ReactNode } from "react";
import { useProviders } from "../api/providers.ts";

/** Returns the display name of a provider; its short name when it is not loaded. */
export function providerLabel(provider: string, providers: readonly ProviderInfo[] | undefined): string {
  const found = providers?.find(({ name }) => name === provider);
  return found?.badge?.label ?? found?.title ?? provider;
}

/** Returns the colour that marks a provider, if it has one. */
export function providerColor(provider: string, providers: readonly ProviderInfo[] | undefined): string | undefined {
  return providers?.find(({ name }) => name === provider)?.badge?.color;
}

/** The badge of a provider, with its own mark. */
export function ProviderBadge({ provider }: { provider: string }): ReactNode {
  const providers = useProviders();
  const color = providerColor(provider, providers);
  return (
    <span className="provider" style={color === undefined ? undefined : { borderLeftColor: color }}>
      {providerLabel(provider, providers)}
    </span>
  );
}
