import { type Sentence, sentence, WordedError } from '../language/sentence.ts';

/** Why a message was not accepted, without anything that the server said. */
export type MailOutcome =
  | 'unreachable'
  | 'connection_refused'
  | 'not_encrypted'
  | 'sign_in_refused'
  | 'sender_refused'
  | 'recipient_refused'
  | 'message_refused';

const texts: Record<MailOutcome, Sentence> = {
  unreachable: sentence('no mail server answers at its address'),
  connection_refused: sentence('the mail server refused the connection'),
  not_encrypted: sentence('the connection to the mail server could not be encrypted'),
  sign_in_refused: sentence('the mail server refused the name or the password'),
  sender_refused: sentence('the mail server refused the sender'),
  recipient_refused: sentence('the mail server refused the recipient'),
  message_refused: sentence('the mail server refused the message'),
};

/**
 * A message that was not accepted. Its text names the outcome and the SMTP code only: what answers at the address may
 * be no mail server, and its words tell what runs there (NOTICE-15).
 */
export class MailRefused extends WordedError {
  readonly outcome: MailOutcome;
  /** The SMTP code of a refusal, or null. */
  readonly code: number | null;
  /** The refusal is permanent: retrying cannot succeed. */
  readonly permanent: boolean;
  /** What the server or the connection said; for the log only. */
  readonly answer: string;

  constructor(refusal: Pick<MailRefused, 'outcome' | 'code' | 'permanent' | 'answer'>) {
    const { outcome, code, permanent, answer } = refusal;
    const reason = texts[outcome];
    super(code === null ? reason : sentence('{reason} (code {code})', { reason, code: String(code) }));
    this.outcome = outcome;
    this.code = code;
    this.permanent = permanent;
    this.answer = answer;
  }
}

const LONGEST_ANSWER = 500;

function property(
  error: unknown,
  name: 'code' | 'command' | 'response' | 'responseCode' | 'syscall',
): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}

/** Returns the outcome of an error of nodemailer, from its code and the SMTP command that failed. */
function outcomeOf(error: unknown, code: number | null): MailOutcome {
  const command = property(error, 'command');
  switch (property(error, 'code')) {
    case 'EAUTH':
    case 'ENOAUTH':
      return 'sign_in_refused';
    case 'ETLS':
      return 'not_encrypted';
    case 'EENVELOPE':
      if (command === 'MAIL FROM') return 'sender_refused';
      return command === 'RCPT TO' ? 'recipient_refused' : 'message_refused';
    case 'EMESSAGE':
      return 'message_refused';
    case 'ESOCKET':
      // An error of the connection itself has a system call; the others are about TLS.
      return property(error, 'syscall') === undefined ? 'not_encrypted' : 'unreachable';
    default:
      return code === null ? 'unreachable' : 'connection_refused';
  }
}

/**
 * Returns the refusal for an error of nodemailer. A 5xx about the message or its recipient is permanent; one about us
 * (sign-in, encryption) can be fixed by an operator.
 */
export function refusalOf(error: unknown): MailRefused {
  const status = property(error, 'responseCode');
  const response = property(error, 'response');
  const code = typeof status === 'number' && status >= 400 && status <= 599 ? status : null;
  const words =
    typeof response === 'string' ? response : error instanceof Error ? error.message : 'no answer';
  const reason = property(error, 'code');
  const aboutMessage = reason === 'EENVELOPE' || reason === 'EMESSAGE';
  return new MailRefused({
    outcome: outcomeOf(error, code),
    code,
    permanent: aboutMessage && code !== null && code >= 500,
    answer: words.slice(0, LONGEST_ANSWER),
  });
}
