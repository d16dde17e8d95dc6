import { sentence, sentenceCount } from '../../platform/language/sentence.ts';
import { importAlbums } from './albums.ts';
import { importAssets } from './assets.ts';
import type { Context } from './context.ts';
import { unwiredSources } from './fields.ts';
import { importLinks } from './links.ts';
import { importStacks } from './stacks.ts';
import { reportVanished } from './vanished.ts';

/** The steps of an import, each of which goes on where an earlier run was stopped or killed. */
export async function importAll(context: Context, onProgress: (done: number) => void): Promise<void> {
  const { deps, library, reporter, run, isStopped } = context;
  run.step('definitions');
  for (const [source, count] of await unwiredSources(deps.db, library))
    reporter.leaveOut(
      'field',
      source,
      sentenceCount(count, [
        'no field here is filled from it; # file has it',
        'no field here is filled from it; # files have it',
      ]),
    );
  for (const { id, name } of library.partners)
    reporter.leaveOut(
      'partner',
      id,
      sentence('{name} sees the whole library there, and was given nothing here', { name }),
    );
  run.step('resources');
  await importAssets(context, onProgress);
  run.step('others');
  for (const step of [importStacks, importAlbums, importLinks, reportVanished]) {
    if (isStopped()) return;
    await step(context);
  }
}
