import { type FirstStep, firstSteps, getFirstSteps } from '@vitrine/contract/first-steps';
import type { SignedIn } from '../../access/caller.ts';
import { mayTake } from '../../access/first-steps.ts';
import { live } from '../../access/live.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { readMail } from '../../people/mail/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { readAccents, readActiveLogo, readFonts } from '../appearance/show.ts';
import { readLastBackup } from '../metrics/last-backup.ts';

/** How long an account in use is new. */
const NEW_MS = 30 * 24 * 3600 * 1000;

/** Reads everything that needs no settings. Each row is found by an index, or is the first that is not the caller's. */
async function readFacts(db: Database, { ref }: SignedIn) {
  const since = new Date(Date.now() - NEW_MS).toISOString();
  return db
    .selectNoFrom(({ exists, selectFrom, not, or }) => {
      const own = selectFrom('users').select('ref').where('ref', '=', ref);
      const published = selectFrom('posts as p').select('p.id').where('p.draft', '=', false).where(live('p'));
      const others = exists(selectFrom('users').select('ref').where('ref', '<>', ref));
      const invitations = exists(selectFrom('invitations').select('id').where('revoked_at', 'is', null));
      return [
        or([exists(own.where('created_at', '>', since)), not(exists(published))]).as('isNew'),
        others.as('hasOthers'),
        or([others, invitations]).as('people'),
        exists(selectFrom('audit_events').select('id').where('event', 'like', 'field.%')).as('fields'),
        exists(
          own.where((row) =>
            row.or([row('avatar_asset_id', 'is not', null), row('picture_asset_id', 'is not', null)]),
          ),
        ).as('picture'),
        exists(selectFrom('assets').select('id').where('owner_user_ref', '=', ref)).as('upload'),
        or([
          exists(selectFrom('user_follows').select('followed_user_ref').where('follower_user_ref', '=', ref)),
          exists(selectFrom('team_follows').select('team_id').where('user_ref', '=', ref)),
        ]).as('follow'),
      ];
    })
    .executeTakeFirstOrThrow();
}
type Facts = Awaited<ReturnType<typeof readFacts>>;

/** Returns whether the library has a logo, a font or a colour of its own. */
async function hasOwnLook(db: Database): Promise<boolean> {
  if ((await readActiveLogo(db)) !== null) return true;
  const chosen = { ...(await readFonts(db)), ...(await readAccents(db)) };
  return Object.values(chosen).some((choice) => choice !== '');
}

const doneTests: Readonly<Record<FirstStep, (facts: Facts, deps: Deps) => boolean | Promise<boolean>>> = {
  people: ({ people }) => Boolean(people),
  fields: ({ fields }) => Boolean(fields),
  look: (_, { db }) => hasOwnLook(db),
  mail: async (_, deps) => (await readMail(deps)) !== null,
  backup: async (_, { db }) => (await readLastBackup(db)) !== null,
  picture: ({ picture }) => Boolean(picture),
  upload: ({ upload }) => Boolean(upload),
  follow: ({ follow }) => Boolean(follow),
};

/** Returns the steps that the caller may take (SETUP-6). */
export const showFirstSteps = handle(getFirstSteps, async (deps, { caller }) => {
  const facts = await readFacts(deps.db, caller);
  const isOffered = (step: FirstStep) =>
    mayTake(caller, step) && (step !== 'follow' || Boolean(facts.hasOthers));
  const steps = [];
  for (const step of facts.isNew ? firstSteps.filter(isOffered) : [])
    steps.push({ step, done: await doneTests[step](facts, deps) });
  return { status: 200, body: { steps } };
});
