/** Values of the variables below. */
export const VALUES: Record<string, string> = {
  A: "alpha/beta.gamma",
  B: "Hello",
  U: "ärger",
  EMPTY: "",
  P: "a.b.c",
};

/** Templates whose every line both programs must fill alike. */
export const TEMPLATES: readonly string[] = [
  "${A}",
  "$A $${A} $$ $",
  "${ A } ${A } ${ A}",
  "${NONE:=x} ${NONE1:-y} ${NONE2=z}",
  "${NONE3:=${B}-${P}}",
  "${EMPTY:=filled}",
  "${NONE4:?x} ${NONE5:+y}",
  "${B^^} ${B,,} ${B,} ${B^}",
  "${U^} ${#U} ${U:2}",
  "${B:1} ${B:1:2} ${B:1:99} ${B:9} ${B:-2}",
  "${B:x} ${B:1:y} ${B: -2}",
  "${A#*a} ${A##*a} ${A%a*} ${A%%a*}",
  "${P#*.} ${P##*.} ${P%.*} ${P%%.*}",
  "${P#[a-z].} ${P#?.} ${P#z} ${P#[^b].}",
  "${P%?} ${P%[a-c]} ${P###}",
  "${A/a/X} ${A//a/X} ${A/#al/X} ${A/%ma/X} ${A/a/} ${A//a/}",
  "${A/alpha\\/b/X} ${A/a//X}",
  "${A/${NONE6:=alpha}/${B}}",
  "${#B} ${#A}",
];

/** What neither takes. */
export const BROKEN_TEMPLATES: readonly string[] = [
  "${",
  "${A",
  "${A-b}",
  "${A/b}",
  "${A#}",
  "${B::2}",
  "${A/a${B}/c}",
];
