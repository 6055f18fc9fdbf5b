// Codes of a fleet: queue, coordinator, workers, and the bundles that go between them.

import { codes } from '../../base/rules/codes.ts';

export const FLEET_CODES = codes({
  queue_package_missing: {
    kind: 'prerequisite',
    message: 'The queue needs the packages {packages}, which are not installed.',
    help: 'Install them: {command}',
    values: { packages: 'text', command: 'text' },
  },
  queue_store_unknown: {
    kind: 'usage',
    message: 'The address of the queue[, {address},] is wrong: expected {expected}, got {got}.',
    help: 'Set --queue or TOOL_QUEUE_URL on a worker, queue.url on a coordinator. rediss:// is Redis with TLS; sslmode=verify-full behind a ? is PostgreSQL with TLS.',
    values: { expected: 'text', got: 'text' },
    may: { address: 'text' },
  },
  queue_unreachable: {
    kind: 'daemon_unreachable',
    message: 'The queue at {url} cannot be reached: {said}.',
    help: 'Check that the store runs, and the address. With TLS are rediss://, and postgres:// with another sslmode than disable.',
    values: { url: 'text', said: 'text' },
  },
  queue_permission_missing: {
    kind: 'credential',
    message: 'The queue at {url} refuses this user: {said}.',
    help: 'Check user and password in the address. The user needs the rights of docs/scaling.md.',
    values: { url: 'text', said: 'text' },
  },
  queue_store_missing: {
    kind: 'daemon_unreachable',
    message: 'The database of the queue at {url} has no tables of toolcrew yet.',
    help: 'Start the coordinator: it makes them.',
    values: { url: 'text' },
  },
  queue_store_version: {
    kind: 'prerequisite',
    message: 'The queue at {url} has version {got} of {what}, expected {expected}.',
    help: 'A newer coordinator migrates older tables at its start. For newer ones, or an old PostgreSQL, upgrade what is older.',
    values: { url: 'text', what: 'text', expected: 'text', got: 'text' },
  },
  queue_interrupted: {
    kind: 'warning',
    message: 'The queue at {url} gives no answer: {said}.',
    help: 'Attempts at work go on for queue.lease_ms, then they end. New ones wait until it answers.',
    values: { url: 'text', said: 'text' },
  },
  repository_held: {
    kind: 'warning',
    message: 'The coordinator on {host} acts for {repository} since {since}. This one waits for it.',
    help: 'Nothing needs to be done: this one starts when that one ends, or gives no sign of life for queue.lease_ms.',
    values: { host: 'text', repository: 'text', since: 'text' },
  },
  repository_forgotten: {
    kind: 'warning',
    message:
      'The queue at {url} has forgotten which coordinator acts for {repository}. This one waits {seconds} s for a sign of it.',
    help: 'Nothing needs to be done. Let the store keep its data on a disk, so that a coordinator is not forgotten.',
    values: { url: 'text', repository: 'text', seconds: 'number' },
  },
  repository_lease_lost: {
    kind: 'warning',
    message: 'This coordinator acts no more for {repository}: it could not renew its lease in time.',
    help: 'Agents at work go on under the next one. It goes on when it has the lease again.',
    values: { repository: 'text' },
  },
  journal_version_wrong: {
    kind: 'state_unusable',
    message:
      'The queue at {url} is a store of an {age} version: its journal of {repository} has version {version}, this program reads {supported}.',
    help: 'Use the version of toolcrew that wrote it, on all coordinators.',
    values: { url: 'text', repository: 'text', age: ['older', 'newer'], version: 'number', supported: 'number' },
  },
  journal_record_unreadable: {
    kind: 'state_unusable',
    message: 'The record {place} of the journal of {repository} in the queue at {url} cannot be read by this program.',
    help: 'Use the version of toolcrew that wrote it, on all coordinators.',
    values: { url: 'text', repository: 'text', place: 'number' },
  },
  journal_replaced: {
    kind: 'warning',
    message:
      'The journal {path} of {repository} is replaced by the one in the store. It differed, and is kept as {kept}.',
    help: 'Another coordinator has acted for the repository since. The kept file is only for you to read.',
    values: { path: 'text', repository: 'text', kept: 'text' },
  },
  journal_outdated: {
    kind: 'warning',
    message:
      'The journal {path} of {repository} is not used: another coordinator acted since, and the store lost its journal. The file is kept as {kept}.',
    help: 'This coordinator begins without a journal, as on a new machine. The kept file is only for you to read.',
    values: { path: 'text', repository: 'text', kept: 'text' },
  },
  journal_written_anew: {
    kind: 'warning',
    message: 'The queue at {url} had lost records of the journal of {repository}, which is written anew.',
    help: 'Nothing is lost. Let the store keep its data on a disk, so that another coordinator can take over at any time.',
    values: { url: 'text', repository: 'text' },
  },
  journal_not_shared: {
    kind: 'warning',
    message: 'The last records of the journal of {repository} did not reach the queue at {url}: {said}.',
    help: 'They are in the state directory of this machine. Start this coordinator again before another one takes over.',
    values: { url: 'text', repository: 'text', said: 'text' },
  },
  fleet_key_missing: {
    kind: 'usage',
    message: 'A worker needs the key of the fleet in TOOL_FLEET_KEY, at least {least} characters, got {got}.',
    help: 'Set it to the value that queue.key names on the coordinator.',
    values: { least: 'number', got: 'number' },
  },
  fleet_key_wrong: {
    kind: 'credential',
    message: 'The key of the fleet is not the one that the other side has.',
    help: 'Give TOOL_FLEET_KEY of the worker the value that queue.key names on the coordinator.',
  },
  fleet_job_invalid: {
    kind: 'warning',
    message: 'A job of the queue cannot be read, and is dropped: {said}.',
    values: { said: 'text' },
  },
  fleet_job_foreign: {
    kind: 'warning',
    message: 'A job of the queue for the coordinator {address} is signed with another key than the one of this worker.',
    help: 'Fleets with different keys need a database of Redis or PostgreSQL for each.',
    values: { address: 'text' },
  },
  coordinator_unreachable: {
    kind: 'warning',
    message:
      'No request has reached the coordinator {address} for {seconds} s: {said}. Its attempts are left to other workers.',
    help: 'Check the way from this machine to that address, which queue.address of the coordinator sets.',
    values: { address: 'text', seconds: 'number', said: 'text' },
  },
  fleet_address_insecure: {
    kind: 'refused',
    message: 'The coordinator {address} would be asked by plain http from another machine.',
    help: 'Give queue.address an https address, or set queue.insecure: true.',
    values: { address: 'text' },
  },
  worker_version_wrong: {
    kind: 'refused',
    message: 'The coordinator needs a worker of version {expected}, got {got}.',
    help: 'Install toolcrew@{expected} on the worker.',
    values: { expected: 'text', got: 'text' },
  },
  worker_labels_wrong: {
    kind: 'usage',
    message: 'Expected labels like gpu,big for --labels, at most {most}, got {got}.',
    values: { most: 'number', got: 'text' },
  },
  worker_unable: {
    kind: 'warning',
    message: 'This machine has no room for the attempt {attempt}, or may not write to its places: {said}',
    help: 'The worker takes none for two minutes. Make room on the disks of --root and --state-dir.',
    values: { attempt: 'text', said: 'text' },
  },
  worker_missing: {
    kind: 'warning',
    message: 'Attempts that no worker takes: {waiting}. Expected {expected}, got {got}.',
    help: 'Start tool worker, with --labels where they are needed: agent.worker_labels and labels like worker:gpu of an issue ask for them.',
    values: { waiting: 'number', expected: 'text', got: 'text' },
  },
  worker_name_twice: {
    kind: 'warning',
    message: 'Two workers have the name {name}: the page shows one of them at a time.',
    help: 'Start each with a --name of its own.',
    values: { name: 'text' },
  },
  attempt_superseded: {
    kind: 'refused',
    message: 'The attempt {attempt} is not the one at work on its issue.',
    help: 'End its agent: another attempt goes on, or the issue is over.',
    values: { attempt: 'text' },
  },
  attempt_taken: {
    kind: 'refused',
    message: 'The attempt {attempt} is with the worker {worker} already.',
    values: { attempt: 'text', worker: 'text' },
  },
  fleet_request_invalid: {
    kind: 'refused',
    message: 'A request of a worker cannot be read: {said}.',
    values: { said: 'text' },
  },
  fleet_request_too_large: {
    kind: 'refused',
    message: 'A request of a worker has more than {limit} bytes.',
    values: { limit: 'number' },
  },
  bundle_too_large: {
    kind: 'refused',
    message: 'A bundle of commits has more than {limit} bytes (queue.max_bundle_mb).',
    values: { limit: 'number' },
  },
  bundle_files_too_large: {
    kind: 'refused',
    message: 'The commit {commit} has more than {files} files or {bytes} bytes of files, beside those of its base.',
    help: 'queue.max_bundle_mb sets the bytes: four times the largest bundle.',
    values: { commit: 'text', files: 'number', bytes: 'number' },
  },
  bundle_slow: {
    kind: 'refused',
    message: 'A bundle of commits was not taken in within {seconds} seconds.',
    values: { seconds: 'number' },
  },
  bundle_unreadable: {
    kind: 'refused',
    message: 'A bundle of commits cannot be read: {said}',
    values: { said: 'text' },
  },
  bundle_branch_wrong: {
    kind: 'refused',
    message: 'Expected a bundle with {expected} alone, got {got}.',
    values: { expected: 'text', got: 'list' },
  },
  bundle_base_wrong: {
    kind: 'refused',
    message: 'The commit {commit} of the bundle does not go on from {base}.',
    values: { commit: 'text', base: 'text' },
  },
  attempt_not_begun: {
    kind: 'refused',
    message: 'The attempt that goes on from {attempt} is not begun yet.',
    help: 'The worker asks again.',
    values: { attempt: 'text' },
  },
  fleet_repository_unsupported: {
    kind: 'agent',
    message: 'A worker gets no {what} of a repository.',
    help: 'Take queue.url out of the workflow file for this repository[, or set {setting}].',
    values: { what: 'text' },
    may: { setting: 'text' },
  },
  work_left_on_worker: {
    kind: 'warning',
    message: 'The work of the attempt {attempt} could not be packed and stays in {path}.',
    help: 'The next start of the worker tries again. Make room on its disk.',
    values: { attempt: 'text', path: 'text' },
  },
  work_kept_on_worker: {
    kind: 'warning',
    message: 'The work of the attempt {attempt} could not be handed in and is kept in {path}: {said}',
    help: 'git fetch {path} reads it. Each start of the worker tries again. It is removed after 7 days.',
    values: { attempt: 'text', path: 'text', said: 'text' },
  },
  work_not_kept: {
    kind: 'warning',
    message: 'The work of the attempt {attempt} is with the coordinator, and could not be kept here as well: {said}',
    help: 'It is lost only with the machine of the coordinator. Make room on the disk of the worker.',
    values: { attempt: 'text', said: 'text' },
  },
  kept_work_refused: {
    kind: 'warning',
    message: 'What a worker kept of the attempt {attempt} is refused: {said}',
    help: 'Nothing needs to be done: without another worker that has it, the issue gets another attempt.',
    values: { attempt: 'text', said: 'text' },
  },
  kept_work_dropped: {
    kind: 'warning',
    message:
      'The work of the attempt {attempt} was kept for {days} days and is removed from this worker: {bytes} bytes.',
    help: 'A worker keeps at most 1 GiB of unpublished work, each for 7 days.',
    values: { attempt: 'text', days: 'number', bytes: 'number' },
  },
  coordinator_silent: {
    kind: 'warning',
    message: 'The coordinator {address} does not take a request now: {said}.',
    help: 'The request is repeated until it does.',
    values: { address: 'text', said: 'text' },
  },
  coordinator_version_wrong: {
    kind: 'warning',
    message: 'It is of version {got}, this one of {expected}.',
    help: 'Install the same version on all coordinators.',
    values: { expected: 'text', got: 'text' },
  },
  coordinator_form_wrong: {
    kind: 'warning',
    message: 'One of the two has tracker.repo, the other one tracker.repositories.',
    help: 'Use the same of these keys in all files.',
  },
  coordinator_token_missing: {
    kind: 'warning',
    message: 'Its pages need a token, and those of this one do not.',
    help: 'Set the same server.token on all coordinators.',
  },
  coordinator_answer_unread: {
    kind: 'warning',
    message: 'Its answer with status {status} is not one of a coordinator of this version.',
    help: 'Check its version, queue.address, and the proxy before it.',
    values: { status: 'number' },
  },
  coordinator_unasked: {
    kind: 'warning',
    message: 'The coordinator at {address}, which acts for {repository}, cannot be asked: {said}.',
    help: 'Each coordinator must reach queue.address of the others.',
    values: { address: 'text', repository: 'text', said: 'text' },
  },
  coordinator_refused: {
    kind: 'refused',
    message: 'The coordinator refuses: {said}',
    values: { said: 'text' },
    may: { reason: 'text' },
  },
  measurement_failed: {
    kind: 'daemon_unreachable',
    message: 'No worker could measure the commit {commit}: {said}',
    help: 'It is tried again, and counts for nothing.',
    values: { commit: 'text', said: 'text' },
  },
  gate_not_on_worker: {
    kind: 'warning',
    message: 'no worker measured this commit',
  },
});
