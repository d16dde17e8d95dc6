import { join } from 'node:path';
import type { Config } from '../../core/config.ts';
import type { Deps } from '../../core/deps.ts';
import { say } from '../../platform/language/say.ts';
import { enterToStart } from '../library-place.ts';
import { demoAdministrator, fillDemo } from './fill.ts';
import { addStudio } from './studio.ts';

/**
 * `vitrine demo`: serves a sample library, separate from the real one, while filling it. Its pictures are drawn in their
 * usual size times `pictureScale`.
 */
export async function demoCommand<Running extends { url: string | null; deps: Deps }>(
  config: Config,
  startServing: (config: Config) => Promise<Running>,
  untilStopped: (running: Running) => Promise<void>,
  pictureScale = 1,
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
  const { language } = config;
  enterToStart(own);
  const running = await startServing(own);
  console.log(`listening on ${running.url}`);
  const { username, password } = demoAdministrator;
  console.log(say(language, 'sign in as {username} with the password {password}', { username, password }));
  const began = Date.now();
  await fillDemo(running.deps, pictureScale);
  if (running.url !== null) await addStudio(running.deps, running.url, password);
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(say(language, 'the sample library is complete ({seconds} s)', { seconds }));
  await untilStopped(running);
}
