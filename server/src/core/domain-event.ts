import type { ReviewDecision } from '@vitrine/contract/reviews';

/** An event that may notify accounts. `actor` caused it. */
export type DomainEvent =
  /** `answers`: the comment replied to, which may itself be a reply. */
  | { what: 'comment'; comment: string; answers: string | null }
  | { what: 'comment_edited'; comment: string }
  /** `at`: when it was assigned, since it may be assigned to the same account again. */
  | { what: 'assigned'; comment: string; assignee: number; actor: number; at: string }
  | { what: 'guest_feedback'; link: string }
  | { what: 'post'; post: string; actor: number }
  | { what: 'like'; post: string; actor: number }
  | { what: 'follow'; actor: number; followed: number }
  /**
   * `at`: when the member joined, since they may leave and join again. `actor` is null if a provider added them. With
   * `joinedWithMany`, only they are notified.
   */
  | {
      what: 'member';
      team: string;
      member: number;
      actor: number | null;
      at: string;
      joinedWithMany?: boolean;
    }
  /** `at`: the time for which it was scheduled. */
  | { what: 'publish_failed'; post: string; at: string }
  | { what: 'request'; request: string; actor: number }
  | { what: 'decision'; request: string; actor: number }
  | { what: 'deletion_request'; request: string; actor: number }
  | { what: 'deletion_decision'; request: string; user: number; actor: number }
  | { what: 'review_requested'; review: string; actor: number }
  /** `at`: when they decided, since a decision may be replaced. */
  | { what: 'review_decided'; review: string; actor: number; at: string; decision: ReviewDecision }
  /** `version`: the new version of the post. */
  | { what: 'review_reopened'; review: string; version: number; actor: number }
  /** `act`: one move, since an asset may return to a state. */
  | { what: 'state'; asset: string; state: string; actor: number; act: string }
  | { what: 'review_due'; review: string; when: 'before' | 'after' };
