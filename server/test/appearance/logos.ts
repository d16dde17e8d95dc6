import { createHash } from 'node:crypto';
import type { AdminAppearance } from '@vitrine/contract/appearance';
import { basePath } from '@vitrine/contract/operations';
import { logoKey } from '../../src/platform/storage/object-key.ts';
import type { Visitor } from '../support/client.ts';
import type { Account, Library } from '../support/library.ts';
import { png } from '../support/pictures.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

/** The bytes of a logo and their hash. */
export interface Logo {
  bytes: Bytes;
  hash: string;
}

export function hashOf(bytes: Bytes): string {
  return createHash('sha256').update(bytes).digest('hex');
}

let made = 0;

/** Returns a picture that no other test uses. */
export async function newLogo(width = 64, height = 48): Promise<Logo> {
  made += 1;
  const bytes = await png(width, height, made * 7919);
  return { bytes, hash: hashOf(bytes) };
}

export async function newLogos(count: number): Promise<Logo[]> {
  return Promise.all(Array.from({ length: count }, () => newLogo()));
}

export function useBytes(who: Visitor, bytes: Bytes, type = 'image/png'): Promise<AdminAppearance> {
  return who.ok('uploadLogo', { body: new Blob([bytes], { type }) });
}

/** Uploads these logos in order, so that the last one is in use. */
export async function useInTurn(who: Visitor, logos: readonly Logo[]): Promise<void> {
  for (const { bytes } of logos) await useBytes(who, bytes);
}

/** Returns the hashes of the history in order. */
export function hashesOf(appearance: AdminAppearance): string[] {
  return appearance.logo_history.map(({ hash }) => hash);
}

/** Returns the path of a logo. */
export function addressOf(hash: string): string {
  return `${basePath}/appearance/logo?v=${hash}`;
}

/** Returns whether the bytes of a logo are stored. */
export async function isStored(library: Library, hash: string): Promise<boolean> {
  return (await library.deps.storage.head(logoKey(hash))) !== null;
}

export interface Fetched {
  status: number;
  headers: Headers;
  bytes: Bytes;
}

/** Returns the response at an address of the service without a cookie. */
export async function fetchBytes(library: Library, path: string): Promise<Fetched> {
  const response = await fetch(library.address + path);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

/** Sends bytes to a path below the base path, with this content type; null sends none. */
export async function sendBytes(
  library: Library,
  account: Account,
  [method, path]: readonly [method: string, path: string],
  bytes: Bytes,
  type: string | null,
): Promise<{ status: number; text: string }> {
  const headers = new Headers({ cookie: `user=${account.cookie()}` });
  if (type !== null) headers.set('content-type', type);
  const response = await fetch(library.address + basePath + path, { method, headers, body: bytes });
  return { status: response.status, text: await response.text() };
}

/** Deletes all logos. */
export async function forgetLogos({ deps: { db, storage } }: Library): Promise<void> {
  const rows = await db.deleteFrom('logos').returning('hash').execute();
  await db.deleteFrom('settings').where('key', '=', 'logo').execute();
  for (const { hash } of rows) await storage.delete(logoKey(hash));
}

/** Runs `act` while the audit log cannot be written, so that every change fails at its last step. */
export async function whileBroken({ deps: { db } }: Library, act: () => Promise<void>): Promise<void> {
  await db.schema.alterTable('audit_events').renameTo('out_of_the_way').execute();
  try {
    await act();
  } finally {
    await db.schema.alterTable('out_of_the_way').renameTo('audit_events').execute();
  }
}
