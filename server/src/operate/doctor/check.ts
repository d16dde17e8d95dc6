import type { Check } from '@vitrine/contract/doctor';
import type { Language } from '@vitrine/contract/languages';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type Sentence, saySentence } from '../../platform/language/sentence.ts';
import type { Storage } from '../../platform/storage/storage.ts';

/** What the doctor needs for its checks. */
export interface DoctorDeps {
  db: Database;
  storage: Storage;
  config: Config;
  /** Directories of programs, like the environment's PATH. */
  searchPath: string;
}

export interface Finding {
  status: Check['status'];
  detail: Sentence;
  /** Null when no action is needed. */
  remedy: Sentence | null;
}

/** One check: its id, its title, and how it is performed. */
export interface Examination {
  code: string;
  title: Sentence;
  look(deps: DoctorDeps): Promise<Finding>;
}

export function passed(detail: Sentence): Finding {
  return { status: 'ok', detail, remedy: null };
}

export function warning(detail: Sentence, remedy: Sentence): Finding {
  return { status: 'warning', detail, remedy };
}

export function problem(detail: Sentence, remedy: Sentence): Finding {
  return { status: 'problem', detail, remedy };
}

/** Returns the finding of a check in a language (LANGUAGE-8). */
export function sayFinding(
  language: Language,
  { code, title }: Pick<Examination, 'code' | 'title'>,
  { status, detail, remedy }: Finding,
): Check {
  return {
    code,
    title: saySentence(language, title),
    status,
    detail: saySentence(language, detail),
    remedy: remedy === null ? null : saySentence(language, remedy),
  };
}
