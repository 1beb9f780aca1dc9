import { z } from 'zod';

/** Where a run works: `exclusive` locks the real path, `worktree` and `scratch` are its own, `shared` takes no lock. */
export const workspaceMode = z.enum(['exclusive', 'worktree', 'scratch', 'shared']);
