import { z } from 'zod';
import { agentProfileInput } from './config-file.ts';
import { budget } from './budget.ts';
import { messageList } from './sequence.ts';
import { directoryPath, nameText } from './text.ts';
import { workspaceMode } from './workspace-mode.ts';

/** The file of `stemma run FILE`, and the body of `POST /runs`. */
export const runFile = z
  .strictObject({
    agent: nameText,
    cwd: directoryPath.optional(),
    name: nameText.optional(),
    messages: messageList,
    budget: budget.optional().meta({ description: 'Of the whole run: each message gets what is left.' }),
    templates: z.boolean().optional().meta({
      description:
        'Fills in {{scheduledFor}}, {{date}}, {{previous.result}}, {{env.NAME}} and {{file:PATH}} in each message when it is sent. Left out, texts stay as they are.',
    }),
    workspace: workspaceMode.optional().meta({
      description:
        'Where it works: in cwd alone (exclusive), in a git worktree, in an empty directory of its own (scratch), or in cwd beside others (shared). Left out, it works in cwd and waits for nobody.',
    }),
    agents: z.record(nameText, agentProfileInput).optional(),
  })
  .meta({ id: 'RunFile', description: 'A sequence of messages for one agent.' });
export type RunFile = z.output<typeof runFile>;
/** What is written in the file, before parsing. */
export type RunFileInput = z.input<typeof runFile>;
