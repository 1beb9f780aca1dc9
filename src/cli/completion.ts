import type { Command } from 'commander';

/** The shells that there is a completion for. */
export const shells = ['bash', 'zsh', 'fish'] as const;
/** One of them. */
export type Shell = (typeof shells)[number];

/** A word that can come next, and what it is for. */
interface Word {
  readonly text: string;
  readonly about: string;
}

/** What can come behind some verbs: ` workflow run` has a place of its own. The first place is '', before any verb. */
interface Place {
  readonly at: string;
  readonly words: readonly Word[];
  /** Of options that take one of some values: which. */
  readonly values: readonly { readonly option: string; readonly choices: readonly string[] }[];
}

/** A script that a shell reads to complete the command line of this program, made from its verbs and options. */
export function completionScript(shell: Shell, program: Command): string {
  const places = placesOf(program, program, '');
  const write = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell];
  return `${write(places).trim()}\n`;
}

function placesOf(program: Command, command: Command, at: string): Place[] {
  const help = command.createHelp();
  const children = help.visibleCommands(command);
  // What every verb takes can stand behind any of them.
  const options = [...new Set([...help.visibleOptions(command), ...help.visibleOptions(program)])];
  const given = command.registeredArguments[0]?.argChoices ?? [];
  const words: Word[] = [
    ...children.map((child) => ({ text: child.name(), about: firstClause(child.description()) })),
    ...given.map((text) => ({ text, about: '' })),
    ...options.map(({ long, short, description }) => ({
      text: long ?? short ?? '',
      about: firstClause(description),
    })),
  ];
  const values = options.flatMap(({ long, argChoices }) =>
    long && argChoices ? [{ option: long, choices: argChoices }] : [],
  );
  const seen = new Set<string>();
  const own = words.filter(({ text }) => text !== '' && !seen.has(text) && seen.add(text));
  return [
    { at, words: own, values },
    ...children.flatMap((child) => placesOf(program, child, `${at} ${child.name()}`)),
  ];
}

function firstClause(text: string): string {
  return text.split(/[;:(]/, 1)[0]?.trim() ?? '';
}

/** One text for a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function pathPattern(places: readonly Place[]): string {
  return places
    .filter(({ at }) => at !== '')
    .map(({ at }) => quoted(at))
    .join(' | ');
}

// Where nothing of it fits, bash completes names of files (`-o default`).
function bashScript(places: readonly Place[]): string {
  const words = places.map(
    ({ at, words: own }) => `    ${quoted(at)}) words=${quoted(own.map(({ text }) => text).join(' '))} ;;`,
  );
  const values = places.flatMap(({ at, values: own }) =>
    own.map(
      ({ option, choices }) =>
        `    ${quoted(`${at} ${option}`)}) words=${quoted(choices.join(' '))}; values=1 ;;`,
    ),
  );
  return `
# stemma completion for bash: eval "$(stemma completion bash)"
_stemma() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}"
  local at='' words='' values='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${pathPattern(places)}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${words.join('\n')}
  esac
  case "$at $before" in
${values.join('\n')}
  esac
  # Options are many; they are shown to whoever begins one.
  local word shown=''
  for word in $words; do
    if [[ -n $values || $current == -* || $word != -* ]]; then shown+=" $word"; fi
  done
  COMPREPLY=($(compgen -W "$shown" -- "$current"))
}
complete -o default -F _stemma stemma`;
}

function zshScript(places: readonly Place[]): string {
  const describe = ({ text, about }: Word): string =>
    quoted(`${text.replaceAll(':', '\\:')}${about === '' ? '' : `:${about}`}`);
  const words = places.map(
    ({ at, words: own }) => `    (${quoted(at)}) found=(${own.map(describe).join(' ')}) ;;`,
  );
  const values = places.flatMap(({ at, values: own }) =>
    own.map(
      ({ option, choices }) =>
        `    (${quoted(`${at} ${option}`)}) found=(${choices.map(quoted).join(' ')}) ;;`,
    ),
  );
  return `
#compdef stemma
# stemma completion for zsh: a file _stemma in a directory of $fpath, or: source <(stemma completion zsh)
_stemma() {
  local at='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${pathPattern(places)}) at="$at $word" ;;
    esac
  done
  case "$at" in
${words.join('\n')}
  esac
  case "$at \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  _describe 'stemma' found || _files
}
if [[ $funcstack[1] == _stemma ]]; then _stemma "$@"; else compdef _stemma stemma; fi`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ at, words, values }) => {
    const here = `-n ${fishQuoted(`__stemma_at ${fishQuoted(at)}`)}`;
    const choicesOf = (name: string): readonly string[] | undefined =>
      values.find(({ option }) => option === name)?.choices;
    return words.map(({ text, about }) => {
      const is = text.startsWith('--') ? `-l ${text.slice(2)}` : `-a ${fishQuoted(text)}`;
      const choices = choicesOf(text);
      const takes = choices ? ` -x -a ${fishQuoted(choices.join(' '))}` : '';
      return `complete -c stemma ${here} ${is}${takes} -d ${fishQuoted(about)}`;
    });
  });
  const paths = places
    .filter(({ at }) => at !== '')
    .map(({ at }) => fishQuoted(at))
    .join(' ');
  return `
# stemma completion for fish: stemma completion fish | source
function __stemma_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${paths}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
