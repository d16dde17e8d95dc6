import type { ReviewDecision } from '@vitrine/contract/reviews';

/** What has been decided, by reviewers and by guests of a share link. */
export const decisionWords: Readonly<Record<ReviewDecision, string>> = {
  approved: 'Approved',
  changes_requested: 'Changes requested',
};

/** What a person may decide, as an action. */
export const decidingWords: Readonly<Record<ReviewDecision, string>> = {
  approved: 'Approve',
  changes_requested: 'Request changes',
};
