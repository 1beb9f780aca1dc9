import { type ModelRequest, toolResults, userTexts } from './model-request.ts';
import { hasDirectives, parseSteps } from './script-language.ts';
import type { Script, Step } from './step.ts';

/**
 * What the model does when a text arrives that carries no directives of its own, above all a result that Stemma
 * delivers: that text may quote anything, so directives inside it are never obeyed.
 */
export interface Rule {
  /** A regular expression for the newest user text. */
  readonly when: string;
  /** Steps in the script language; `$1`, `$2` … stand for the groups of `when`. */
  readonly steps: string;
  /** How many texts the rule serves before it is used up. Without it: all. */
  readonly times?: number;
}

const deliveredHeader = /^\[stemma ntc_\S+ #\d+\] .*$/m;

/** The part of a text that its sender wrote as instructions: everything before the first delivered result. */
export function instructionsOf(text: string): string {
  const header = deliveredHeader.exec(text);
  return header ? text.slice(0, header.index) : text;
}

interface Running {
  readonly steps: readonly Step[];
  done: number;
}

/**
 * The script that obeys the prompts. The newest text of the running turn that a rule knows, or that has directives, is
 * the script; each request of the turn takes its next step. After the last one the model closes with a short text, but
 * a failure at the end of a script stands for all requests that follow, since agents retry.
 */
export function promptScript(rules: readonly Rule[] = []): Script {
  const running = new Map<string, Running>();
  const firstTexts = new Map<string, number>();
  const seenTexts = new Map<string, number>();
  const uses = new Map<Rule, number>();

  const stepsFor = (text: string): readonly Step[] | undefined => {
    const rule = rules.find(
      (r) => new RegExp(r.when, 'm').test(text) && (uses.get(r) ?? 0) < (r.times ?? Infinity),
    );
    if (rule) {
      uses.set(rule, (uses.get(rule) ?? 0) + 1);
      return parseSteps(fillGroups(rule, text));
    }
    const own = instructionsOf(text);
    return hasDirectives(own) ? parseSteps(own) : undefined;
  };

  // Texts of earlier turns are history, not instructions, also when their turn broke off half way.
  const firstTextOf = (request: ModelRequest, count: number): number => {
    const turn = request.turnId ?? 'none';
    const thread = request.threadId ?? 'none';
    const known = firstTexts.get(turn);
    const first = known ?? Math.min(seenTexts.get(thread) ?? 0, count - 1);
    firstTexts.set(turn, first);
    seenTexts.set(thread, count);
    return first;
  };

  return (request) => {
    const texts = userTexts(request);
    const first = firstTextOf(request, texts.length);
    for (let i = texts.length - 1; i >= Math.max(first, 0); i--) {
      const key = `${request.threadId ?? ''}/${request.turnId ?? ''}/${i}`;
      const known = running.get(key);
      const script = known ?? start(stepsFor(texts[i] ?? ''));
      if (!script) continue;
      running.set(key, script);
      return nextStep(script, request);
    }
    return { do: 'say', text: `Heard: ${(texts.at(-1) ?? '').slice(0, 200)}` };
  };
}

function start(steps: readonly Step[] | undefined): Running | undefined {
  return steps && { steps, done: 0 };
}

function nextStep(script: Running, request: ModelRequest): Step {
  const last = script.steps.at(-1);
  const next = script.steps[script.done++] ?? (last && isFailure(last) ? last : undefined);
  return next ? fillPlaceholders(next, request) : { do: 'say', text: 'The script is finished.' };
}

function isFailure(step: Step): boolean {
  return step.do === 'fail' || step.do === 'drop';
}

function fillGroups(rule: Rule, text: string): string {
  const match = new RegExp(rule.when, 'm').exec(text);
  return rule.steps.replace(/\$(\d)/g, (_, group: string) => match?.[Number(group)] ?? '');
}

/**
 * `{{lastResult}}` is the newest tool result, `{{result:REGEX}}` the newest match of REGEX in any tool result,
 * `{{heard}}` all user texts: so an answer can prove what the model was told.
 */
function fillPlaceholders(step: Step, request: ModelRequest): Step {
  const fill = (text: string): string =>
    text.replace(
      /\{\{(lastResult|heard|result:(.+?))\}\}/g,
      (_, what: string, pattern: string | undefined) => {
        const results = toolResults(request);
        if (what === 'heard') return userTexts(request).join(' | ');
        if (pattern === undefined) return results.at(-1) ?? '';
        return [...results.join('\n').matchAll(new RegExp(pattern, 'g'))].at(-1)?.[0] ?? '';
      },
    );
  if (step.do === 'say') return { ...step, text: fill(step.text) };
  if (step.do === 'shell') return { ...step, command: fill(step.command) };
  if (step.do !== 'call') return step;
  return { ...step, args: fillDeep(step.args, fill) as Readonly<Record<string, unknown>> };
}

function fillDeep(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((entry) => fillDeep(entry, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fillDeep(entry, fill)]));
}
