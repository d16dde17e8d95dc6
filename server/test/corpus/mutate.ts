// Sends damaged copies of the corpus to a service: npm run mutate -- [--files N] [--seed S] [--only NAME,NAME]
import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../../src/platform/database/embedded.ts';
import { urlOf } from '../support/clone.ts';
import { makeDirectory } from '../support/replica.ts';
import { runCampaign, type TypeReport } from './campaign.ts';
import { corpus } from './files.ts';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '1024' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const names = values.only?.split(',');
const chosen = corpus.filter(({ name }) => names === undefined || names.includes(name));

function show({ name, outcomes, peakBytes, slowest }: TypeReport): void {
  const counts = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  console.log(
    `${name.padEnd(24)} ${counts.join(', ').padEnd(56)} peak ${String(Math.round(peakBytes / 1024 ** 2)).padStart(5)} MB` +
      `  slowest ${(slowest.milliseconds / 1000).toFixed(1).padStart(5)} s (${slowest.what})`,
  );
}

const began = performance.now();
const dataDir = await makeDirectory();
const database = await startEmbedded({ dataDir, settings: { fsync: 'off' }, log: console.error });
try {
  const databaseUrl = urlOf(database.connection);
  const [files, seed] = [Number(values.files), Number(values.seed)];
  const { faults, reasons } = await runCampaign({ databaseUrl, corpus: chosen, files, seed, onType: show });
  console.log('\nWhy files were not drawn:');
  for (const [reason, count] of reasons) console.log(`${String(count).padStart(5)}  ${reason}`);
  console.log(
    `\n${files} files with seed ${seed} in ${Math.round((performance.now() - began) / 1000)} s, ${faults.length} faults`,
  );
  for (const fault of faults) console.log(`FAULT  ${fault}`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
}
