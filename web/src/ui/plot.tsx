import { type ReactNode, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import styles from './plot.module.css';

/** A line of a plot. `tone`: its colour; `axis`: the name of the axis that it is measured by. */
export interface PlotLine {
  readonly label: string;
  readonly tone: PlotTone;
  readonly axis: string;
  readonly values: readonly (number | null)[];
}

/** The colours that lines have. */
export type PlotTone = 'running' | 'wait' | 'good' | 'bad';

/** An axis of values: how one is written. The first one stands on the left, a second one on the right. */
export interface PlotAxis {
  readonly name: string;
  readonly words: (value: number) => string;
}

const heightPixels = 220;

/** Values over time, as lines; `label` says in words what they show, for those who do not see it. */
export function Plot({
  at,
  lines,
  axes,
  label,
}: {
  /** Seconds since 1970, growing. */
  readonly at: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly axes: readonly PlotAxis[];
  readonly label: string;
}): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const drawing = useRef({ at, lines, axes });
  useEffect(() => {
    drawing.current = { at, lines, axes };
  });
  // What is drawn is drawn anew only when it is something else.
  const asText = JSON.stringify([at, lines]);
  useEffect(() => {
    const box = place.current;
    return box && asText !== '' ? drawn(box, () => drawing.current) : undefined;
  }, [asText]);
  return (
    <figure className={styles.figure}>
      <div ref={place} className={styles.plot} role="img" aria-label={label}>
        {(['text', 'line', 'running', 'wait', 'good', 'bad'] as const).map((tone) => (
          <span key={tone} className={styles.probe} data-tone={tone} />
        ))}
      </div>
      <figcaption className={styles.caption}>
        {lines.map((line) => (
          <span key={line.label} data-tone={line.tone}>
            {line.label}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

interface Drawing {
  readonly at: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly axes: readonly PlotAxis[];
}

/** Draws into a box as wide as it is, in the colours of the scheme; anew when either changes. Answers what ends it. */
function drawn(box: HTMLElement, what: () => Drawing): () => void {
  let plot = plotOf(box, what());
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const again = (): void => {
    plot.destroy();
    plot = plotOf(box, what());
  };
  const sizes = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: heightPixels }));
  sizes.observe(box);
  dark.addEventListener('change', again);
  return () => {
    dark.removeEventListener('change', again);
    sizes.disconnect();
    plot.destroy();
  };
}

/** One point alone stands in the middle of two hours, not at the edge of years. */
function aroundTimes(_: uPlot, from: number, to: number): [number, number] {
  return from === to ? [from - 3_600, to + 3_600] : [from, to];
}

function plotOf(box: HTMLElement, { at, lines, axes }: Drawing): uPlot {
  // A canvas knows no variables of style sheets: their colours are read where they are used.
  const colour = (tone: string): string =>
    getComputedStyle(box.querySelector(`[data-tone="${tone}"]`) ?? box).color;
  const stroke = colour('text');
  const grid = { stroke: colour('line'), width: 1 };
  const range = (_: uPlot, __: number, max: number): [number, number] => [0, Math.max(max, 0.01) * 1.1];
  const options: uPlot.Options = {
    width: box.clientWidth,
    height: heightPixels,
    legend: { show: false },
    cursor: { y: false },
    scales: { x: { range: aroundTimes }, ...Object.fromEntries(axes.map(({ name }) => [name, { range }])) },
    series: [
      {},
      ...lines.map(({ axis, tone }) => ({
        scale: axis,
        stroke: colour(tone),
        width: 2,
        points: { show: true, size: 6 },
      })),
    ],
    axes: [
      { stroke, grid, ticks: grid },
      ...axes.map(
        ({ name, words }, index): uPlot.Axis => ({
          scale: name,
          side: index === 0 ? 3 : 1,
          size: 62,
          stroke,
          grid: index === 0 ? grid : { show: false },
          ticks: grid,
          values: (_, values) => values.map(words),
        }),
      ),
    ],
  };
  return new uPlot(options, [[...at], ...lines.map(({ values }) => [...values])], box);
}
