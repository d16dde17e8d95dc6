import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Deps } from '../../../src/core/deps.ts';
import { importResourceSpaceCommand } from '../../../src/operate/resourcespace/command.ts';
import type { Library } from '../../support/library.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { runCommand } from '../command-parts.ts';

/** What ResourceSpace answers about a resource, as far as tests compare it. */
interface ExpectedResource {
  ref: number;
  title_label: string | null;
  created: string;
  related: number[];
  contributor: string | null;
  geo: { lat: number; long: number } | null;
  file?: { sha256?: string | null; path?: string; missing?: boolean };
  fields?: {
    field: number;
    name: string;
    type: number;
    values: string[];
    raw: string[];
    paths?: string[][];
  }[];
  alternatives?: { ref: number; label: string; sha256?: string | null }[];
  log?: Record<string, number>;
  ratings?: { per_user?: unknown[] };
  comments?: {
    ref: number;
    body: string;
    hidden: number;
    created: string;
    user: string | null;
    fullname: string | null;
  }[];
  annotations?: { ref: number; x: number; y: number }[];
  /** Numbers of records. */
  licences?: number[] | null;
  consents?: number[] | null;
}

/** What ResourceSpace answers about itself. */
interface Expected {
  resources: ExpectedResource[];
  users: {
    ref: number;
    username: string;
    test_password: string;
    state: string;
    fullname: string | null;
    email: string;
    lang: string | null;
    created: string;
    account_expires: string | null;
  }[];
  fields: {
    ref: number;
    title: string;
    label: string;
    help_text: string | null;
    nodes?: { label: string }[];
  }[];
  requests: { ref: number; user: string; resources: number[]; status: number; comments: string }[];
  collections: {
    ref: number;
    type: number;
    label: string;
    owner_ref: number | null;
    shared_with_users: string[];
    shared_with_groups: unknown[];
    items: unknown[];
    smart?: unknown;
    order_shown_to_admin: number[];
  }[];
  licences: Record<string, string>[];
  consents: Record<string, string>[];
  /** One digit for each resource, in their order. */
  effective_access: { user: string; access: string }[];
}

/** A ResourceSpace with made-up content: its dump, its files, its settings, and what it answers about itself. */
export interface Harbour {
  directory: string;
  dump: string;
  expected: Expected;
}

/** Unpacks the installation into a temporary directory. */
export async function unpackHarbour(): Promise<Harbour> {
  const directory = await temporaryDirectory();
  const archive = process.env.RESOURCESPACE_ARCHIVE ?? join(import.meta.dirname, 'harbour.tar.gz');
  await promisify(execFile)('tar', ['-xzf', archive, '-C', directory]);
  const expected: Expected = JSON.parse(await readFile(join(directory, 'expected.json'), 'utf8'));
  return { directory, dump: join(directory, 'dump.sql'), expected };
}

/** Runs the command on a library that is being served. */
export async function runImport(
  library: Library,
  args: readonly string[],
  onDeps: (deps: Deps) => Deps = (deps) => deps,
) {
  return runCommand(
    library,
    (config, parts) => importResourceSpaceCommand(config, [...args], { ...parts, mysqlPassword: undefined }),
    onDeps,
  );
}

/** The options that name the parts of the installation. */
export function optionsFor({ directory, dump }: Harbour): string[] {
  return [
    ...['--dump', dump, '--filestore', join(directory, 'filestore'), '--syncdir', join(directory, 'syncdir')],
    ...['--config', join(directory, 'config.json')],
  ];
}
