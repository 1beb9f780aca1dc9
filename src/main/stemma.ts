#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { processDeps } from '../cli/process-deps.ts';
import { runCli } from '../cli/program.ts';
import { tellCrashes } from './crash.ts';
import type { Installation } from './server.ts';
import { packageFile, packageVersion } from './version.ts';

const argv = process.argv.slice(2);
const process_ = processDeps(fileURLToPath(import.meta.url));
const installation: Installation = {
  self: process_.self,
  examplesDirectory: packageFile('examples'),
  pageDirectory: packageFile('dist', 'web'),
  onLog: tellCrashes(argv).logTo,
};

// A command that only asks a server has no use for the server's own parts: they are loaded when they are.
process.exitCode = await runCli(argv, {
  ...process_,
  version: await packageVersion(),
  examplesDirectory: installation.examplesDirectory,
  startServer: async (options) => (await import('./server.ts')).startServer(options, installation),
  runDemoAgent: async (args) => (await import('../drivers/demo/demo-agent.ts')).runDemoAgent(args),
  checkAgentOffline: async (request) =>
    (await import('./check-agent.ts')).checkAgentOffline(request, installation),
  scheduleFacts: async (request) =>
    (await import('./schedule-facts.ts')).scheduleFactsOffline(request, installation),
  checkWorkflows: async (request) =>
    (await import('./check-workflows.ts')).checkWorkflowsOffline(request, installation),
  lookAtDatabase: async (url) => (await import('../store/postgres/look.ts')).lookAtPostgres(url),
  listAgentsOffline: async (request) =>
    (await import('./check-agent.ts')).listAgentsOffline(request, installation),
});
