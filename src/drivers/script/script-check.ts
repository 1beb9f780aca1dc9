/*
 * The program under a check of the script driver: a shell that does what its prompt says. A program that reads a prompt
 * and answers can do less than an agent with a protocol, so a check asks it for less.
 */

/** How the program is asked for each behaviour; the keys are those of the check's `Prompts`. */
const prompts = {
  simple: 'check: simple',
  slow: 'check: slow',
  brief: 'check: brief',
  error: 'check: error',
  bigLine: 'check: bigLine',
} as const;

const program = `
read -r wanted
case "$wanted" in
  '${prompts.simple}') echo ready ;;
  '${prompts.slow}') echo begun; sleep 3; echo done ;;
  '${prompts.brief}') echo begun; sleep 1; echo done ;;
  '${prompts.error}') echo 'it broke off' >&2; exit 3 ;;
  '${prompts.bigLine}') head -c 1200000 /dev/zero | tr '\\0' x ;;
  *) echo "unknown: $wanted" >&2; exit 64 ;;
esac`;

/** What a check of the script driver is given besides it. */
export const scriptCheck = { command: ['/bin/sh', '-c', program], prompts } as const;

/** For a program that nobody wrote for a check: all that is known of it is that it answers a prompt. */
export const anyScriptPrompts = { simple: 'Answer with the single word: ready.' } as const;
