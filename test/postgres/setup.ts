import { postgresPrograms, startCluster } from './cluster.ts';

/** One server for all tests of a run, whose address they find in the environment. Without one they are skipped, loudly. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (postgresPrograms() === undefined) {
    console.error('SKIPPED: there is no PostgreSQL here (Debian: postgresql).');
    return undefined;
  }
  const cluster = await startCluster();
  process.env['STEMMA_TEST_POSTGRES'] = cluster.url;
  return () => cluster.remove();
}
