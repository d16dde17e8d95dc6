import type { SessionUser } from '@vitrine/contract/identity';
import type { VisitorState } from '#lib/identity/gate.ts';
import type { Service } from '#lib/service.ts';

/** Who looks on, null for a visitor. The pages are made anew for another caller, so it holds as long as they do. */
export function viewerIn({ queries }: Service): SessionUser | null {
  return queries.getQueryData<VisitorState>(['visitor-state'])?.user ?? null;
}
