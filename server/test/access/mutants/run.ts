// Breaks the rules of access/ one place at a time and says which changes no test notices:
// npm run mutants -- [--only posts.ts,assets.ts] [--every N] [--from K]
import { parseArgs } from 'node:util';
import { createVitest, type Reporter, type TestSpecification, type Vitest } from 'vitest/node';
import { listMutants, type Mutant } from './list.ts';

/** Folders of tests that prove the rules of a file, the most likely to notice first. `access` is always among them. */
const proofs: Record<string, readonly string[]> = {
  'account-data.ts': ['account/', 'export'],
  'accounts.ts': ['access/accounts', 'users', 'roles', 'identity/set-up'],
  'activitypub.ts': ['activitypub'],
  'administered.ts': ['access/accounts', 'users'],
  'annotations.ts': ['annotations', 'comments', 'access/matrix', 'federation/shared-comments'],
  'approvals.ts': ['reviews/approvals', 'links', 'batches'],
  'archives.ts': ['archives'],
  'assets.ts': ['access/matrix', 'assets', 'posts', 'search', 'browsing', 'admin/exposed-assets'],
  'audited.ts': ['audit'],
  'batches.ts': ['batches'],
  'caller-of.ts': ['access/matrix', 'notifications', 'mail', 'links', 'federation'],
  'caller.ts': ['access/matrix', 'roles', 'identity/impersonation'],
  'candidates.ts': ['posts', 'search', 'access/matrix'],
  'capabilities.ts': [
    'roles',
    'access/accounts',
    'notifications/deciders',
    'requests',
    'teams',
    'identity/impersonation',
  ],
  'collections.ts': ['access/matrix', 'collections'],
  'comments.ts': ['access/matrix', 'comments'],
  'deferred.ts': ['posts', 'batches'],
  'door.ts': ['access/accounts', 'identity/tokens', 'identity/impersonation'],
  'downloads.ts': ['downloads'],
  'exports.ts': ['annotations/exports', 'export/'],
  'federation.ts': ['federation'],
  'field-values.ts': ['access/described', 'fields'],
  'fields.ts': ['access/accounts', 'fields'],
  'guests.ts': ['links/guests', 'links'],
  'identities.ts': ['access/described', 'users', 'browsing', 'search', 'comments'],
  'impersonation.ts': ['identity/impersonation'],
  'invitations.ts': ['invitations'],
  'known-accounts.ts': ['access/described', 'users'],
  'legacy.ts': ['import/resourcespace/access'],
  'links.ts': ['links', 'versions', 'access/matrix'],
  'mirrored-audience.ts': ['federation'],
  'notifications.ts': ['notifications', 'teams/members', 'account/deletion', 'links/guests'],
  'posts.ts': ['access/matrix', 'posts', 'races', 'federation'],
  'readable-posts.ts': ['races', 'access/matrix', 'posts', 'collections'],
  'requests.ts': ['requests', 'access/described', 'notifications'],
  'reviews.ts': ['reviews', 'access/matrix'],
  'roots.ts': ['roots/roots'],
  'search.ts': ['access/described', 'search'],
  'stacks.ts': ['stacks', 'access/matrix'],
  'tags.ts': ['access/described', 'tags', 'search'],
  'teams.ts': ['teams', 'access/described', 'federation/teams'],
  'transfers.ts': ['users/transfer'],
  'trash.ts': ['trash', 'access/matrix'],
  'uploads.ts': ['uploads'],
  'visibilities.ts': ['posts', 'collections', 'access/matrix'],
  'visitors.ts': ['public', 'access/matrix'],
  'workflow.ts': ['posts/workflow'],
};

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    /** Tries one in this many, spread over all files. */
    every: { type: 'string', default: '1' },
    /** Where to begin, to continue an interrupted run. */
    from: { type: 'string', default: '0' },
  },
});
const only = values.only?.split(',');
const every = Number(values.every);
const mutants = listMutants()
  .filter(({ name }) => only === undefined || only.some((file) => name.startsWith(`${file}:`)))
  .filter((_, place) => place % every === 0)
  .slice(Number(values.from));

let current: Mutant | null = null;
const failures: string[] = [];

const reporter: Reporter = {
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    if (state !== 'failed') return;
    // With the message, because a time-out shows a busy machine, not a test that notices.
    failures.push(`${test.fullName} (${errors[0]?.message.split('\n', 1)[0]})`);
    void vitest.cancelCurrentRun('test-failure');
  },
  // A hook that fails leaves the tests of its suite skipped.
  onTestSuiteResult(suite) {
    const [error] = suite.errors();
    if (error === undefined) return;
    failures.push(`${suite.fullName}: ${error.message}`);
    void vitest.cancelCurrentRun('test-failure');
  },
  onTestModuleEnd(module) {
    const [error] = module.errors();
    if (error === undefined) return;
    failures.push(`${module.relativeModuleId}: ${error.message}`);
    void vitest.cancelCurrentRun('test-failure');
  },
};

const vitest: Vitest = await createVitest(
  'test',
  // The cache of transformed modules would keep a mutant, and hide the next one of its file.
  { watch: false, reporters: [reporter], maxWorkers: 1, fsModuleCache: false },
  {
    plugins: [
      {
        name: 'mutant',
        enforce: 'pre',
        transform(code, id) {
          if (id !== current?.file) return null;
          return code.slice(0, current.start) + current.replacement + code.slice(current.end);
        },
      },
    ],
  },
);

/** Folders whose tests take long and prove no rule of access. */
const unrelated = /\/test\/(backup|corpus|deploy|fuzz|import|platform|web)\//;

/** Returns the specifications of a mutant in steps, so that most are noticed before the expensive ones run. */
async function stepsOf({ name }: Mutant): Promise<TestSpecification[][]> {
  const folders = new Set([
    ...(proofs[name.split(':')[0] ?? ''] ?? ['access/matrix', 'access/described']),
    'access/',
  ]);
  const steps: TestSpecification[][] = [];
  for (const folder of folders) {
    steps.push(await vitest.globTestSpecifications([`server/test/${folder}`]));
  }
  const all = await vitest.globTestSpecifications(['server/test/']);
  steps.push(all.filter(({ moduleId }) => !unrelated.test(moduleId)));
  return steps;
}

/** Returns the first test that notices the mutant, or null. */
async function noticedBy(mutant: Mutant): Promise<string | null> {
  const former = current;
  current = mutant;
  failures.length = 0;
  const ran = new Set<string>();
  for (const step of await stepsOf(mutant)) {
    const rest = step.filter(({ moduleId }) => !ran.has(moduleId));
    for (const { moduleId } of rest) ran.add(moduleId);
    if (rest.length === 0) continue;
    // Also restores the file of the former mutant.
    for (const file of new Set([mutant.file, former?.file ?? mutant.file])) vitest.invalidateFile(file);
    const { unhandledErrors } = await vitest.runTestSpecifications(rest);
    const [unhandled] = unhandledErrors;
    if (failures[0] !== undefined) return failures[0];
    if (unhandled !== undefined) return String(unhandled);
  }
  return null;
}

// A test that fails anyway would notice every mutant.
const unchanged: Mutant = { name: 'unchanged', file: '', start: 0, end: 0, replacement: '' };
const failing = await noticedBy(unchanged);
if (failing !== null) throw new Error(`fails without a change: ${failing}`);

const survivors: string[] = [];
for (const [place, mutant] of mutants.entries()) {
  const began = performance.now();
  const test = await noticedBy(mutant);
  if (test === null) survivors.push(mutant.name);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(
    `${place + 1}/${mutants.length} ${mutant.name}: ${test === null ? 'SURVIVES' : `noticed by ${test}`} (${seconds} s)`,
  );
}
await vitest.close();
console.log(`${mutants.length - survivors.length} noticed, ${survivors.length} survived`);
for (const name of survivors) console.log(`  ${name}`);
