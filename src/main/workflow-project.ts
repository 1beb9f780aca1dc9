import { dirname, resolve } from 'node:path';
import { schedulesOf } from '../cli/schedule-file.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import type { WorkflowProject } from './workflow-reading.ts';

/** Where the workflow files are if nobody says: beside `stemma.yaml`. */
const usualDirectory = 'workflows';

/** The project of a configuration; `file`: where it stands, absolute. */
export function workflowProjectOf(config: ConfigFile, file: string): WorkflowProject {
  const directory = dirname(file);
  const { project } = schedulesOf(config, file);
  return { project, directory, workflows: resolve(directory, config.workflows ?? usualDirectory) };
}
