import { Argument } from 'commander';
import { completionScript, shells } from '../completion.ts';
import { exitCodes } from '../exit.ts';
import type { Registrar } from '../verb.ts';

/** `stemma completion bash | zsh | fish`. */
export function addCompletionVerb({ program, verb }: Registrar): void {
  program
    .command('completion')
    .description('print what makes your shell complete verbs and options: eval "$(stemma completion bash)"')
    .addArgument(new Argument('<shell>', 'the shell that reads it').choices(shells))
    .action(
      verb((context, [said]) => {
        const shell = shells.find((each) => each === said) ?? 'bash';
        const script = completionScript(shell, program);
        if (context.isJson) context.document({ shell, script });
        else context.data(script.trimEnd());
        return Promise.resolve(exitCodes.ok);
      }),
    );
}
