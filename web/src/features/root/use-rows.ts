import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';

/** The rows on the screen, each with where its top is within the body; pixels. */
interface Rows {
  readonly items: readonly { readonly index: number; readonly top: number }[];
  readonly total: number;
  readonly scrollTo: (place: number) => void;
}

/** How high what stays at the top of the window is: rows are not scrolled under it. Pixels. */
const headPx = 34;

/** Which of many rows of one height are on the screen; `place`, which has the focus, always is among them. */
export function useRows({
  count,
  height,
  place,
  body,
}: {
  readonly count: number;
  readonly height: number;
  readonly place: number;
  readonly body: RefObject<HTMLElement | null>;
}): Rows {
  const margin = useTopOf(body);
  const virtual = useWindowVirtualizer<HTMLElement>({
    count,
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: margin,
    scrollPaddingStart: headPx,
    useFlushSync: false,
    rangeExtractor: (range) => {
      const places = defaultRangeExtractor(range);
      if (places.includes(place) || place >= count) return places;
      return [...places, place].sort((left, right) => left - right);
    },
  });
  const { measure, scrollToIndex } = virtual;
  useLayoutEffect(() => {
    if (height > 0) measure();
  }, [height, measure]);
  const scrollTo = useCallback((to: number) => scrollToIndex(to, { align: 'auto' }), [scrollToIndex]);
  return {
    items: virtual.getVirtualItems().map(({ index, start }) => ({ index, top: start - margin })),
    total: virtual.getTotalSize(),
    scrollTo,
  };
}

/** How far below the top of the page an element is. What is above it may grow and shrink. */
function useTopOf(ref: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    const above = element?.closest('main');
    if (!element || !above) return;
    const look = (): void => setTop(Math.round(element.getBoundingClientRect().top + scrollY));
    const observer = new ResizeObserver(look);
    observer.observe(above);
    for (const child of above.querySelectorAll('header, section')) observer.observe(child);
    look();
    return () => observer.disconnect();
  }, [ref]);
  return top;
}
