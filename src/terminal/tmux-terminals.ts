import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { SessionId } from '../base/ids.ts';
import { pause, waitUntil } from '../base/pause.ts';
import type { ScreenCommand } from '../drivers/port.ts';
import { resolveProgram } from '../processes/command.ts';
import { endGroup } from '../processes/group.ts';
import { identityOf, isAlive, type ProcessIdentity } from '../processes/process-identity.ts';
import { makeTicket, readRecord, removeRecord, revokeLaunches } from '../processes/recorded-launch.ts';
import { Keyboard } from './keyboard.ts';
import { launchScript } from './launch-script.ts';
import { Mirror } from './mirror.ts';
import type { ScreenSize, Terminals, View, Viewer, ViewOpened } from './port.ts';
import type { TerminalOrder } from './terminal-order.ts';
import { Tmux } from './tmux.ts';
import { openView } from './view.ts';

/** What terminals need from around them. */
export interface TerminalsOptions {
  readonly clock: Clock;
  /** The data directory whose terminals these are; absolute. */
  readonly dataDir: string;
  /** Shared by all in this process who have terminals of the data directory. */
  readonly order: TerminalOrder;
  /** Something an operator should see; never throws. */
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

const publishWithinMs = 10_000;
const betweenLooksMs = 20;
const endGraceMs = 1_000;
/** The option of a tmux session that names the data directory whose it is. */
const ownerOption = '@stemma_data';
/** The size of a terminal before anybody has looked at it. */
const unseen: ScreenSize = { columns: 120, rows: 40 };

/**
 * Terminals in a tmux server of our own, one for each data directory. tmux keeps them when we die. A terminal is a tmux
 * session with the name of its session; the process in it has its record in the session's directory, so that it is found and
 * ended also when tmux was killed.
 */
export class TmuxTerminals implements Terminals {
  readonly #clock: Clock;
  readonly #dataDir: string;
  readonly #report: TerminalsOptions['report'];
  readonly #tmux: Tmux;
  readonly #views = new Map<View, SessionId>();
  readonly #order: TerminalOrder;

  constructor({ clock, dataDir, order, report }: TerminalsOptions) {
    this.#clock = clock;
    this.#dataDir = dataDir;
    this.#order = order;
    this.#report = report;
    this.#tmux = new Tmux(dataDir);
  }

  view(owner: SessionId, screen: ScreenCommand, viewer: Viewer): Promise<ViewOpened> {
    return this.#order.run(owner, async () => {
      const failure = await this.#ensure(owner, screen, viewer.size);
      if (failure !== undefined) return { ok: false, message: failure };
      return this.#show(owner, viewer, { isReadOnly: false });
    });
  }

  watch(owner: SessionId, viewer: Viewer): Promise<ViewOpened> {
    return this.#order.run(owner, async () => {
      if (await this.#isLiving(owner)) return this.#show(owner, viewer, { isReadOnly: true });
      return { ok: false, message: 'its terminal is not open' };
    });
  }

  /** Whether anybody sees the session's terminal through this process. */
  isWatched(owner: SessionId): boolean {
    return [...this.#views.values()].includes(owner);
  }

  /** Begins the session's terminal, unless it lives. Answers why it could not, in a sentence for a person. */
  run(owner: SessionId, screen: ScreenCommand): Promise<string | undefined> {
    return this.#order.run(owner, () => this.#ensure(owner, screen, unseen));
  }

  /** The process that runs in the session's living terminal: never that of one which is about to be closed. */
  processIn(owner: SessionId): Promise<ProcessIdentity | undefined> {
    return this.#order.run(owner, async () => {
      if (!(await this.#isLiving(owner))) return undefined;
      const process = await readRecord(this.#directoryOf(owner)).catch(() => undefined);
      return process && isAlive(process) ? process : undefined;
    });
  }

  /** What we type at the session's terminal. */
  keyboard(owner: SessionId): Keyboard {
    return new Keyboard(this.#tmux, owner);
  }

  /** What the session's terminal shows, as seen in memory. The caller ends it. */
  mirror(owner: SessionId): Mirror {
    return new Mirror(this.#tmux, owner, this.#clock);
  }

  close(owner: SessionId): Promise<void> {
    return this.#order.run(owner, () => this.#end(owner));
  }

  async reap(living: ReadonlySet<SessionId>): Promise<void> {
    for (const owner of await this.#owners()) if (!living.has(owner)) await this.close(owner);
  }

  detach(): void {
    for (const view of this.#views.keys()) view.end();
    this.#views.clear();
  }

  async #show(owner: SessionId, viewer: Viewer, how: { readonly isReadOnly: boolean }): Promise<ViewOpened> {
    const ended: Viewer = {
      ...viewer,
      onEnd: (reason) => {
        if (opened.ok) this.#views.delete(opened.view);
        viewer.onEnd(reason);
      },
    };
    const opened = await openView(this.#tmux, owner, ended, how);
    if (opened.ok) this.#views.set(opened.view, owner);
    return opened;
  }

  /** The sessions that have a terminal here. One that another data directory owns is none of ours. */
  async #owners(): Promise<SessionId[]> {
    const format = `#{session_name}\t#{${ownerOption}}`;
    const listed = await this.#tmux.run(['list-sessions', '-F', format]);
    if (!listed.ok) return [];
    return listed.output.split('\n').flatMap((line) => {
      const [name = '', dataDir] = line.split('\t');
      return dataDir === this.#dataDir ? [name as SessionId] : [];
    });
  }

  async #isLiving(owner: SessionId): Promise<boolean> {
    return (await this.#owners()).includes(owner);
  }

  async #ensure(owner: SessionId, screen: ScreenCommand, size: ScreenSize): Promise<string | undefined> {
    const process = await readRecord(this.#directoryOf(owner)).catch(() => undefined);
    // tmux takes a moment to see that a program has died: a terminal of the dead shows nothing.
    const isDead = process !== undefined && !isAlive(process);
    return !isDead && (await this.#isLiving(owner)) ? undefined : this.#begin(owner, screen, size);
  }

  /** Begins a terminal; answers why it could not. */
  async #begin(owner: SessionId, screen: ScreenCommand, size: ScreenSize): Promise<string | undefined> {
    const [program = '', ...args] = screen.command;
    const resolved = await resolveProgram(program, screen.env, screen.cwd);
    if (!resolved.ok) return resolved.message;
    // What an earlier one left, should tmux have been killed.
    await this.#end(owner);
    const directory = this.#directoryOf(owner);
    const script = join(directory, 'launch.sh');
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const ticket = await makeTicket(directory);
      const launch = {
        directory,
        ticket,
        command: [resolved.path, ...args],
        cwd: screen.cwd,
        env: screen.env,
      };
      writeFileSync(script, launchScript(launch), { mode: 0o600 });
    } catch (error) {
      return `the terminal's files cannot be written in ${directory}: ${String(error)}`;
    }
    const { columns, rows } = size.columns > 0 && size.rows > 0 ? size : unseen;
    const tag = [';', 'set-option', '-t', `=${owner}:`, ownerOption, this.#dataDir];
    const begun = await this.#tmux.begin([
      ...['-d', '-s', owner, '-x', String(columns), '-y', String(rows), '/bin/sh', script],
      ...tag,
    ]);
    const isUp = begun.ok && (await this.#isPublished(owner, directory));
    await revokeLaunches(directory);
    if (isUp) return undefined;
    const why = begun.ok ? `${resolved.path} ended before it could be shown` : begun.message;
    this.#report('terminal.notBegun', { sessionId: owner, why });
    await this.#end(owner);
    return why;
  }

  async #isPublished(owner: SessionId, directory: string): Promise<boolean> {
    const deadline = this.#clock.monotonic() + publishWithinMs;
    while (this.#clock.monotonic() < deadline) {
      if (await readRecord(directory)) return true;
      const panes = await this.#tmux.run(['list-panes', '-t', `=${owner}:`, '-F', '#{pane_pid}']);
      if (!panes.ok || !identityOf(Number(panes.output.trim())))
        return (await readRecord(directory)) !== undefined;
      await pause(this.#clock, betweenLooksMs);
    }
    return false;
  }

  async #end(owner: SessionId): Promise<void> {
    const directory = this.#directoryOf(owner);
    await this.#tmux.run(['kill-session', '-t', `=${owner}`]);
    await revokeLaunches(directory);
    const process = await readRecord(directory).catch(() => undefined);
    if (!process) return;
    // The hang-up of its terminal ends a program that behaves.
    await waitUntil(this.#clock, () => !isAlive(process), endGraceMs);
    const outcome = await endGroup(process, { graceMs: endGraceMs, clock: this.#clock });
    if (outcome === 'dead') await removeRecord(directory);
    else this.#report('terminal.unkillable', { sessionId: owner, pid: process.pid });
  }

  #directoryOf(owner: SessionId): string {
    return join(this.#dataDir, 'sessions', owner, 'terminal');
  }
}
