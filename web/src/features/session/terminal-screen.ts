import { FitAddon } from '@xterm/addon-fit';
import { type ITheme, Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import type { TerminalPlace } from '../../../../src/contract/terminal.ts';
import { beginStrictElements } from './strict-elements.ts';
import { TerminalLink, type TerminalState } from '../../live/terminal-link.ts';

const shownHistory = 5_000;

/** A terminal on the page. */
export interface TerminalScreen {
  connect(): void;
  take(): void;
  focus(): void;
  /** Tells a screen reader what is drawn. Then texts that are put in whole, as by voice, do not arrive. */
  speak(isOn: boolean): void;
  end(): void;
}

/** Draws a session's terminal into an element, for as long as it is not ended. */
export function openTerminalScreen(
  element: HTMLElement,
  sessionId: string,
  onState: (state: TerminalState) => void,
): TerminalScreen {
  const terminal = createTerminal();
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  const endStrictElements = beginStrictElements();
  terminal.open(element);
  let isOwner = true;
  const size = (): { columns: number; rows: number } => {
    const { cols: columns, rows } = fit.proposeDimensions() ?? { cols: 80, rows: 24 };
    return { columns: Math.max(20, columns || 80), rows: Math.max(5, rows || 24) };
  };
  const link = new TerminalLink(sessionId, {
    size,
    onPlace(place: TerminalPlace) {
      isOwner = place.isOwner;
      terminal.options.disableStdin = !place.isOwner;
      // Who watches sees the terminal in its own size.
      terminal.resize(place.columns, place.rows);
      if (place.isAnew) terminal.reset();
    },
    onBytes: (bytes) => terminal.write(bytes),
    onState,
  });
  const encoder = new TextEncoder();
  terminal.onData((text) => link.type(encoder.encode(text)));
  terminal.onBinary((text) => link.type(Uint8Array.from(text, (char) => char.charCodeAt(0))));
  const watch = new ResizeObserver(() => {
    const { columns, rows } = size();
    if (columns === terminal.cols && rows === terminal.rows) return;
    if (isOwner) terminal.resize(columns, rows);
    link.resize(columns, rows);
  });
  watch.observe(element);
  // A page that is left but kept by the browser lets the terminal go, and takes it up again when it is shown again.
  const leave = (): void => link.close();
  const comeBack = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) link.connect();
  };
  addEventListener('pagehide', leave);
  addEventListener('pageshow', comeBack);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const recolour = (): void => {
    terminal.options.theme = themeOf(element);
  };
  recolour();
  dark.addEventListener('change', recolour);
  const root = new MutationObserver(recolour);
  root.observe(document.documentElement, { attributeFilter: ['data-scheme'] });
  return {
    connect: () => link.connect(),
    take: () => link.take(),
    focus: () => terminal.focus(),
    speak(isOn) {
      terminal.options.screenReaderMode = isOn;
    },
    end() {
      removeEventListener('pagehide', leave);
      removeEventListener('pageshow', comeBack);
      dark.removeEventListener('change', recolour);
      root.disconnect();
      watch.disconnect();
      link.close();
      terminal.dispose();
      endStrictElements();
    },
  };
}

function createTerminal(): Terminal {
  return new Terminal({
    // What an agent prints opens nothing: a link is its text.
    linkHandler: { activate: () => undefined, allowNonHttpProtocols: false },
    scrollback: shownHistory,
    fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    fontSize: 13,
    minimumContrastRatio: 4.5,
    cursorBlink: false,
    disableStdin: true,
    // A paste of many lines is one.
    ignoreBracketedPasteMode: false,
  });
}

/** The colours of the page, so that both look the same. */
function themeOf(element: HTMLElement): ITheme {
  const style = getComputedStyle(element);
  const background = style.backgroundColor;
  const isDark = luminanceOf(background) < 0.5;
  return {
    background,
    foreground: style.color,
    cursor: style.color,
    selectionBackground: isDark ? '#3b5278' : '#b9d1f5',
    ...(isDark ? darkColours : lightColours),
  };
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (/[\d.]+(?:[, ]+[\d.]+)+/.exec(colour)?.[0] ?? '')
    .split(/[, ]+/)
    .map(Number);
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}

const darkColours: ITheme = {
  black: '#3a424a',
  red: '#ff8a80',
  green: '#6cc87f',
  yellow: '#f0b849',
  blue: '#8ab4f8',
  magenta: '#d7a6f5',
  cyan: '#76d0dc',
  white: '#d5dade',
  brightBlack: '#8b96a1',
};

// Dark enough to be read on a light ground.
const lightColours: ITheme = {
  black: '#1b1f24',
  red: '#b3261e',
  green: '#1a7f37',
  yellow: '#8a5800',
  blue: '#0b57d0',
  magenta: '#8430ce',
  cyan: '#0b7285',
  white: '#57606a',
  brightBlack: '#57606a',
  brightRed: '#c62828',
  brightGreen: '#1a7f37',
  brightYellow: '#8a5800',
  brightBlue: '#0b57d0',
  brightMagenta: '#8430ce',
  brightCyan: '#0b7285',
  brightWhite: '#3a424a',
};
