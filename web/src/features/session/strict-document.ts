/*
 * The page's Content-Security-Policy lets nothing be styled inline, and the terminal's renderer does so: by `<style>` elements and by
 * `style` attributes. Here it gets elements that do the same by the style sheet and the style object, which the policy leaves to
 * scripts that it trusts.
 */

/** A document whose new elements are styled in ways that a strict policy allows. */
export function strictDocument(): Document {
  const createElement = (name: string): HTMLElement => strictElement(name);
  return new Proxy(document, {
    get(target, key) {
      if (key === 'createElement') return createElement;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** Runs what makes elements by the global document, with the same elements. */
export function withStrictElements(run: () => void): void {
  const own = document as { createElement?: unknown };
  own.createElement = strictElement;
  try {
    run();
  } finally {
    // The method of the prototype is seen again.
    delete own.createElement;
  }
}

function strictElement(name: string): HTMLElement {
  if (name.toLowerCase() === 'style') return styleElement();
  return styledElement(Document.prototype.createElement.call(document, name));
}

/** An element whose text becomes a style sheet of the document until it is removed. An empty `<style>` is refused too. */
function styleElement(): HTMLElement {
  const element = Document.prototype.createElement.call(document, 'template');
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  let text = '';
  Object.defineProperty(element, 'textContent', {
    get: () => text,
    set(css: string) {
      text = css;
      sheet.replaceSync(css);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

function styledElement(element: HTMLElement): HTMLElement {
  element.setAttribute = (name: string, value: string) => {
    if (name === 'style') element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
  return element;
}
