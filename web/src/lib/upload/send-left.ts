import { sendingLock } from './background.ts';
import { openKeptFiles } from './kept-files.ts';
import { assetIn, type SentAsset } from './sent.ts';

/** Sends a file as a new asset. Returns undefined if the service refuses it, which the page says when it is open again. */
async function sendWhole(file: File, teamId: string | undefined): Promise<SentAsset | undefined> {
  const form = new FormData();
  if (teamId !== undefined) form.append('team_id', teamId);
  form.append('file', file, file.name);
  const response = await fetch('/api/v1/assets', { method: 'POST', body: form });
  if (response.status === 429 || response.status >= 500) throw new Error('the service is busy');
  return response.ok ? assetIn(await response.json()) : undefined;
}

/**
 * Sends the files that pages of an account have left, until `isWanted` returns false. Throws if some could not be sent, so
 * that the browser tries again.
 */
export async function sendLeftFiles(userRef: number, isWanted: () => Promise<boolean>): Promise<void> {
  await navigator.locks.request(sendingLock, async () => {
    const kept = openKeptFiles(userRef);
    try {
      for (const { id, file, teamId, asset } of await kept.takeOver()) {
        // Only the page knows to which film subtitles belong.
        if (asset !== undefined || !/^(image|video|audio)\//.test(file.type)) continue;
        if (!(await isWanted())) return;
        const sent = await sendWhole(file, teamId);
        if (sent !== undefined) await kept.arrived(id, sent);
      }
    } finally {
      kept.release();
    }
  });
}
