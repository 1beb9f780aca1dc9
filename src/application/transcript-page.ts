import type { SessionId } from '../base/ids.ts';
import type { Page } from '../contract/page.ts';
import type { TranscriptItem } from '../contract/session.ts';
import { toInstant } from '../contract/text.ts';
import type { Records, TranscriptItem as StoredItem } from '../store/records.ts';
import { invalidCursor } from './list-filters.ts';

/** Which part of a transcript: behind `after`, or the last of what is before `before`; `end` is behind all of it. */
export interface TranscriptPlace {
  readonly after?: string;
  readonly before?: string;
  readonly limit: number;
}

/** A part of what was said in a session, oldest first. Throws `INVALID_INPUT` for a place that there cannot be. */
export async function transcriptPage(
  records: Records,
  id: SessionId,
  { after, before, limit }: TranscriptPlace,
): Promise<Page<TranscriptItem>> {
  const isBackward = before !== undefined;
  const items = isBackward
    ? await records.transcriptBefore(
        id,
        before === 'end' ? Number.MAX_SAFE_INTEGER : placeOf(before, 'before'),
        limit,
      )
    : await records.transcript(id, placeOf(after ?? '0', 'after'), limit);
  const next = isBackward ? items[0] : items.at(-1);
  return {
    items: items.map(toItem),
    ...(next && items.length === limit ? { nextCursor: String(next.sequence) } : {}),
  };
}

function placeOf(text: string, name: string): number {
  const place = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(place)) throw invalidCursor(text, name);
  return place;
}

function toItem(item: StoredItem): TranscriptItem {
  return {
    id: String(item.sequence),
    at: toInstant(item.at),
    kind: item.kind as TranscriptItem['kind'],
    text: item.text,
    ...(item.turnId === null ? {} : { turnId: item.turnId }),
  };
}
