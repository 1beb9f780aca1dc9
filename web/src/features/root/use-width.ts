import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** A ref for an element, and how wide that is; pixels, 0 before it is there. */
export function useWidth(): [ref: RefObject<HTMLDivElement | null>, width: number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const look = (): void => setWidth(element.clientWidth);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
