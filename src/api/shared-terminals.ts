import type { SessionId } from '../base/ids.ts';
import { Serial } from '../base/serial.ts';
import type { Terminals, TerminalSize, TerminalViewer } from './ports.ts';
import type { ViewSocket } from './view-socket.ts';

/** Who joins. `takes`: it becomes the owner at once, whoever is. */
export interface Joining {
  readonly sessionId: SessionId;
  readonly size: TerminalSize;
  readonly mayType: boolean;
  readonly takes: boolean;
}

interface Member {
  readonly socket: ViewSocket;
  readonly mayType: boolean;
  size: TerminalSize;
  /** Counts what it was shown: what an earlier view of it still says is left out. */
  epoch: number;
}

/** Those who look at the terminal of one session. */
interface Room {
  readonly members: Set<Member>;
  owner: Member | undefined;
  /** Of the terminal: that of who owned it last. */
  size: TerminalSize;
  /** One change of places at a time. */
  readonly serial: Serial;
}

/**
 * The terminals that several look at in browsers: of each one viewer is the owner, who types and gives the size; the others watch
 * until one of them takes it. Everybody is told its place.
 */
export class SharedTerminals {
  readonly #terminals: Terminals;
  readonly #rooms = new Map<SessionId, Room>();

  constructor(terminals: Terminals) {
    this.#terminals = terminals;
  }

  /** Takes a viewer in, until its socket closes. */
  join(socket: ViewSocket, { sessionId, size, mayType, takes }: Joining): void {
    const room = this.#roomOf(sessionId, size);
    const member: Member = { socket, mayType, size, epoch: 0 };
    room.members.add(member);
    socket.listener = {
      onTake: () => this.#run(room, member, () => this.#take(sessionId, room, member)),
      onResize: (wanted) => this.#resize(room, member, wanted),
      onGone: () => this.#leave(sessionId, room, member),
    };
    this.#run(room, member, async () => {
      if (mayType && (takes || !room.owner)) await this.#take(sessionId, room, member);
      else await this.#show(sessionId, room, member);
    });
  }

  #run(room: Room, { socket }: Member, change: () => Promise<void>): void {
    room.serial
      .run(change)
      .catch((error: unknown) => socket.end(`The terminal cannot be shown: ${String(error)}`));
  }

  #roomOf(sessionId: SessionId, size: TerminalSize): Room {
    const known = this.#rooms.get(sessionId);
    if (known) return known;
    const room: Room = { members: new Set(), owner: undefined, size, serial: new Serial() };
    this.#rooms.set(sessionId, room);
    return room;
  }

  async #take(sessionId: SessionId, room: Room, member: Member): Promise<void> {
    if (!member.mayType || room.owner === member || !room.members.has(member)) return;
    const before = room.owner;
    room.owner = member;
    room.size = member.size;
    await this.#show(sessionId, room, member);
    if (before) await this.#show(sessionId, room, before);
    for (const other of room.members)
      if (other !== member && other !== before) this.#tell(room, other, false);
  }

  /** Shows the terminal to a viewer anew, by its place. A failure is told on its socket. */
  async #show(sessionId: SessionId, room: Room, member: Member): Promise<void> {
    const { socket } = member;
    const epoch = ++member.epoch;
    const isOwner = room.owner === member;
    const viewer: TerminalViewer = {
      size: isOwner ? member.size : room.size,
      keepsHistory: true,
      onOutput: (bytes) => {
        if (member.epoch === epoch) socket.output(bytes);
      },
      onEnd: (reason) => {
        if (member.epoch === epoch) socket.end(reason);
      },
    };
    this.#tell(room, member, true);
    // What is typed from now on is for the new view.
    socket.show(undefined);
    const opened = await (isOwner
      ? this.#terminals.attach(sessionId, viewer)
      : this.#terminals.watch(sessionId, viewer));
    if (!opened.ok) socket.end(opened.message, opened.code);
    else if (socket.isOpen && room.members.has(member)) socket.show(opened.value);
    else opened.value.end();
  }

  #tell(room: Room, member: Member, isAnew: boolean): void {
    const isOwner = room.owner === member;
    const { columns, rows } = isOwner ? member.size : room.size;
    const place = {
      isOwner,
      isOwned: room.owner !== undefined,
      mayType: member.mayType,
      isAnew,
      columns,
      rows,
    };
    member.socket.tell({ type: 'place', ...place });
  }

  #resize(room: Room, member: Member, { columns, rows }: TerminalSize): void {
    member.size = { columns, rows };
    if (room.owner !== member) return;
    room.size = member.size;
    for (const each of room.members) {
      each.socket.resize(room.size);
      if (each !== member) this.#tell(room, each, false);
    }
  }

  #leave(sessionId: SessionId, room: Room, member: Member): void {
    room.members.delete(member);
    if (room.members.size === 0) this.#rooms.delete(sessionId);
    if (room.owner !== member) return;
    room.owner = undefined;
    for (const other of room.members) this.#tell(room, other, false);
  }
}
