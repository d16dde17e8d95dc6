import { join } from 'node:path';
import type { Config } from '../../core/config.ts';
import type { Deps } from '../../core/deps.ts';
import { enterToStart } from '../library-place.ts';
import { demoAdministrator, fillDemo } from './fill.ts';
import { addStudio } from './studio.ts';

/** `vitrine demo`: serves a sample library, separate from the real one, while filling it. */
export async function demoCommand<Running extends { url: string | null; deps: Deps }>(
  config: Config,
  startServing: (config: Config) => Promise<Running>,
  untilStopped: (running: Running) => Promise<void>,
): Promise<void> {
  const own = {
    ...config,
    dataDir: join(config.dataDir, 'demo'),
    databaseUrl: null,
    databaseDirectUrl: null,
    databaseReplicaUrl: null,
    s3: null,
    admin: demoAdministrator,
    demo: true,
  };
  enterToStart(own);
  const running = await startServing(own);
  console.log(`listening on ${running.url}`);
  console.log(`sign in as ${demoAdministrator.username} with the password ${demoAdministrator.password}`);
  const began = Date.now();
  await fillDemo(running.deps);
  if (running.url !== null) await addStudio(running.deps, running.url, demoAdministrator.password);
  console.log(`the sample library is complete (${Math.round((Date.now() - began) / 1000)} s)`);
  await untilStopped(running);
}
