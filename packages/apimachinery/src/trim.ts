/** A text without the characters at its end that are `end`. A regular expression such as `/x+$/` takes quadratic time for runs elsewhere. */
export function trimEndOf(text: string, end: string): string {
  let length = text.length;
  while (length > 0 && text[length - 1] === end) length--;
  return text.slice(0, length);
}
