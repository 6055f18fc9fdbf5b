// Tables of the store in PostgreSQL: a schema of our own beside the one of BullMQ, with a version.

import * as z from 'zod';
import { failure, type ToolError } from '../../base/rules/errors.ts';
import { shownQueueUrl } from '../../daemon/rules/queue-settings.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { JOURNAL_TABLES, type Session } from './postgres-journal.ts';

/** Its functions hide those of BullMQ with the same name, so it comes first where names are looked up. */
export const SEARCH_PATH = 'toolcrew,bullmq';

/**
 * BullMQ gives the time of its caller to four functions: a worker with a wrong clock would lose its locks, or take those of
 * others. The functions of the same name here give them the time of the server, as Redis does.
 */
const CLOCK = `
CREATE FUNCTION toolcrew.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
  'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
CREATE FUNCTION toolcrew.move_to_active(text, text, bigint, bigint, text, integer, bigint) RETURNS SETOF bullmq.job
  LANGUAGE sql AS 'SELECT * FROM bullmq.move_to_active($1, $2, $3, toolcrew.now_ms(), $5, $6, $7)';
CREATE FUNCTION toolcrew.extend_lock(text, text, text, bigint, bigint) RETURNS integer
  LANGUAGE sql AS 'SELECT bullmq.extend_lock($1, $2, $3, $4, toolcrew.now_ms())';
CREATE FUNCTION toolcrew.move_stalled_jobs_to_wait(text, integer, bigint, bigint) RETURNS SETOF text
  LANGUAGE sql AS 'SELECT bullmq.move_stalled_jobs_to_wait($1, $2, toolcrew.now_ms(), $4)';
CREATE FUNCTION toolcrew.move_to_delayed(text, text, text, bigint, bigint, boolean, text, jsonb) RETURNS integer
  LANGUAGE sql AS 'SELECT bullmq.move_to_delayed($1, $2, $3, toolcrew.now_ms() + $5, $5, $6, $7, $8)';
`;

/** A lease that nobody has keeps its row, for the number. One row is locked for each step. */
const LEASES = `
CREATE TABLE toolcrew.lease (
  repository text PRIMARY KEY,
  token text, host text, address text, since bigint,
  fence bigint NOT NULL,
  ends_at timestamptz NOT NULL
);
CREATE FUNCTION toolcrew.ms(bigint) RETURNS interval LANGUAGE sql IMMUTABLE AS 'SELECT $1 * interval ''1 ms''';
CREATE FUNCTION toolcrew.take_lease(
  repo text, new_token text, new_host text, new_since bigint, new_address text, last_token text, lease_ms bigint
) RETURNS toolcrew.lease LANGUAGE plpgsql AS $$
DECLARE
  held toolcrew.lease;
BEGIN
  INSERT INTO toolcrew.lease (repository, fence, ends_at) VALUES (repo, 0, clock_timestamp()) ON CONFLICT DO NOTHING;
  SELECT * INTO held FROM toolcrew.lease WHERE repository = repo FOR UPDATE;
  IF held.token IS NULL OR held.ends_at <= clock_timestamp() OR (held.token = last_token AND held.host = new_host) THEN
    -- A store that forgot the number goes on from its clock, in ms.
    UPDATE toolcrew.lease SET token = new_token, host = new_host, since = new_since, address = new_address,
      fence = greatest(held.fence, toolcrew.now_ms()) + 1, ends_at = clock_timestamp() + toolcrew.ms(lease_ms)
      WHERE repository = repo RETURNING * INTO held;
  END IF;
  RETURN held;
END $$;
CREATE FUNCTION toolcrew.renew_lease(
  repo text, own_token text, own_host text, own_since bigint, own_address text, own_fence bigint, lease_ms bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  held toolcrew.lease;
BEGIN
  INSERT INTO toolcrew.lease (repository, fence, ends_at) VALUES (repo, 0, clock_timestamp()) ON CONFLICT DO NOTHING;
  SELECT * INTO held FROM toolcrew.lease WHERE repository = repo FOR UPDATE;
  IF held.token IS DISTINCT FROM own_token
    AND (held.fence > own_fence OR (held.token IS NOT NULL AND held.ends_at > clock_timestamp())) THEN
    RETURN false;
  END IF;
  UPDATE toolcrew.lease SET token = own_token, host = own_host, since = own_since, address = own_address,
    fence = own_fence, ends_at = clock_timestamp() + toolcrew.ms(lease_ms) WHERE repository = repo;
  RETURN true;
END $$;
CREATE VIEW toolcrew.held_lease AS SELECT * FROM toolcrew.lease WHERE token IS NOT NULL AND ends_at > clock_timestamp();
`;

const NAMES = `
CREATE TABLE toolcrew.queue (name text PRIMARY KEY);
CREATE TABLE toolcrew.worker (name text PRIMARY KEY, presence text NOT NULL, seen_at timestamptz NOT NULL);
`;

/** Each brings the tables from the version before it to its own, which is its place in the list, from 1. */
export const STEPS: readonly string[] = [`${CLOCK}${LEASES}${NAMES}${JOURNAL_TABLES}`];

const versionRow = z.tuple([z.object({ version: z.number() })]);

/** 0: there are no tables. */
async function versionOf(session: Session): Promise<number> {
  const { rows } = await session.query("SELECT to_regclass('toolcrew.store') AS version");
  if (z.tuple([z.object({ version: z.null() })]).safeParse(rows).success) return 0;
  return versionRow.parse((await session.query('SELECT version FROM toolcrew.store')).rows)[0].version;
}

/** Makes the tables, or brings them to the newest version: in one transaction, one coordinator at a time. */
export async function migrate(session: Session, steps: readonly string[] = STEPS): Promise<void> {
  await session.query('BEGIN');
  try {
    await session.query("SELECT pg_advisory_xact_lock(hashtext('toolcrew'))");
    const found = await versionOf(session);
    if (found === 0)
      await session.query(
        'CREATE SCHEMA IF NOT EXISTS toolcrew; CREATE TABLE toolcrew.store AS SELECT 0 AS version; ALTER TABLE toolcrew.store ALTER version SET NOT NULL',
      );
    for (const step of steps.slice(found)) await session.query(step);
    // A newer coordinator may have been first.
    if (found < steps.length) await session.query('UPDATE toolcrew.store SET version = $1', [steps.length]);
    await session.query('COMMIT');
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

type Bullmq = Pick<
  typeof import('bullmq'),
  'assertSchemaCompatibility' | 'runMigrations' | 'LATEST_SCHEMA_VERSION' | 'MINIMUM_POSTGRES_VERSION'
>;

/** Of BullMQ's tables; 0: there are none. */
async function queueVersionOf(session: Session, bullmq: Bullmq, refuse: Refuse): Promise<number> {
  try {
    return await bullmq.assertSchemaCompatibility(session);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.name === 'SchemaMigrationRequiredError') return 0;
    if (error.name === 'SchemaVersionMismatchError' && 'databaseVersion' in error && 'supportedVersion' in error)
      throw refuse('the tables of BullMQ', String(error.supportedVersion), String(error.databaseVersion));
    throw error;
  }
}

type Refuse = (what: string, expected: string, got: string) => ToolError;

/**
 * Sees to it that the tables are there, in the version of this program. Throws a ToolError, or what the database said.
 * @param isMaker makes and migrates them; otherwise they are only looked at
 */
export async function prepareTables(session: Session, bullmq: Bullmq, url: string, isMaker: boolean): Promise<void> {
  const refuse: Refuse = (what, expected, got) =>
    failure(FLEET_CODES.queue_store_version, { url: shownQueueUrl(url), what, expected, got });
  const { rows } = await session.query("SELECT current_setting('server_version_num')::int / 10000 AS version");
  const server = versionRow.parse(rows)[0].version;
  if (server < bullmq.MINIMUM_POSTGRES_VERSION)
    throw refuse('PostgreSQL', `${bullmq.MINIMUM_POSTGRES_VERSION} or later`, String(server));
  const newest = { ours: STEPS.length, queue: bullmq.LATEST_SCHEMA_VERSION };
  const look = async () => ({
    queue: await queueVersionOf(session, bullmq, refuse),
    ours: await versionOf(session),
  });
  let found = await look();
  // Rights to make tables are needed where some are to be made, and not at every start.
  if (isMaker && (found.ours < newest.ours || found.queue < newest.queue)) {
    if (found.queue < newest.queue) await bullmq.runMigrations(session);
    await migrate(session);
    found = await look();
  }
  if (found.ours === 0) throw failure(FLEET_CODES.queue_store_missing, { url: shownQueueUrl(url) });
  // BullMQ says itself which newer tables it can use.
  if (found.queue < newest.queue) throw refuse('the tables of BullMQ', String(newest.queue), String(found.queue));
  if (found.ours !== newest.ours) throw refuse('the tables of toolcrew', String(newest.ours), String(found.ours));
}
