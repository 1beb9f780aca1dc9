import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { WebSocket } from 'ws';
import { patienceMs, waitFor } from '../e2e/wait-for.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** The browser's program: `STEMMA_CHROMIUM`, else the first one on the path; undefined when there is none. */
export function findChromium(): string | undefined {
  const named = process.env['STEMMA_CHROMIUM'];
  if (named) return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** What keyboards call the keys that write nothing. */
const modifierBits = { Alt: 1, Control: 2, Shift: 8 } as const;
const keyNumbers: Readonly<Record<string, number>> = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Escape: 27,
  ' ': 32,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  '+': 187,
  '-': 189,
};

/** A command that the browser loses, as one in a page that is just going elsewhere, is given up after this. */
const answerMs = 10_000;

type Message = { id?: number; result?: unknown; error?: { message: string } };
type Send = (method: string, params?: object, sessionId?: string) => Promise<unknown>;

/** A headless Chromium with a profile of its own, driven over the DevTools protocol. Whoever opens it closes it. */
export class Chromium {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #send: Send;

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#child = child;
    this.#profile = profile;
    this.#socket = socket;
    this.#send = sender(socket);
  }

  static async open(program: string): Promise<Chromium> {
    const profile = mkdtempSync(join(tmpdir(), 'stemma-page-'));
    const isRoot = process.getuid?.() === 0;
    const flags = [
      '--headless=new',
      // Chromium's sandbox refuses to run as root, which is what containers are.
      ...(isRoot ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-background-networking',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      'about:blank',
    ];
    // A group of its own: a browser is many processes.
    const child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.on('error', (error) => (said += String(error)));
    const url = await waitFor('Chromium listens', () => /DevTools listening on (ws:\S+)/.exec(said)?.[1], {
      withinMs: 20_000,
      seen: () => said,
    });
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return new Chromium(child, profile, socket);
  }

  /** A tab in which nobody is signed in anywhere: nothing is shared with others. */
  async tab(): Promise<Tab> {
    const context = (await this.#send('Target.createBrowserContext')) as { browserContextId: string };
    const target = await this.#send('Target.createTarget', { url: 'about:blank', ...context });
    const { targetId } = target as { targetId: string };
    const attached = await this.#send('Target.attachToTarget', { targetId, flatten: true });
    const { sessionId } = attached as { sessionId: string };
    const send = (method: string, params?: object): Promise<unknown> => this.#send(method, params, sessionId);
    await send('Page.enable');
    return new Tab(send);
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#socket.terminate();
    if (this.#child.pid !== undefined && this.#child.exitCode === null) {
      process.kill(-this.#child.pid, 'SIGKILL');
      await ended;
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One tab. */
export class Tab {
  readonly #send: (method: string, params?: object) => Promise<unknown>;

  constructor(send: (method: string, params?: object) => Promise<unknown>) {
    this.#send = send;
  }

  async goTo(url: string): Promise<void> {
    await this.#send('Page.navigate', { url });
  }

  /** The value of an expression in the page; undefined while the page is on its way elsewhere. */
  async read<T>(expression: string): Promise<T | undefined> {
    const parameters = { expression, returnByValue: true, awaitPromise: true };
    const answer = (await this.#send('Runtime.evaluate', parameters).catch(() => ({}))) as {
      result?: { value?: T };
    };
    return answer.result?.value;
  }

  /** Waits until an expression in the page is true. */
  async until(expression: string, withinMs = patienceMs): Promise<void> {
    const seen = (): Promise<unknown> => this.read('location.href + "\\n" + document.body.innerText');
    await waitFor(expression, () => this.read<boolean>(`Boolean(${expression})`), { withinMs, seen });
  }

  /** Presses a key, as a keyboard does, with `Control`, `Shift` or `Alt` held down: `press('End')`, `press('Tab', 'Shift')`. */
  async press(key: string, ...held: ('Control' | 'Shift' | 'Alt')[]): Promise<void> {
    const text = key === 'Enter' ? '\r' : key.length === 1 && !held.includes('Control') ? key : undefined;
    const code = key === ' ' ? 'Space' : /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : key;
    const modifiers = held.reduce((sum, one) => sum + modifierBits[one], 0);
    const windowsVirtualKeyCode = keyNumbers[key] ?? key.toUpperCase().charCodeAt(0);
    // What an operating system does with these keys is not done for a browser without one.
    const commands = modifiers === 2 && key === 'a' ? ['selectAll'] : [];
    const event = { key, code, modifiers, windowsVirtualKeyCode, commands };
    const down = text === undefined ? { type: 'rawKeyDown' } : { type: 'keyDown', text };
    await this.#send('Input.dispatchKeyEvent', { ...event, ...down });
    await this.#send('Input.dispatchKeyEvent', { ...event, type: 'keyUp' });
  }

  /** Writes a text into whatever has the focus. */
  async type(text: string): Promise<void> {
    await this.#send('Input.insertText', { text });
  }

  /** Waits for what fits a selector, and clicks in its middle, as a mouse does. */
  async click(selector: string): Promise<void> {
    const found = `document.querySelector(${JSON.stringify(selector)})`;
    await this.until(found);
    const middle = `(() => { const one = ${found}; one.scrollIntoView({ block: 'nearest' });
      const { x, y, width, height } = one.getBoundingClientRect(); return { x: x + width / 2, y: y + height / 2 }; })()`;
    const at = await this.read<{ x: number; y: number }>(middle);
    if (!at) throw new Error(`nothing to click: ${selector}`);
    const event = { ...at, button: 'left', clickCount: 1 };
    for (const type of ['mousePressed', 'mouseReleased'])
      await this.#send('Input.dispatchMouseEvent', { ...event, type });
  }

  /** Clicks the button, link or label whose whole text, or whose name for screen readers, is this. */
  async clickText(text: string): Promise<void> {
    const said = JSON.stringify(text);
    const find = `[...document.querySelectorAll('button, a, label, summary, [role="tab"], [role="menuitem"]')].find((one) => one.checkVisibility() && (one.innerText.trim() === ${said} || one.getAttribute('aria-label') === ${said}))`;
    await this.until(`${find} && !(${find}).disabled`);
    await this.read(`(${find}).setAttribute('data-clicked-next', '')`);
    await this.click('[data-clicked-next]');
    await this.read(`document.querySelector('[data-clicked-next]')?.removeAttribute('data-clicked-next')`);
  }

  /** Makes the window this large; without a size, what it was. */
  async resize(size?: {
    readonly width: number;
    readonly height: number;
    readonly scale?: number;
  }): Promise<void> {
    if (!size) return void (await this.#send('Emulation.clearDeviceMetricsOverride'));
    const { width, height, scale = 1 } = size;
    const metrics = { width, height, deviceScaleFactor: scale, mobile: false };
    await this.#send('Emulation.setDeviceMetricsOverride', metrics);
  }

  /** What a screen reader is told: role, name and level of everything that is not ignored. */
  async accessibility(): Promise<{ role: string; name: string; level: number | undefined }[]> {
    const { nodes } = (await this.#send('Accessibility.getFullAXTree')) as { nodes: AxNode[] };
    return nodes
      .filter(({ ignored }) => !ignored)
      .map(({ role, name, properties = [] }) => ({
        role: role?.value ?? '',
        name: name?.value ?? '',
        level: properties.find((each) => each.name === 'level')?.value.value as number | undefined,
      }));
  }

  /** Shows the page as to a person who likes it `dark` or `light`. */
  async prefer(scheme: 'dark' | 'light'): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.#send('Emulation.setEmulatedMedia', { features });
  }

  /** A command of the DevTools protocol, for what has no method here. */
  devTools(method: string, params?: object): Promise<unknown> {
    return this.#send(method, params);
  }

  /** A picture, as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = (await this.#send('Page.captureScreenshot')) as { data: string };
    return Buffer.from(data, 'base64');
  }
}

interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[];
}

function sender(socket: WebSocket): Send {
  let count = 0;
  const waiting = new Map<number, (message: Message) => void>();
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString('utf8')) as Message;
    if (message.id === undefined) return;
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  return async (method, params = {}, sessionId) => {
    const id = ++count;
    socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    const { result, error } = await new Promise<Message>((resolve) => {
      const give = (): void => resolve({ error: { message: `no answer within ${answerMs} ms` } });
      const timer = setTimeout(give, answerMs);
      waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
    });
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
}
