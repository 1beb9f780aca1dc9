import type { Metric } from './ports.ts';

/** The metrics in the Prometheus text format, version 0.0.4. */
export function writeMetrics(metrics: readonly Metric[]): string {
  const seen = new Set<string>();
  const lines: string[] = [];
  for (const metric of metrics) {
    if (!seen.has(metric.name)) {
      seen.add(metric.name);
      lines.push(`# HELP ${metric.name} ${metric.help.replaceAll('\\', '\\\\').replaceAll('\n', ' ')}`);
      lines.push(`# TYPE ${metric.name} ${metric.type}`);
    }
    lines.push(`${metric.name}${writeLabels(metric.labels ?? {})} ${metric.value}`);
  }
  return `${lines.join('\n')}\n`;
}

function writeLabels(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
