/**
 * The beginning of every compiled script. Output passes a filter that hides secrets and keeps a copy, whose end goes into the report.
 * Helpers take what may be secret on standard input: arguments are visible to every process of the machine.
 */
export const PRELUDE = `#!/bin/bash
# The user data of one machine as a script. Runs as root. The first step that fails stops it; the file named in CAPSTAN_REPORT then
# has that step and the end of its output.
set -euo pipefail
umask 022
capstan_done=false
capstan_work=$(mktemp -d)
: > "$capstan_work/step"
cat > "$capstan_work/redact" << 'CAPSTAN_END'
s/\\b[a-z0-9]{6}\\.[a-z0-9]{16}\\b/***/g
s/-----BEGIN [A-Z ]*PRIVATE KEY-----.*-----END [A-Z ]*PRIVATE KEY-----/***/g
/-----BEGIN [A-Z ]*PRIVATE KEY-----/,/[^A-Za-z0-9+\\/=[:space:]]/s/.*/***/
s#(https?://[^:/[:space:]]+:)[^@/[:space:]]+@#\\1***@#g
s/((token|password|passwd|secret|certificate-?key|key-data|authorization)["']?[[:space:]]*[:=][[:space:]]*["']?((bearer|basic)[[:space:]]+)?)[^[:space:]"',]+/\\1***/Ig
s/(--([a-z-]*token|certificate-key|password)[[:space:]]+)[^[:space:]]+/\\1***/g
CAPSTAN_END

capstan_finish() {
  local code=$? tries name output
  trap - EXIT
  exec >&3 2>&4 3>&- 4>&-
  # A process that a step has left running may keep the input of the filter open.
  for ((tries = 0; tries < 200; tries++)); do
    kill -0 "$capstan_filter" 2> /dev/null || break
    sleep 0.01
  done
  if [ "$capstan_done" = false ] && [ -n "\${CAPSTAN_REPORT:-}" ]; then
    name=$(sed -E -f "$capstan_work/redact" "$capstan_work/step")
    output=$(tail -c 2048 "$capstan_work/output" | tr -d '\\0')
    # The cut may go through a character, so the line goes.
    if [ "$(stat -c %s "$capstan_work/output")" -gt 2048 ]; then output=\${output#*$'\\n'}; fi
    output=\${output##*"+ $name"}
    printf '"%s" exited with code %s\\n%s\\n' "$name" "$code" "\${output#$'\\n'}" > "$CAPSTAN_REPORT"
  fi
  rm -rf "$capstan_work"
  [ "$capstan_done" = true ] || exit $((code == 0 ? 1 : code))
}

exec 3>&1 4>&2
exec > >(exec sed -u -E -f "$capstan_work/redact" -e "w $capstan_work/output" >&3 3>&- 4>&-) 2>&1
capstan_filter=$!
trap capstan_finish EXIT

# NAME
capstan_step() {
  printf '%s\\n' "$1" > "$capstan_work/step"
  printf '+ %s\\n' "$1"
}

# NAME: runs the commands on standard input in one shell, as cloud-init does with bootcmd and runcmd.
capstan_commands() {
  {
    printf 'capstan_step() { printf "%%s\\\\n" "$1" > %s/step; printf "+ %%s\\\\n" "$1"; }\\n' "$capstan_work"
    printf 'capstan_check() { [ "$1" -eq 0 ] || exit "$1"; }\\n'
    cat
  } > "$capstan_work/$1"
  /bin/sh "$capstan_work/$1" < /dev/null 3>&- 4>&-
}

# PATH MODE OWNER: base64 is on standard input.
capstan_write() {
  capstan_folder "$1"
  (umask 077 && base64 -d > "$1")
  capstan_own "$@"
}

# PATH MODE OWNER: base64 of what gzip has packed is on standard input.
capstan_unpack() {
  capstan_folder "$1"
  (umask 077 && base64 -d | gzip -d > "$1")
  capstan_own "$@"
}

# PATH MODE OWNER: base64 is on standard input.
capstan_append() {
  capstan_folder "$1"
  (umask 077 && base64 -d >> "$1")
  capstan_own "$@"
}

# PATH: makes the folder that the path is in.
capstan_folder() {
  mkdir -p -- "$(dirname -- "$1")"
}

# PATH MODE OWNER
capstan_own() {
  chmod -- "$2" "$1"
  [ -z "$3" ] || chown -- "$3" "$1"
}

# NAME [OPTION...]
capstan_group() {
  getent group "$1" > /dev/null || groupadd "\${@:2}" "$1"
}

# USER: SSH keys are on standard input.
capstan_keys() {
  local home group file key
  home=$(getent passwd "$1" | cut -d: -f6)
  group=$(id -gn "$1")
  file=$home/.ssh/authorized_keys
  [ -d "$home/.ssh" ] || install -d -m 700 -o "$1" -g "$group" "$home/.ssh"
  touch "$file"
  while IFS= read -r key; do
    grep -qxF -e "$key" "$file" || printf '%s\\n' "$key" >> "$file"
  done
  chmod 600 "$file"
  chown "$1:$group" "$file"
}

# Sudo rules are on standard input.
capstan_sudo() {
  mkdir -p -m 750 /etc/sudoers.d
  (umask 227 && cat >> /etc/sudoers.d/90-cloud-init-users)
}

# UNIT: what a unit prints is in the journal only.
capstan_start() {
  [ -d /run/systemd/system ] || return 0
  systemctl start "$1" || {
    journalctl --unit "$1" --output cat --no-pager --lines 50 || true
    return 1
  }
}
`;
