import type { ReactNode } from "react";

const NAMES: Readonly<Record<string, string>> = {
  byo: "Own hosts",
  metal3: "Bare metal",
  memory: "Memory",
  meta: "Mixed",
  openstack: "OpenStack",
  kvm: "KVM",
  kubernetes: "Pods",
};

/** Returns the display name of a provider. */
export function providerLabel(provider: string): string {
  return NAMES[provider] ?? provider;
}

/** The badge of a provider, with its own mark. */
export function ProviderBadge({ provider }: { provider: string }): ReactNode {
  return (
    <span className="provider" data-provider={provider}>
      {providerLabel(provider)}
    </span>
  );
}
