import type { ErrorCode } from '../base/errors.ts';
import type { SessionId } from '../base/ids.ts';

/**
 * The port between the turns of a session and one kind of agent program.
 *
 * A driver reports what it saw, in the order in which the agent did it, and decides nothing: whether an event is an
 * end, a late activity or noise is decided in `turns/`. It never throws across this port and never guesses: what it
 * cannot prove it calls `uncertain` or `unknown`.
 */
export interface Driver {
  /** The name a profile uses: `acp`, `codex`, `script`. */
  readonly kind: string;
  readonly capabilities: Capabilities;
  /** Its conversations have a screen of the agent's own (`screen`). */
  readonly hasScreen?: true;
  /** What of a profile it does as it is told. Of anything else that a profile says, people are warned. */
  readonly honours: readonly ProfileField[];
  /** Finds the program and its version, without a conversation. Bounded by ten seconds. */
  probe(profile: AgentProfile): Promise<Probe>;
  /**
   * Opens the conversation of a session: adopts the process that an earlier server left in `request.directory`, else
   * starts one and resumes `nativeId`, else begins a new conversation. It never starts a second process for a
   * conversation whose old process lives. The caller owns the result and ends or detaches it exactly once.
   */
  open(request: OpenRequest): Promise<Opened>;
}

/** What a driver can prove. Nothing is assumed from a name. */
export interface Capabilities {
  /** `proven`: a text put into a running turn is reported by `taken` when, and only when, the agent took it up. */
  readonly steer: 'proven' | 'none';
  /**
   * How it is known that a steered text will never be taken. `turnEnd`: the end of the turn without `taken`, shown by
   * experiment. `withdraw`: by the agent's answer to a withdrawal. `none` goes with `steer: 'none'` only.
   */
  readonly negativeProof: 'turnEnd' | 'withdraw' | 'none';
  readonly turnEnd: 'protocol' | 'process';
  /** Whether background work that the agent runs by itself is reported. If not, the tree says so. */
  readonly backgroundTasks: boolean;
  /** Whether the agent starts a turn by itself when such work ends. */
  readonly wakesByItself: boolean;
  /** Whether a new text ends such work. */
  readonly promptCancelsBackground: boolean;
  readonly resume: 'always' | 'whereOffered' | 'never';
  /** Whether a tool call can be matched to the turn that made it by the call's own `_meta`. */
  readonly locatesCalls: 'byId' | 'byOrder';
  /** Whether usage limits are reported as such. */
  readonly limits: boolean;
  /**
   * What of its usage is told with the end of each turn. `cost`: tokens and US dollars. `whereOffered`: it depends on the
   * agent, whose profile may say so. A budget in what is not told is refused.
   */
  readonly usage: 'none' | 'whereOffered' | 'tokens' | 'cost';
}

/**
 * What of a profile is up to its driver; everything else is done for every driver. `secrets` and `version`: it calls
 * `prepareLaunch` before each launch.
 */
export type ProfileField =
  | 'model'
  | 'effort'
  | 'home'
  | 'sandbox'
  | 'network'
  | 'onQuestion'
  | 'questionTimeoutMs'
  | 'secrets'
  | 'version';

/** A complete description of an agent, by name. */
export interface AgentProfile {
  readonly name: string;
  readonly driver: string;
  /** Program and arguments. */
  readonly command: readonly string[];
  /** The only version that may be launched; `1.2` stands for every 1.2.x. */
  readonly version?: string;
  readonly model?: string;
  /** How hard the model thinks, in the agent's own words: `low`, `high`. */
  readonly effort?: string;
  /** Added to a minimal environment (PATH, HOME, LANG, TERM, TMPDIR and the agent's own variables). */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Where the values of variables of its environment are had from, by the name of the variable: `env:NAME`, `file:PATH` or
   * `cmd:COMMAND`. The values are in the answer of `prepareLaunch` alone.
   */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Where the agent keeps its own state; `CODEX_HOME` for Codex. Default: the agent's own. */
  readonly home?: string;
  readonly sandbox?: 'readOnly' | 'workspace' | 'full';
  /** Whether what the agent runs may use the network. Default: what its sandbox says. */
  readonly network?: 'allowed' | 'denied';
  /** What to answer when the agent asks for permission and nobody watches. Default `deny`. */
  readonly onQuestion?: 'deny' | 'allow' | 'ask';
  /** With `ask`: how long a person has before the answer is no. Milliseconds; default: as long as the message. */
  readonly questionTimeoutMs?: number;
  /** How long its process may be of no use before it is ended, in milliseconds; 0: it is kept. Default 15 minutes. */
  readonly idleMs?: number;
  /** How far its figures are to be trusted; `none`: they are not taken, and no budget is. Default: what its driver declares. */
  readonly usage?: 'reported' | 'estimated' | 'none';
  /** Where its scheduled runs work, if their schedule says nothing else. Default `exclusive`. */
  readonly workspace?: 'exclusive' | 'worktree' | 'scratch' | 'shared';
  /** What its tools may do with schedules. Default `none`. */
  readonly schedules?: 'none' | 'trigger' | 'write';
}

/** What was found of an agent's program. `version` only if the program tells it. */
export interface Probe {
  readonly found: boolean;
  readonly version?: string;
  /** Whether somebody is signed in, as far as that is seen without asking a provider. */
  readonly signedIn?: 'yes' | 'no' | 'unknown';
  /** How to sign in: a sentence, or a command to give. */
  readonly signIn?: string;
  /** Sentences for a person: not proved version, missing sign-in, and the like. */
  readonly warnings: readonly string[];
}

/** What a conversation is opened with: the session's facts, and where its events go. */
export interface OpenRequest {
  readonly sessionId: SessionId;
  readonly profile: AgentProfile;
  readonly cwd: string;
  /**
   * The session's own directory. Whatever is needed to find a process again after our death (pid, start time, socket,
   * FIFO, output) is written here before the process can do anything, so that no crash orphans it.
   */
  readonly directory: string;
  /**
   * Called right before a process is launched, each time, and never when one is adopted. What it answers is added to the
   * environment of that process, last, and kept nowhere else. A refusal is answered as `AGENT_UNAVAILABLE`, or refuses the
   * text that the process was for.
   */
  readonly prepareLaunch?: PrepareLaunch;
  /** Absent: the agent gets no tools. */
  readonly tools?: ToolPlace;
  /** The agent's own id of the conversation, once known. */
  readonly nativeId?: string;
  /** Events at or before this position were processed durably; an adopted stream is replayed from behind it. */
  readonly position: number;
  /** Only adopt: when no process of an earlier server lives, answer `NOT_RUNNING` and start nothing. */
  readonly adoptOnly?: boolean;
  /** Deliveries written before, whose fate is open: an adopting driver needs their ids to recognise them. */
  readonly unresolved: readonly string[];
  /** Aborted when nobody needs the conversation any more: a driver that waits for its agent gives up with `AGENT_FAILED`. */
  readonly signal?: AbortSignal;
  /** Called in the agent's own order; never after `detach` or `end` returned. Must not throw. */
  readonly emit: (event: DriverEvent) => void;
}

/** Where an agent's tools are, and the bearer that says who calls. */
export interface ToolPlace {
  readonly url: string;
  readonly token: string;
  /** How often they were listed to this bearer, since our process began. For an agent that begins its turns before it has them. */
  readonly listings?: () => number;
}

/** What comes before a launch; see `OpenRequest`. Never rejects. */
export type PrepareLaunch = () => Promise<LaunchPermit>;

/** The values of the profile's secrets by the names of variables, or why nothing may be launched. */
export type LaunchPermit =
  | { readonly ok: true; readonly env: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly message: string };

/**
 * What came of opening. `adopted`: a process that lived; `resumed`: a new process with the old conversation.
 * `AGENT_UNAVAILABLE`: the program cannot be started. `SESSION_GONE`: the conversation cannot be had again. `AGENT_FAILED`:
 * it may work another time. `NOT_RUNNING`: asked to adopt only, and nothing lives.
 */
export type Opened =
  | {
      readonly ok: true;
      readonly how: 'started' | 'resumed' | 'adopted';
      readonly conversation: Conversation;
    }
  | {
      readonly ok: false;
      readonly code:
        | Extract<ErrorCode, 'AGENT_UNAVAILABLE' | 'SESSION_GONE' | 'AGENT_FAILED'>
        | 'NOT_RUNNING';
      readonly message: string;
    };

/** One text on its way to an agent. The id is unique for each hand-over and is the agent's client id where it has one. */
export interface Delivery {
  readonly id: string;
  readonly text: string;
}

/**
 * A session's conversation with its agent. The methods may be called at any time and side by side, also when the process is
 * dead; each comes back in bounded time, and none throws. After `detach` or `end` nothing is emitted, and nothing more is
 * called.
 */
export interface Conversation {
  /** The agent's own id of the conversation. */
  readonly nativeId: string;
  /** What this very program can prove, where that is less than its driver declares. It may change until the first turn ends. */
  readonly capabilities?: Capabilities;
  /**
   * Begins a turn with a text; refused while one runs. `written`: with the agent, `turnStarted` or `exited` will follow.
   * The caller sends a text again only when `evidence` says `absent`, or the outcome was `refused`.
   */
  start(delivery: Delivery): Promise<SendOutcome>;
  /**
   * Puts a text into this very turn; refused when another one runs, since the end of this one would then prove nothing.
   * `written`: accepted; the proof comes as `taken`, or never.
   */
  steer(delivery: Delivery, nativeTurnId?: string): Promise<SendOutcome>;
  /** Takes back a steered text. Only drivers with `negativeProof: 'withdraw'` ever answer `withdrawn`. */
  withdraw(deliveryId: string): Promise<'withdrawn' | 'taken' | 'unknown'>;
  /**
   * Asks the agent to stop its turn; the end comes as an event. With a name, only that turn: `idle` when another one runs,
   * where the driver can tell.
   */
  interrupt(nativeTurnId?: string): Promise<'asked' | 'idle' | 'unknown'>;
  /** What the agent's own record and queue say of a text, after everything before this call was emitted. May be asked again. */
  evidence(deliveryId: string): Promise<Evidence>;
  /**
   * The barrier: reads the agent's stream up to this tool call, then says in which turn it was made. `unknown`: no turn
   * is proven. `ended`: the turn it names is over.
   */
  locate(call: ToolCall): Promise<Located>;
  /** Answers a question that was reported by `waiting`. False when it is no longer open, so also on the second call. */
  answer(questionId: string, choice: string): Promise<boolean>;
  /**
   * How a person sees this very conversation at the agent's own screen, beside us; what is typed there is told as `typed`.
   * Absent: the agent has no such screen. Undefined: not now, because the agent is gone.
   */
  screen?(): Promise<ScreenCommand | undefined>;
  /** Ends the background work that the agent runs by itself, where it can be told to. Its end comes as `taskEnded`. */
  stopTasks?(): Promise<void>;
  /**
   * Whether something that the agent left running by itself, of which it tells nothing, goes on: it would end with the
   * agent's process. Absent: nobody can look.
   */
  hasLeftWork?(): Promise<boolean>;
  /** Stops listening. The agent lives on and can be adopted. */
  detach(): Promise<void>;
  /** Ends the agent's process and everything it started; `unkillable` when something survived SIGKILL. */
  end(): Promise<'dead' | 'unkillable'>;
}

/** A command for a terminal. `env` is added to a minimal environment, and may hold secrets, which the command never does. */
export interface ScreenCommand {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * What became of a text that was sent. `refused`: the agent provably never got it. `uncertain`: nobody can say; `evidence` may,
 * later.
 */
export type SendOutcome =
  | { readonly outcome: 'written' }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'uncertain'; readonly reason: string };

/**
 * What is proven of a text. `consumed`: in the agent's history, in that turn if known. `queued`: will be taken up. `absent`:
 * never will be. `unknown`: none of it is proven yet.
 */
export type Evidence =
  | { readonly state: 'consumed'; readonly nativeTurnId?: string }
  | { readonly state: 'queued' }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown' };

/** A call of one of our tools, as it arrived. */
export interface ToolCall {
  /** `_meta` of the MCP request, as sent. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/** In which turn a tool call was made; see `Conversation.locate`. */
export type Located =
  | { readonly state: 'running'; readonly nativeTurnId: string }
  | { readonly state: 'ended' }
  | { readonly state: 'unknown' };

/** Work that the agent runs by itself in the background, as it names it. */
export interface LiveTask {
  readonly taskId: string;
  readonly name: string;
}

/** Why a turn failed. */
export interface AgentError {
  /** `capacity`: a usage limit. `login`: the sign-in expired. `agent`: anything else. */
  readonly kind: 'capacity' | 'login' | 'agent';
  /** In the agent's own words, for a person. */
  readonly message: string;
  /** When the limit ends, UTC milliseconds, if the provider said. */
  readonly resetsAt?: number;
}

/**
 * A text that a person typed at the agent's own screen, and that the agent took up: one that did not come through `start` or
 * `steer`. `id`: the agent's own name of the text, the same whenever it is told, and told of no other text of the conversation.
 */
export interface TypedText {
  readonly id: string;
  readonly text: string;
}

/** What one turn cost, as far as the agent says. `usd`: US dollars. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly usd?: number;
}

/** What was said or done, for the transcript. It decides nothing. */
export interface TranscriptItem {
  readonly kind: 'text' | 'thought' | 'toolCall' | 'toolResult' | 'user';
  readonly text: string;
  readonly id?: string;
}

/**
 * Something that a driver reports. `position` is how far the agent's stream was read when this was known (0 where the
 * agent has no stream to replay); positions never fall within one process.
 */
export type DriverEvent = DriverReport & { readonly position: number };

/** Everything that a driver may report, without its position. */
export type DriverReport =
  /**
   * The agent began to work: on our text, on one that a person typed (`typed`), or, without either, by itself (`taskId`:
   * because this task ended). A text of which nobody can say whose it is is no typed one.
   */
  | {
      readonly type: 'turnStarted';
      readonly nativeTurnId: string;
      readonly deliveryId?: string;
      readonly taskId?: string;
      readonly typed?: TypedText;
    }
  /** A text of ours was taken up within this turn. */
  | { readonly type: 'taken'; readonly nativeTurnId: string; readonly deliveryId: string }
  /**
   * The agent was told within this turn, whose start was told, that this task has ended: it will not wake for it. One that
   * was not waited for any more changes nothing.
   */
  | { readonly type: 'taskTold'; readonly nativeTurnId: string; readonly taskId: string }
  /** What a person typed was taken up within this turn, whose start was told. */
  | { readonly type: 'typed'; readonly nativeTurnId: string; readonly typed: TypedText }
  /** The agent is idle again. `tasks` lives as of this event. */
  | {
      readonly type: 'turnEnded';
      readonly nativeTurnId: string;
      readonly status: 'succeeded' | 'failed' | 'interrupted';
      readonly answer: string;
      readonly error?: AgentError;
      readonly usage?: Usage;
      readonly tasks: readonly LiveTask[];
    }
  /** What the running turn has used so far, all of it: a budget is kept within a turn too. Its end tells it again. */
  | { readonly type: 'usage'; readonly nativeTurnId: string; readonly usage: Usage }
  /** Background work that no `turnEnded` told of. */
  | { readonly type: 'taskStarted'; readonly task: LiveTask }
  | {
      readonly type: 'taskEnded';
      readonly taskId: string;
      readonly status: 'succeeded' | 'failed' | 'cancelled';
      readonly result: string;
      /** False: the agent does not wake for this kind of end, though it does for others. */
      readonly wakes?: false;
    }
  /** The turn stands still; `questionId` and `choices` go with a question, `until` (UTC milliseconds) with a limit. */
  | {
      readonly type: 'waiting';
      readonly waitsFor: 'input' | 'capacity' | 'login';
      readonly questionId?: string;
      readonly text: string;
      readonly choices?: readonly string[];
      /** Which of the choices says no, if one does: it is given when nobody answers in time. */
      readonly declines?: string;
      readonly until?: number;
    }
  /** The turn goes on: what it waited for was answered, by anybody, or is void. */
  | { readonly type: 'resumed' }
  | { readonly type: 'item'; readonly nativeTurnId?: string; readonly item: TranscriptItem }
  /** Unparsable, unknown or impossible traffic: counted and logged, changes nothing. */
  | { readonly type: 'noise'; readonly what: string }
  /** The agent's process is verified dead. Nothing it had queued will ever be taken up. */
  | { readonly type: 'exited'; readonly reason: string };
