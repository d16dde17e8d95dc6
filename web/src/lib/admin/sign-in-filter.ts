/** The filters of the list of sign-ins. */
export interface SignInFilter {
  readonly user_ref?: number;
  readonly ok?: boolean;
  readonly method?: string;
}

/** Returns the filter in an address; ignores invalid parts. */
export function readSignInFilter(search: Pick<URLSearchParams, 'get'>): SignInFilter {
  const ref = Number(search.get('user_ref'));
  const ok = search.get('ok');
  const method = search.get('method') ?? '';
  return {
    ...(Number.isSafeInteger(ref) && ref > 0 ? { user_ref: ref } : {}),
    ...(ok === 'true' || ok === 'false' ? { ok: ok === 'true' } : {}),
    ...(method === '' ? {} : { method }),
  };
}

/** Returns the address of the page with this filter. */
export function signInsAddress(filter: SignInFilter): string {
  const search = new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, String(value)]));
  return search.size === 0 ? '/admin/sign-ins' : `/admin/sign-ins?${search}`;
}
