/** The demo agent as a program of its own, for tests that run it from the sources; `stemma demo-agent` is the shipped one. */
import { runDemoAgent } from './demo-agent.ts';

process.exitCode = await runDemoAgent(process.argv.slice(2));
