import type { AdminAppearance } from '@vitrine/contract/appearance';
import { basePath } from '@vitrine/contract/operations';
import { logoKey } from '../../src/platform/storage/object-key.ts';
import type { Visitor } from '../support/client.ts';
import type { Library } from '../support/library.ts';
import { png, sha256 } from '../support/pictures.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

/** The bytes of a logo and their hash. */
export interface Logo {
  bytes: Bytes;
  hash: string;
}

let made = 0;

/** Returns a picture that no other test uses. */
export async function newLogo(width = 64, height = 48): Promise<Logo> {
  made += 1;
  const bytes = await png(width, height, made * 7919);
  return { bytes, hash: sha256(bytes) };
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

/** Returns the response at an address of the service without a cookie. */
export async function fetchBytes(library: Library, path: string) {
  const response = await fetch(library.address + path);
  const { status, headers } = response;
  return { status, headers, bytes: new Uint8Array(await response.arrayBuffer()) };
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
