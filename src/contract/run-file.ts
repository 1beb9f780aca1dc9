import { z } from 'zod';
import { agentProfileInput } from './config-file.ts';
import { messageList } from './sequence.ts';
import { directoryPath, nameText } from './text.ts';

/** The file of `stemma run FILE`, and the body of `POST /runs`. */
export const runFile = z
  .strictObject({
    agent: nameText,
    cwd: directoryPath.optional(),
    name: nameText.optional(),
    messages: messageList,
    agents: z.record(nameText, agentProfileInput).optional(),
  })
  .meta({ id: 'RunFile', description: 'A sequence of messages for one agent.' });
export type RunFile = z.output<typeof runFile>;
/** What is written in the file, before parsing. */
export type RunFileInput = z.input<typeof runFile>;
