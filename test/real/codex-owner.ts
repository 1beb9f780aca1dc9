/**
 * A process that owns a codex conversation and is killed by a test: it opens the session, sends one text, and writes
 * each event as a line of JSON on stdout. Its one argument is the request without `emit`, with `delivery`.
 */
import { systemClock } from '../../src/base/clock.ts';
import { codexDriver } from '../../src/drivers/codex/driver.ts';
import type { Delivery, OpenRequest } from '../../src/drivers/port.ts';

const { delivery, steer, ...request } = JSON.parse(process.argv[2] ?? '{}') as OpenRequest & {
  readonly delivery: Delivery;
  readonly steer?: Delivery;
};
// The driver keeps no process alive by itself.
setInterval(() => undefined, 60_000);
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const opened = await codexDriver({ clock: systemClock }).open({
  ...request,
  emit: (event) => {
    say(event);
    if (steer && opened?.ok && event.type === 'item' && event.item.kind === 'toolCall') {
      void opened.conversation.steer(steer).then((outcome) => say({ steered: outcome }));
    }
  },
});
say(opened.ok ? { opened: opened.how, nativeId: opened.conversation.nativeId } : opened);
if (opened.ok) say({ sent: await opened.conversation.start(delivery) });
