// The journals of repositories in PostgreSQL. The lease is locked while a record is appended: whoever lost it appends nothing.

import * as z from 'zod';

/** What statements need of a connection to the database. */
export type Session = {
  // biome-ignore lint/suspicious/noExplicitAny: BullMQ asks for it in this form.
  query<R = any>(text: string, values?: readonly unknown[]): Promise<{ rows: R[] }>;
};

/** Lines are texts, not JSON of PostgreSQL, which would give them back otherwise. */
export const JOURNAL_TABLES = `
CREATE TABLE toolcrew.journal (repository text, at bigint, line text NOT NULL, PRIMARY KEY (repository, at));
CREATE FUNCTION toolcrew.lock_lease(repo text, own_token text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM toolcrew.lease
    WHERE repository = repo AND token = own_token AND ends_at > clock_timestamp() FOR UPDATE;
  RETURN FOUND;
END $$;
CREATE FUNCTION toolcrew.append_journal(repo text, own_token text, place bigint, new_lines text[]) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  next_place bigint;
BEGIN
  IF NOT toolcrew.lock_lease(repo, own_token) THEN RETURN 'lease_lost'; END IF;
  SELECT coalesce(max(at) + 1, 0) INTO next_place FROM toolcrew.journal WHERE repository = repo;
  IF place = next_place THEN
    INSERT INTO toolcrew.journal
      SELECT repo, place + n - 1, line FROM unnest(new_lines) WITH ORDINALITY AS given(line, n);
    RETURN 'done';
  END IF;
  IF place > next_place OR EXISTS (
    SELECT FROM unnest(new_lines) WITH ORDINALITY AS given(line, n)
      LEFT JOIN toolcrew.journal AS kept ON kept.repository = repo AND kept.at = place + n - 1
      WHERE kept.line IS DISTINCT FROM given.line
  ) THEN RETURN 'elsewhere'; END IF;
  RETURN 'done';
END $$;
CREATE FUNCTION toolcrew.compact_journal(repo text, own_token text, place bigint, snapshot text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  first_place bigint;
  next_place bigint;
BEGIN
  IF NOT toolcrew.lock_lease(repo, own_token) THEN RETURN 'lease_lost'; END IF;
  SELECT min(at), max(at) + 1 INTO first_place, next_place FROM toolcrew.journal WHERE repository = repo;
  IF (first_place < place AND place <= next_place) IS NOT TRUE THEN RETURN 'elsewhere'; END IF;
  DELETE FROM toolcrew.journal WHERE repository = repo AND at < place - 1;
  UPDATE toolcrew.journal SET line = snapshot WHERE repository = repo AND at = place - 1;
  RETURN 'done';
END $$;
`;

const part = z.object({ first: z.coerce.number(), next: z.coerce.number(), lines: z.array(z.string()) });
const answer = z.object({ answer: z.enum(['done', 'lease_lost', 'elsewhere']) });

/** What became of a change: it stands there, the lease is gone, or the place is not the right one. */
export type JournalAnswer = z.infer<typeof answer>['answer'];

/** `next`: place of the next record; `first`: place of the oldest that is kept. */
export type JournalPart = z.infer<typeof part>;

/** The records from `from` on, at most `most`. */
export async function readJournal(
  session: Session,
  repository: string,
  from: number,
  most: number,
): Promise<JournalPart> {
  const { rows } = await session.query(
    `SELECT coalesce(min(at), 0) AS first, coalesce(max(at) + 1, 0) AS next, ARRAY(
      SELECT line FROM toolcrew.journal WHERE repository = $1 AND at >= $2 ORDER BY at LIMIT $3
    ) AS lines FROM toolcrew.journal WHERE repository = $1`,
    [repository, from, most],
  );
  return part.parse(rows[0]);
}

/** Appends at `place`, where it is the next one. What stands there already is done. */
export async function appendJournal(
  session: Session,
  repository: string,
  token: string,
  place: number,
  lines: readonly string[],
): Promise<JournalAnswer> {
  const text = 'SELECT toolcrew.append_journal($1, $2, $3, $4::text[]) AS answer';
  const { rows } = await session.query(text, [repository, token, place, lines]);
  return answer.parse(rows[0]).answer;
}

/** Puts a snapshot in the place of all records before `place`. */
export async function compactJournal(
  session: Session,
  repository: string,
  token: string,
  place: number,
  line: string,
): Promise<JournalAnswer> {
  const text = 'SELECT toolcrew.compact_journal($1, $2, $3, $4) AS answer';
  const { rows } = await session.query(text, [repository, token, place, line]);
  return answer.parse(rows[0]).answer;
}
