const everywhere: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

const sealed = "default-src 'none'; form-action 'none'; frame-ancestors 'none'";
const locked = `${sealed}; base-uri 'none'`;
const pageParts =
  "base-uri 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Adds what keeps browsers from guessing, framing and caching. A handler may have set a policy of its own. */
export function addSecurityHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(everywhere)) headers.set(name, value);
  if (!headers.has('content-security-policy')) headers.set('content-security-policy', locked);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
}

/**
 * The policy of the page: its own scripts and styles and nothing inline. No text can become markup (trusted types), and its base
 * address, which the server writes, is its own.
 */
export const pagePolicy = `${sealed}; ${pageParts}`;

/** The policy of a page without a script, whose one style has this hash (`sha256-…`). */
export function plainPolicy(styleHash: string): string {
  return `${locked}; style-src '${styleHash}'; img-src data:`;
}
