import type { HandlerContext, HandlersOf } from './route-request.ts';
import { valueOf } from './problems.ts';

/** The routes about tokens. */
export function tokenHandlers({
  ports: { tokens },
  openCallers,
}: HandlerContext): HandlersOf<'listTokens' | 'createToken' | 'revokeToken'> {
  return {
    listTokens: async () => ({ items: [...(await tokens.list())] }),
    createToken: async ({ body, call }) => valueOf(await tokens.create(body, call)),
    revokeToken: async ({ parameter, call }) => {
      const revoked = valueOf(await tokens.revoke(parameter, call));
      openCallers.revoked(revoked.name);
      return revoked;
    },
  };
}
