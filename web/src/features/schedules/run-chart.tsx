import { type ReactNode, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Run } from '../../../../src/contract/run.ts';
import view from '../../ui/view.module.css';
import { durationWords } from '../../ui/words.ts';
import { type RunSeries, runSeries, spreadWords } from './run-series.ts';
import styles from './schedules.module.css';

const heightPixels = 220;

/** How long runs took, and what they cost, over time: as a plot, and in words for those who do not see it. */
export function RunChart({ runs }: { readonly runs: readonly Run[] }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const series = runSeries(runs);
  const asText = JSON.stringify(series);
  useEffect(() => {
    const box = place.current;
    return box ? drawn(box, JSON.parse(asText) as RunSeries) : undefined;
  }, [asText]);
  const time = spreadWords(series.minutes, (minutes) => durationWords(minutes * 60_000));
  const cost = spreadWords(series.usd, (usd) => `$${usd.toFixed(2)}`);
  const tokens = spreadWords(series.tokens, (count) => `${count.toLocaleString('en')} tokens`);
  return (
    <figure className={view.section}>
      <div
        ref={place}
        className={styles.chart}
        role="img"
        aria-label={`Run time: ${time}. ${cost || tokens}`}
      >
        {(['text', 'line', 'time', 'cost'] as const).map((tone) => (
          <span key={tone} className={styles.probe} data-tone={tone} />
        ))}
      </div>
      <figcaption className={styles.dots}>
        <span>run time: {time}</span>
        {(cost || tokens) !== '' && <span data-tone="cost">{cost === '' ? tokens : `cost: ${cost}`}</span>}
      </figcaption>
    </figure>
  );
}

/** Draws into a box as wide as it is, in the colours of the scheme; anew when either changes. Answers what ends it. */
function drawn(box: HTMLElement, series: RunSeries): () => void {
  let plot = plotOf(box, series);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const again = (): void => {
    plot.destroy();
    plot = plotOf(box, series);
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

function plotOf(box: HTMLElement, series: RunSeries): uPlot {
  // A canvas knows no variables of style sheets: their colours are read where they are used.
  const colour = (tone: string): string =>
    getComputedStyle(box.querySelector(`[data-tone="${tone}"]`) ?? box).color;
  const [text, line] = [colour('text'), colour('line')];
  const hasUsd = series.usd.some((value) => value !== null);
  const used = hasUsd ? series.usd : series.tokens;
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const points = { show: true, size: 6 };
  const options: uPlot.Options = {
    width: box.clientWidth,
    height: heightPixels,
    legend: { show: false },
    cursor: { y: false },
    scales: {
      time: { range: (_, __, max) => [0, Math.max(max, 0.1) * 1.1] },
      used: { range: (_, __, max) => [0, Math.max(max, 0.01) * 1.1] },
    },
    series: [
      {},
      { scale: 'time', stroke: colour('time'), width: 2, points },
      { scale: 'used', stroke: colour('cost'), width: 2, points, show: used.some((value) => value !== null) },
    ],
    axes: [
      axis,
      {
        ...axis,
        scale: 'time',
        size: 62,
        values: (_, values) => values.map((each) => durationWords(each * 60_000)),
      },
      {
        scale: 'used',
        side: 1,
        stroke: text,
        grid: { show: false },
        size: 62,
        values: (_, values) =>
          values.map((each) => (hasUsd ? `$${each.toFixed(2)}` : each.toLocaleString('en'))),
      },
    ],
  };
  return new uPlot(options, [series.at, series.minutes, used], box);
}
