#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { processDeps } from '../cli/process-deps.ts';
import { runCli } from '../cli/program.ts';
import { runDemoAgent } from '../drivers/demo/demo-agent.ts';
import { checkAgentOffline, listAgentsOffline } from './check-agent.ts';
import { startServer } from './server.ts';
import { packageFile, packageVersion } from './version.ts';

const process_ = processDeps(fileURLToPath(import.meta.url));
const installation = {
  self: process_.self,
  examplesDirectory: packageFile('examples'),
  pageDirectory: packageFile('web', 'public'),
};

process.exitCode = await runCli(process.argv.slice(2), {
  ...process_,
  version: await packageVersion(),
  examplesDirectory: installation.examplesDirectory,
  startServer: (options) => startServer(options, installation),
  runDemoAgent,
  checkAgentOffline: (request) => checkAgentOffline(request, installation),
  listAgentsOffline: (request) => listAgentsOffline(request, installation),
});
