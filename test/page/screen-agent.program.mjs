#!/usr/bin/env node
// An agent at its own screen, as the driver `terminal` needs one: a composer, a hook when it is there, the list of our tools.
// What is typed is told back; `lines N` prints N lines, `say HEX` prints these bytes.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const valueOf = (name) => process.argv[process.argv.indexOf(name) + 1];
const rule = '─'.repeat(30);
const prompt = () => process.stdout.write(`\r\n${rule}\r\n❯ \r\n${rule}\r\n\x1b[2A\x1b[3G`);
const print = (bytes) => {
  // The composer is drawn anew below what is printed.
  process.stdout.write('\x1b[1A\r\x1b[J');
  process.stdout.write(bytes);
  prompt();
};

process.stdin.setRawMode?.(true);
process.stdout.write(`ready ${process.stdout.columns}x${process.stdout.rows}`);
prompt();
process.stdout.on('resize', () => print(`size ${process.stdout.columns}x${process.stdout.rows}`));

let line = '';
process.stdin.on('data', (data) => {
  for (const char of data.toString('utf8')) {
    if (char !== '\r') {
      line += char;
      process.stdout.write(char);
      continue;
    }
    const [, count] = /^lines (\d+)$/.exec(line) ?? [];
    const [, hex] = /^say ([0-9a-f]+)$/.exec(line) ?? [];
    if (count) print(Array.from({ length: Number(count) }, (_, n) => `line ${n + 1}`).join('\r\n'));
    else if (hex) print(Buffer.from(hex, 'hex'));
    else print(`typed ${line}`);
    line = '';
  }
});

const { hooks } = JSON.parse(readFileSync(valueOf('--settings'), 'utf8'));
const hook = hooks.SessionStart[0].hooks[0].command;
spawnSync('/bin/sh', ['-c', hook], { input: '{"hook_event_name":"SessionStart","source":"startup"}' });
const { url, headers } = JSON.parse(readFileSync(valueOf('--mcp-config'), 'utf8')).mcpServers.stemma;
const call = (id, method, params) =>
  fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  }).then((response) => response.text());
await call(1, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'screen-agent', version: '1' },
});
await call(2, 'tools/list', {});
