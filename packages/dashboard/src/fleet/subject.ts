const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Returns the flag of `kubectl create clusterrolebinding` that names a user or service account. */
export function subjectOf(user: string): string {
  const [, namespace, name] = ACCOUNT.exec(user) ?? [];
  if (namespace !== undefined) return `--serviceaccount=${namespace}:${name}`;
  return `--user=${/^[\w@%+=:,./-]+$/.test(user) ? user : `'${user.replaceAll("'", "'\\''")}'`}`;
}
