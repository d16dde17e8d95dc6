/** A pending change for a peer. */
export interface OutboxRow {
  seq: number;
  peer_id: string;
  activity_id: string;
  activity: 'create' | 'update' | 'delete' | 'like' | 'unlike' | 'share' | 'unshare';
  kind: 'post' | 'asset' | 'collection' | 'comment' | 'field';
  object_id: string;
  actor_ref: number | null;
  details: Record<string, unknown>;
  envelope: string | null;
  /** Envelopes to send before it. */
  preludes: string[];
  attempts: number;
  created_at: string;
  wait_ms: number;
}
