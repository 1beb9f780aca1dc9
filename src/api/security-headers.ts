const everywhere: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

const locked = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const pageParts = "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'";

/** Adds what keeps browsers from guessing, framing and caching. A handler may have set a policy of its own. */
export function addSecurityHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(everywhere)) headers.set(name, value);
  if (!headers.has('content-security-policy')) headers.set('content-security-policy', locked);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
}

/** The policy of the pages: their own scripts and styles and nothing inline. */
export const pagePolicy = `${locked}; ${pageParts}`;
