import {
  type RefObject,
  startTransition,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
} from 'react';
import { rowsOnScreen } from './rows-on-screen.ts';

/** How high what stays at the top of the window is: rows are not scrolled under it. Pixels. */
const headPx = 34;

/** The rows to draw, each with where its top is within the body; pixels. */
interface Rows {
  readonly items: readonly { readonly index: number; readonly top: number }[];
  readonly total: number;
  readonly scrollTo: (place: number) => void;
}

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
  const top = useTopOf(body);
  const { first, last } = useRange(count, height, top);
  const items = useMemo(() => {
    const places = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
    if (place < first && place < count) places.unshift(place);
    else if (place > last && place < count) places.push(place);
    return places.map((index) => ({ index, top: index * height }));
  }, [first, last, place, count, height]);
  const scrollTo = useCallback(
    (to: number) => {
      const above = top + to * height - headPx;
      const below = top + (to + 1) * height + headPx;
      if (above < scrollY) window.scrollTo({ top: above });
      else if (below > scrollY + innerHeight) window.scrollTo({ top: below - innerHeight });
    },
    [top, height],
  );
  return { items, total: count * height, scrollTo };
}

function useRange(count: number, height: number, top: number): { first: number; last: number } {
  const look = useCallback(
    () => rowsOnScreen({ count, height, from: scrollY - top, to: scrollY - top + innerHeight }),
    [count, height, top],
  );
  const [range, setRange] = useState(look);
  useEffect(() => {
    const update = (): void => {
      const next = look();
      // Rows beyond the edges are drawn already: there is time to draw the next ones without holding up the scrolling.
      startTransition(() =>
        setRange((now) => (now.first === next.first && now.last === next.last ? now : next)),
      );
    };
    update();
    addEventListener('scroll', update, { passive: true });
    addEventListener('resize', update);
    return () => {
      removeEventListener('scroll', update);
      removeEventListener('resize', update);
    };
  }, [look]);
  // The rows may have become fewer since one scrolled.
  return { first: Math.min(range.first, Math.max(0, count - 1)), last: Math.min(range.last, count - 1) };
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
