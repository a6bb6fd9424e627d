/** Each asks `capstan __complete` and knows two directives: `:files` and `:directories`. */
const BASH = `# bash completion of capstan
_capstan() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line value
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # A word with = or : is several words to bash; only the last part is replaced.
  COMPREPLY=()
  while IFS= read -r line; do
    value="\${line%%$'\\t'*}"
    case "$value" in
      :files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$cur")) ;;
      :directories) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$cur")) ;;
      "$cur"*) COMPREPLY+=("$value") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _capstan capstan
`;

const ZSH = `#compdef capstan
# zsh completion of capstan
_capstan() {
  local line value text
  local -a found
  while IFS= read -r line; do
    value="\${line%%$'\\t'*}"
    text="\${line#*$'\\t'}"
    case "$value" in
      :files) _files ;;
      :directories) _files -/ ;;
      *) [[ "$text" == "$value" ]] && found+=("\${value//:/\\\\:}") || found+=("\${value//:/\\\\:}:$text") ;;
    esac
  done < <("\${words[1]}" __complete -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe capstan found
}
if [ "$funcstack[1]" = "_capstan" ]; then _capstan "$@"; else compdef _capstan capstan; fi
`;

const FISH = `# fish completion of capstan
function __capstan_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (capstan __complete -- $words[2..-1] 2>/dev/null)
    switch $line
      case ':files'
        __fish_complete_path (commandline -ct)
      case ':directories'
        __fish_complete_directories (commandline -ct)
      case '*'
        echo $line
    end
  end
end
complete -c capstan -f -a '(__capstan_complete)'
`;

/** Returns the completion script of a shell; undefined when the shell is not supported. */
export function completionScript(shell: string): string | undefined {
  return { bash: BASH, zsh: ZSH, fish: FISH }[shell];
}
