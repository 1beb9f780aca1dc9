import type { Prompts } from '../../src/drivers/conformance/prompts.ts';

/**
 * How a real agent on the scripted model is told to do what the cases ask for. What is missing nobody can make a real
 * program do: to write garbage, to end a turn twice, to read nothing any more.
 */
export const scriptedPrompts: Prompts = {
  simple: '[[say ready]]',
  toolCall: '[[tool echo {"text":"check"}]] [[say done]]',
  slow: '[[slow 5]]',
  brief: '[[slow 1 one two three four five]]',
  slowTool: '[[tool slow {"ms":2000}]] [[say waited]]',
  steered: '[[tool echo {"text":"steered"}]] [[say heard]]',
  background: '[[background sleep 2; echo finished]] [[say left it running]]',
  question: '[[escalate touch asked]] [[say went on]]',
  error: '[[fail 400]]',
  usageLimit: '[[fail 429 resets=600]]',
  signIn: '[[fail 401]]',
};
