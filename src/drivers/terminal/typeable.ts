/** A text without what a terminal would take for keys: an escape within it would end the paste. */
export function typeable(text: string): string {
  const isKey = (character: string): boolean => {
    const code = character.charCodeAt(0);
    return (code < 0x20 && character !== '\n' && character !== '\t') || (code >= 0x7f && code <= 0x9f);
  };
  return Array.from(text.replace(/\r\n?/g, '\n'))
    .filter((character) => !isKey(character))
    .join('');
}
