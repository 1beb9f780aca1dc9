import type { Clock } from '../base/clock.ts';
import type { SessionId } from '../base/ids.ts';
import { Serial } from '../base/serial.ts';
import { readProcess } from '../processes/process-table.ts';
import { ControlClient } from './control-client.ts';
import { type ScreenLine, ScreenModel } from './screen-model.ts';
import { readSeed, seedCommands } from './seed.ts';
import type { Tmux } from './tmux.ts';

/** So much may wait to be drawn before tmux is not listened to for a while. */
const mostWaitingBytes = 1024 * 1024;
/** A size may change while it is being read. */
const mostSeedings = 5;

/**
 * What a terminal of ours shows, drawn again in memory from what its program writes: it is seeded with the screen as it is,
 * then fed, and seeded anew whenever something was missed or the size has changed. It begins with the first look, keeps one
 * screen and no history, and ends with the terminal or when it is ended.
 */
export class Mirror {
  readonly #tmux: Tmux;
  readonly #owner: SessionId;
  readonly #clock: Clock;
  readonly #looking = new Serial();
  #client: ControlClient | undefined;
  #model: ScreenModel | undefined;
  #isInDoubt = true;
  #isEnded = false;

  constructor(tmux: Tmux, owner: SessionId, clock: Clock) {
    this.#tmux = tmux;
    this.#owner = owner;
    this.#clock = clock;
  }

  /** The lines of the screen as it is at the time of the call or later; undefined when there is no terminal. */
  look(): Promise<readonly ScreenLine[] | undefined> {
    return this.#looking.run(() => this.#look());
  }

  end(): void {
    this.#isEnded = true;
    this.#forget();
  }

  async #look(): Promise<readonly ScreenLine[] | undefined> {
    for (let i = 0; i < mostSeedings; i++) {
      const client = await this.#connected();
      if (!client) return undefined;
      if (this.#isInDoubt) this.#seed(client);
      // Its answer comes behind everything that was written before.
      const size = await sizeAt(client, this.#owner);
      const model = this.#model;
      if (size === undefined || !model) continue;
      await model.write('');
      if (this.#isEnded) return undefined;
      const { columns, rows } = model.size;
      if (!this.#isInDoubt && size === `${columns} ${rows}`) return model.lines();
      this.#isInDoubt = true;
    }
    return undefined;
  }

  async #connected(): Promise<ControlClient | undefined> {
    if (this.#client && !this.#client.isOver) return this.#client;
    this.#forget();
    const program = await this.#tmux.program();
    if (program === undefined || this.#isEnded) return undefined;
    await this.#endOrphans();
    const client = new ControlClient(this.#tmux, program, this.#owner, this.#clock, {
      onOutput: (bytes) => this.#feed(client, bytes),
      onDoubt: () => {
        this.#isInDoubt = true;
      },
    });
    this.#client = client;
    if (await client.attached) return client;
    this.#forget();
    return undefined;
  }

  /**
   * Ends the clients that a killed process of ours has left. tmux keeps one whose last output nobody took, and then stays itself
   * when nothing runs in it any more.
   */
  async #endOrphans(): Promise<void> {
    const format = '#{client_control_mode} #{client_pid}';
    const listed = await this.#tmux.run(['list-clients', '-t', `=${this.#owner}`, '-F', format]);
    for (const line of listed.ok ? listed.output.split('\n') : []) {
      const [isControl, pid] = line.split(' ').map(Number);
      if (isControl !== 1 || !pid || readProcess(pid)?.parentPid === process.pid) continue;
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
  }

  #seed(client: ControlClient): void {
    this.#isInDoubt = false;
    client.ask(seedCommands(`=${this.#owner}:`), (answers) => {
      const seed = answers && readSeed(answers);
      if (!seed || this.#isEnded || client.isOver) return client.end();
      // What was fed before is drawn over.
      this.#model ??= new ScreenModel(seed.size);
      this.#model.resize(seed.size);
      void this.#model.write(seed.bytes);
    });
  }

  /** False when it has to wait. What comes before the seed is in it. */
  #feed(client: ControlClient, bytes: Buffer): boolean {
    const model = this.#model;
    if (!model) return true;
    const drawn = model.write(bytes);
    if (model.waitingBytes <= mostWaitingBytes) return true;
    void drawn.then(() => client.goOn());
    return false;
  }

  #forget(): void {
    this.#client?.end();
    this.#client = undefined;
    this.#model?.end();
    this.#model = undefined;
    this.#isInDoubt = true;
  }
}

function sizeAt(client: ControlClient, owner: SessionId): Promise<string | undefined> {
  const command = `display-message -p -t =${owner}: '#{pane_width} #{pane_height}'`;
  return new Promise((resolve) => client.ask([command], (answers) => resolve(answers?.[0])));
}
