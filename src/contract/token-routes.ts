import { at, get, post, type RouteSpec } from './route-spec.ts';
import { pageOf } from './page.ts';
import { newToken, token, tokenBody } from './token.ts';

/** The routes about tokens. */
export const tokenRoutes = {
  listTokens: {
    ...get,
    needs: 'admin',
    path: at('/tokens'),
    summary: 'Tokens and signed-in browsers, revoked ones included',
    answer: pageOf(token),
  },
  createToken: {
    ...post,
    needs: 'admin',
    path: at('/tokens'),
    summary: 'Make a token with a name and a scope; its secret is answered once',
    body: tokenBody,
    status: 201,
    answer: newToken,
    answersSecret: true,
  },
  revokeToken: {
    method: 'DELETE',
    needs: 'admin',
    path: at('/tokens/:name'),
    summary: 'Revoke a token, or sign a browser out; it is refused from now on',
    status: 200,
    answer: token,
  },
} as const satisfies Record<string, RouteSpec>;
