import { type FirstAnswers, firstAnswersId } from '@vitrine/contract/page-kinds';

/** The answers that came with the page (APP-5). */
export interface BroughtAnswers {
  /** The address and body of each successful answer. */
  readonly all: readonly (readonly [address: string, body: string])[];
  /** Returns the answer to a request, only once; otherwise undefined. */
  take(address: string): Response | undefined;
  /** Forgets the answers that were not taken. */
  drop(): void;
}

/** Reads the answers from the page, and leaves only their addresses there. */
export function readFirstAnswers(page: Document): BroughtAnswers {
  const element = page.getElementById(firstAnswersId);
  // Written by the service that the pages come from.
  const answers = new Map(Object.entries(JSON.parse(element?.textContent || '{}') as FirstAnswers));
  if (element !== null) element.textContent = JSON.stringify([...answers.keys()]);
  return {
    all: [...answers].flatMap(([address, [status, body]]) =>
      status === 200 ? [[address, body] as const] : [],
    ),
    take(address) {
      const answer = answers.get(address);
      if (answer === undefined) return undefined;
      answers.delete(address);
      const [status, body] = answer;
      return new Response(body, { status, headers: { 'content-type': 'application/json' } });
    },
    drop: () => answers.clear(),
  };
}
