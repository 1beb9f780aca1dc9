import { Lexer, Parser } from 'yaml';

/** How many collections may be within each other. What composes a document calls itself for each, and would take the stack. */
export const deepestYaml = 100;

/**
 * Where YAML text is nested more deeply than `deepestYaml`, as an offset; undefined where it is not. Never throws.
 * `onNewLine` hears the offset at which each line up to there begins.
 */
export function offsetOfTooDeep(
  text: string,
  onNewLine: (offset: number) => void = () => undefined,
): number | undefined {
  // Below those that are within each other is the document, and on top of them the scalar that is being read.
  const mostTokens = deepestYaml + 2;
  const parser = new Parser(onNewLine);
  onNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser;
    // What it makes of the text is of no use here, but it only goes on when it is taken.
    Array.from(parser.next(lexeme));
    if (parser.stack.length > mostTokens) return offset;
  }
  return undefined;
}
