const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** How `kubectl create clusterrolebinding` names a user. */
export function subjectOf(user: string): string {
  const [, namespace, name] = ACCOUNT.exec(user) ?? [];
  if (namespace !== undefined) return `--serviceaccount=${namespace}:${name}`;
  return `--user=${/^[\w@%+=:,./-]+$/.test(user) ? user : `'${user.replaceAll("'", "'\\''")}'`}`;
}
