import type { DownloadPreset } from '@vitrine/contract/downloads';
import { type Caller, holds } from './caller.ts';

/** DOWNLOAD-2: whether a caller has a preset. */
export function hasPreset(caller: Caller, { capability }: Pick<DownloadPreset, 'capability'>): boolean {
  return capability === undefined || holds(caller, capability);
}
