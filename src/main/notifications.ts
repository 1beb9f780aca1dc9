import type { Clock } from '../base/clock.ts';
import { StemmaError } from '../base/errors.ts';
import type { Redaction } from '../base/redaction.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import type { LedgerStore } from '../ledger/store.ts';
import { Notifier } from '../notify/notifier.ts';
import type { SendingParts } from '../notify/sending.ts';
import type { TargetSettings } from '../notify/settings.ts';
import { createTarget } from '../notify/targets.ts';

/** Who is told, as the configuration says it. */
export interface NotifySettings {
  readonly targets: Readonly<Record<string, TargetSettings>>;
  /** Names of those who hear of what has no schedule. */
  readonly always: readonly string[];
}

/** Reads who is told. Throws `INVALID_CONFIG` when `notifyAlways` names a target that there is not. */
export function notifySettings({ notify = {}, notifyAlways = [] }: ConfigFile): NotifySettings {
  for (const name of notifyAlways) {
    if (Object.hasOwn(notify, name)) continue;
    const known = Object.keys(notify);
    const which = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
    const message = `notifyAlways names "${name}", which is no target under notify; ${which}.`;
    throw new StemmaError('INVALID_CONFIG', message, { key: 'notifyAlways' });
  }
  return { targets: notify, always: notifyAlways };
}

/** What notifications are made of. */
export interface NotificationParts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly redaction: Redaction;
  readonly configDirectory: string;
  /** The address of the page, for people. */
  readonly pageUrl: () => string;
  readonly notify: NotifySettings;
}

/** Wires those who are told. */
export function createNotifier(parts: NotificationParts): Notifier {
  const { store, clock, random, redaction, notify } = parts;
  const sending: SendingParts = {
    clock,
    redaction,
    directory: parts.configDirectory,
    env: process.env,
    places: () => ({ pageUrl: parts.pageUrl().replace(/\/+$/, '') }),
  };
  const targets = Object.entries(notify.targets).map(
    ([name, settings]) => [name, createTarget(settings, sending)] as const,
  );
  return new Notifier({
    store,
    clock,
    random,
    targets: new Map(targets),
    always: notify.always,
    redact: (text) => redaction.text(text),
  });
}
