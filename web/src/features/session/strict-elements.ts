/*
 * The page's Content-Security-Policy lets nothing be styled inline, and the terminal's renderer does so: by `<style>` elements and by
 * `style` attributes. While one is open, new elements do the same by a style sheet and by their style object, which the policy leaves
 * to scripts that it trusts. Nothing becomes possible that a script of the page could not do before.
 */

let users = 0;

/** Makes new elements such ones, until what this returns is called. */
export function beginStrictElements(): () => void {
  const own = document as { createElement?: unknown };
  if (users++ === 0) own.createElement = strictElement;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    // The method of the prototype is seen again.
    if (--users === 0) delete own.createElement;
  };
}

function strictElement(name: string, options?: ElementCreationOptions): HTMLElement {
  if (name.toLowerCase() === 'style') return styleElement();
  return styledElement(Document.prototype.createElement.call(document, name, options));
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
