/** The maximum number of questions in a batch. */
const MOST = 200;

interface Batch<Question, Answer> {
  questions: Question[];
  answered: PromiseWithResolvers<readonly Answer[]>;
}

/**
 * Batches questions by key. `answer` receives the questions that arrived since its previous call for that key began,
 * and returns one answer for each, in their order. Calls for a key do not overlap, and a call never answers a question
 * that arrived after it began, so every answer is as fresh as an individual one.
 */
export function batchByKey<Key, Question, Answer>(
  answer: (key: Key, questions: readonly Question[]) => Promise<readonly Answer[]>,
): (key: Key, question: Question) => Promise<Answer> {
  const waiting = new Map<Key, Batch<Question, Answer>[]>();

  const answerNext = async (key: Key): Promise<void> => {
    const batches = waiting.get(key) ?? [];
    const batch = batches.shift();
    if (batch === undefined) {
      waiting.delete(key);
      return;
    }
    try {
      batch.answered.resolve(await answer(key, batch.questions));
    } catch (error) {
      batch.answered.reject(error);
    }
    // Requests that wait on the sockets are read first, so that they join the next batch.
    setImmediate(answerNext, key);
  };

  return async (key, question) => {
    let batches = waiting.get(key);
    if (batches === undefined) {
      batches = [];
      waiting.set(key, batches);
      setImmediate(answerNext, key);
    }
    let batch = batches.at(-1);
    if (batch === undefined || batch.questions.length >= MOST) {
      batch = { questions: [], answered: Promise.withResolvers() };
      batches.push(batch);
    }
    const at = batch.questions.push(question) - 1;
    const found = (await batch.answered.promise)[at];
    if (found === undefined) throw new Error('a question was left without its answer');
    return found;
  };
}
