import type { ReactNode } from 'react';
import type { Run } from '../../../../src/contract/run.ts';
import { Plot, type PlotLine } from '../../ui/plot.tsx';
import { durationWords } from '../../ui/words.ts';
import { runSeries, spreadWords } from './run-series.ts';

/** Minutes for people; tenths of a second where it is short. */
function timeWords(minutes: number): string {
  return minutes < 1 / 6 ? `${(minutes * 60).toFixed(1)}s` : durationWords(minutes * 60_000);
}

/** How long runs took, and what they used, over time. */
export function RunChart({ runs }: { readonly runs: readonly Run[] }): ReactNode {
  const { at, minutes, usd, tokens } = runSeries(runs);
  const isMoney = usd.some((value) => value !== null);
  const used = isMoney ? usd : tokens;
  const usedWords = (value: number): string =>
    isMoney ? `$${value.toFixed(2)}` : `${value.toLocaleString('en')} tokens`;
  const label = `run time: ${spreadWords(minutes, timeWords)}`;
  const lines: PlotLine[] = [{ label, tone: 'running', axis: 'time', values: minutes }];
  const axes = [{ name: 'time', words: timeWords }];
  if (used.some((value) => value !== null)) {
    const said = `${isMoney ? 'cost' : 'used'}: ${spreadWords(used, usedWords)}`;
    lines.push({ label: said, tone: 'wait', axis: 'used', values: used });
    const short = (value: number): string => (isMoney ? `$${value.toFixed(2)}` : value.toLocaleString('en'));
    axes.push({ name: 'used', words: short });
  }
  return <Plot at={at} lines={lines} axes={axes} label={lines.map((line) => line.label).join('. ')} />;
}
