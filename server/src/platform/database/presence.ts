/**
 * Every serving process holds this advisory lock, shared, on the connection that listens. A command that must run alone
 * tries to take it exclusively.
 */
export const PRESENCE_LOCK = 7_431_030;
