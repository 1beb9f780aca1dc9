/**
 * An ACP agent that means harm: what it does is the first word of its prompt. Plain `node` runs it after compilation; it
 * speaks the protocol by hand, since no library would let it do this.
 */
import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Id = string | number;

const session = `hostile-${process.pid}`;

let written = 0;

function write(data: string | Uint8Array): void {
  let rest = typeof data === 'string' ? Buffer.from(data) : data;
  written += rest.length;
  while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
}

function send(message: object): void {
  write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function update(what: object): string {
  const params = { sessionId: session, update: what };
  return `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}\n`;
}

const chunk = (text: string): string =>
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

/** Writes events as fast as the file takes them; half of them tool calls, which nothing joins. */
function flood(untilMs: number): void {
  const call = (n: number): string => update({ sessionUpdate: 'tool_call', toolCallId: `${n}`, title: 'x' });
  const some = Array.from({ length: 2000 }, (_, n) => (n % 2 ? chunk('y') : call(n))).join('');
  for (let bytes = 0; Date.now() < untilMs && bytes < 40 * 1024 * 1024; bytes += some.length) write(some);
}

// Not really without end: a test that fails must not fill the machine.
function endless(): void {
  flood(Date.now() + 50);
  if (written < 2048 * 1024 * 1024) setTimeout(endless, 1);
}

const lines = createInterface({ input: process.stdin });

const acts: Readonly<Record<string, (id: Id) => void>> = {
  bigLine: (id) => {
    const mega = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 200; n++) write(mega);
    write('\n');
    write(chunk('that was a line'));
    end(id);
  },
  notUtf8: (id) => {
    write(Uint8Array.of(0xff, 0xfe, 0xc3, 0x28, 10));
    const text = Buffer.from(chunk('a#b'));
    text[text.indexOf('#')] = 0xff;
    write(text);
    end(id);
  },
  flood: (id) => {
    flood(Date.now() + 3000);
    write(chunk('the end'));
    end(id);
  },
  deaf: (id) => {
    end(id);
    lines.pause();
    process.stdin.pause();
  },
  fork: (id) => {
    const stubborn = 'trap "" TERM HUP INT; while :; do sleep 1; done';
    for (let n = 0; n < 10; n++)
      spawn('/bin/sh', ['-c', stubborn], { stdio: 'ignore', detached: n % 2 === 0 }).unref();
    write(chunk('they live'));
    end(id);
  },
  torn: () => {
    write(chunk('I was saying').slice(0, -20));
    process.exit(1);
  },
  liar: (id) => {
    for (const wrong of ['prompt:trn_01M8P5CV0X0323KSPXZ49FY0WX', 'stemma:session/new', 17, ''])
      send({ id: wrong, result: { stopReason: 'end_turn' } });
    send({ id: 99, error: { code: 1, message: 'no' } });
    setTimeout(() => {
      write(chunk('the truth'));
      end(id);
    }, 500);
  },
  endless: (id) => {
    write(chunk('done'));
    end(id);
    setTimeout(endless, 10);
  },
  silent: () => {
    write(chunk('I go'));
    closeSync(1);
  },
  hello: (id) => {
    write(chunk('hello'));
    end(id);
  },
};

function end(id: Id): void {
  send({ id, result: { stopReason: 'end_turn' } });
}

lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as {
    id?: Id;
    method?: string;
    params?: { prompt?: { text: string }[] };
  };
  if (id === undefined) return;
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === 'session/new') send({ id, result: { sessionId: session } });
  if (method !== 'session/prompt') return;
  const [word = ''] = (params?.prompt?.[0]?.text ?? '').split(/\s/);
  (acts[word] ?? acts['hello'])?.(id);
});
setInterval(() => undefined, 60_000);
