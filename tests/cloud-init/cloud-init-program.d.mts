/** Where Debian's cloud-init is, unpacked; and the Python that runs it. */
export function ensureCloudInit(): { python: string; modules: string };
