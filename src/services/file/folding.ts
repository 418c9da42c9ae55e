// Names without regard to case: two are the same if they are equal in upper case, as Windows has it: each
// character by itself, by its simple mapping and for no language in particular.

/** Their capitals are those of other letters: folded, they would be taken for them. */
const unfolded = /[\u0131\u017f]/;

export function fold(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name.toUpperCase();
  let folded = '';
  for (const character of name) {
    const upper = character.toUpperCase();
    // One that becomes several, such as the sharp s, has no simple capital.
    folded += upper.length === character.length && !unfolded.test(character) ? upper : character;
  }
  return folded;
}
