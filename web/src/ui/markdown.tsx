import type { ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import styles from './markdown.module.css';
import { plainBlock, plainLine } from './plain.ts';

/** Beyond this a text is shown as it is: to make something of it would take too long. UTF-16 units. */
const longestMarkdown = 40_000;

/**
 * A text of an agent with its markup: never HTML, no image is loaded, and a link says where it goes. Load it lazily.
 */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  const plain = plainBlock(text);
  if (plain.length > longestMarkdown) return <pre className={styles.plain}>{plain}</pre>;
  return (
    <div className={styles.markdown}>
      <ReactMarkdown remarkPlugins={[remarkGfm]} urlTransform={keep} components={components}>
        {plain}
      </ReactMarkdown>
    </div>
  );
}

// What an address may be is decided where it is shown.
function keep(url: string): string {
  return url;
}

const components: Components = {
  a: ({ href = '', children }) => <PlainLink address={href}>{children}</PlainLink>,
  img: ({ src, alt = '' }) => {
    const address = typeof src === 'string' ? src : '';
    return (
      <span className={styles.image}>
        image: {plainLine(alt) || 'without a description'} <PlainLink address={address}>{address}</PlainLink>
      </span>
    );
  },
  // A wide table moves by itself, not the page.
  table: ({ children }) => (
    <div className={styles.wide} tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  // A heading of an agent is none of the page's.
  h1: ({ children }) => <p className={styles.heading}>{children}</p>,
  h2: ({ children }) => <p className={styles.heading}>{children}</p>,
  h3: ({ children }) => <p className={styles.heading}>{children}</p>,
  h4: ({ children }) => <p className={styles.heading}>{children}</p>,
  h5: ({ children }) => <p className={styles.heading}>{children}</p>,
  h6: ({ children }) => <p className={styles.heading}>{children}</p>,
  input: ({ checked }) => <span>{checked ? '☑' : '☐'} </span>,
};

/** A link to another site says its whole host; one that is no address of the web is text. */
function PlainLink({
  address,
  children,
}: {
  readonly address: string;
  readonly children: ReactNode;
}): ReactNode {
  const url = webAddress(address);
  if (!url)
    return (
      <>
        {children}
        {address !== '' && address !== children && (
          <code className={styles.address}>{plainLine(address, 120)}</code>
        )}
      </>
    );
  return (
    <>
      <a href={url.href} target="_blank" rel="noreferrer noopener nofollow">
        {children}
      </a>
      {children !== address && <span className={styles.address}> ({url.host})</span>}
    </>
  );
}

function webAddress(address: string): URL | undefined {
  try {
    const url = new URL(address);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
  } catch {
    return undefined;
  }
}
