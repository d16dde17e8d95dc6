import type { Library } from '../support/library.ts';

/** Records this many recent failures of a name. */
export async function addFailures({ deps }: Library, name: string, failures: number): Promise<void> {
  await deps.db.insertInto('sign_in_failures').values({ name, failures }).execute();
}

export async function forgetFailures({ deps }: Library): Promise<void> {
  await deps.db.deleteFrom('sign_in_failures').execute();
}
