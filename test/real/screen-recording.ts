import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { SessionId } from '../../src/base/ids.ts';
import { ControlClient } from '../../src/terminal/control-client.ts';
import { readSeed, seedCommands } from '../../src/terminal/seed.ts';
import { Tmux } from '../../src/terminal/tmux.ts';
import type { RecordedScreen } from '../corpus/recorded-screen.ts';

/** Records what a program writes at its screen, from now on, and what tmux says that the screen shows at given moments. */
export class ScreenRecording {
  readonly #owner: SessionId;
  readonly #client: ControlClient;
  #parts: Buffer[] = [];
  #size = { columns: 0, rows: 0 };
  readonly #steps: RecordedScreen['steps'][number][] = [];

  private constructor(tmux: Tmux, program: string, owner: SessionId) {
    this.#owner = owner;
    this.#client = new ControlClient(tmux, program, owner, systemClock, {
      onOutput: (bytes) => {
        this.#parts.push(bytes);
        return true;
      },
      onDoubt: () => undefined,
    });
  }

  static async begin(dataDir: string, owner: SessionId): Promise<ScreenRecording> {
    const tmux = new Tmux(dataDir);
    const recording = new ScreenRecording(tmux, (await tmux.program()) ?? '', owner);
    await recording.#client.attached;
    await recording.#ask(seedCommands(`=${owner}:`), (answers) => {
      const seed = readSeed(answers);
      if (!seed) throw new Error('there is no screen to record');
      recording.#size = seed.size;
      recording.#parts = [seed.bytes];
    });
    return recording;
  }

  /** Notes what the screen shows now, in the words of tmux, under this name. */
  async shot(name: string): Promise<void> {
    await this.#ask([`capture-pane -p -t =${this.#owner}:`], ([shown = '']) => {
      const bytes = Buffer.concat(this.#parts.splice(0));
      const text = bytes.toString('utf8');
      if (!Buffer.from(text).equals(bytes)) throw new Error(`${name}: a character is cut in two; try again`);
      const lines = Buffer.from(shown, 'latin1').toString('utf8').split('\n');
      this.#steps.push({ bytes: text, screen: name, shows: lines.map((line) => line.trimEnd()) });
    });
  }

  /** Writes it, as it is: programs draw over what they know to be there, so that no letter of it can be another. */
  save(file: string): void {
    this.#client.end();
    mkdirSync(dirname(file), { recursive: true });
    const recorded: RecordedScreen = { ...this.#size, steps: this.#steps };
    writeFileSync(file, `${JSON.stringify(recorded, undefined, 1)}\n`);
  }

  #ask(commands: readonly string[], take: (answers: readonly string[]) => void): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#client.ask(commands, (answers) => {
        if (!answers) return reject(new Error('tmux does not answer'));
        try {
          resolve(take(answers));
        } catch (error) {
          reject(error as Error);
        }
      }),
    );
  }
}
