// The WORKFLOW.md that the wizard writes.

import { stringify } from 'yaml';
import { TRACKERS } from '../compose/trackers.ts';
import { DEFAULT_TRACKER } from '../daemon/rules/tracker-kind.ts';

/** What the wizard asks for. */
export type Answers = {
  /** <owner>/<repo>. */
  readonly repo: string;
  /** Of a host that is not the service's own; null: the file need not say it. */
  readonly apiUrl: string | null;
  readonly label: string;
  readonly root: string;
  readonly port: number;
  readonly maxAgents: number;
};

const SCRIPTS = `hooks:
  # Fills a new workspace. Without this line the daemon clones by itself. TOOL_CLONE_URL is its own fresh copy of the
  # repository, so no credential is needed here.
  after_create: |
    git clone --quiet "$TOOL_CLONE_URL" .
  # Before each attempt: the first starts from the latest main, later ones keep their work and take in what was pushed to
  # their branch and main, as far as that merges cleanly. Without this line the daemon does the same by itself; it saves
  # what is not committed before a branch starts anew.
  before_run: |
    git fetch --quiet --prune --no-recurse-submodules origin
    branch="refs/heads/$TOOL_BRANCH"
    main="origin/$TOOL_DEFAULT_BRANCH"
    published="origin/$TOOL_BRANCH"
    git rev-parse --quiet --verify "refs/remotes/$published" >/dev/null || published=
    if git rev-parse --quiet --verify "$branch" >/dev/null; then
      if [ -e .git/MERGE_HEAD ]; then git merge --abort || git reset --quiet --hard; fi
      if git merge-base --is-ancestor "$branch" HEAD; then
        git checkout --quiet --no-track -B "$TOOL_BRANCH"
      else
        git checkout --quiet --force "$TOOL_BRANCH"
      fi
      for other in $published "$main"; do
        if git -c user.name=toolcrew -c user.email=toolcrew@localhost merge --quiet --no-edit "$other"; then continue; fi
        if [ -e .git/MERGE_HEAD ]; then git merge --abort; fi
        echo "$other does not merge cleanly; it is left out"
      done
    else
      git checkout --quiet --force --no-track -B "$TOOL_BRANCH" "${'$'}{published:-$main}"
      git clean --quiet --force -d
    fi
`;

const PROMPT = `You work on issue #{{ issue.number }} of {{ repo.slug }}, in a clone of it at {{ workspace.path }}, on the branch {{ workspace.branch }}.

Title: {{ issue.title | inline }}

What stands in the issue, as its author wrote it:

{{ issue.body | fence }}
{% if attempt.last_error %}
This is attempt {{ attempt.number }}. The one before ended so:

{{ attempt.last_error | fence }}
{% endif %}
Do what the issue asks for, run the project's own tests, and commit your work on this branch. You cannot push: when you
are finished, run \`tool pr create --title "…" --body-file FILE\`, then \`tool issue done\`. \`tool issue show\` prints the issue
with its comments; \`tool issue comment --body-file FILE\` writes one. If you cannot go on without a decision of a person,
run \`tool issue ask "…"\` and end your turn: the answer comes into this session.
`;

/** A text or a list of texts as YAML, on one line. */
function yaml(value: string | readonly string[]): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).replace(/\n$/, '');
  return text.includes('\n') ? JSON.stringify(value) : text;
}

export function workflowText(answers: Answers, hasClaude: boolean): string {
  const agent = hasClaude
    ? '  # .claude/ is here: the agent that leads an issue is the one of that name, or the one this package brings.\n  agent: jarvis\n'
    : '';
  const { host, server } = TRACKERS[DEFAULT_TRACKER];
  const api =
    answers.apiUrl === null
      ? ''
      : `  # The repository's host is not ${host}: it is taken for ${server}, whose API is here.\n  api_url: ${yaml(answers.apiUrl)}\n`;
  return `---
# What tool serve does with this repository. Every key: docs/configuration.md of the package toolcrew.
tracker:
  kind: ${DEFAULT_TRACKER}
  repo: ${yaml(answers.repo)}
${api}  # Labels that mark an issue as work to pick up.
  active_states: ${yaml([answers.label])}
polling:
  interval_ms: 30000
workspace:
  root: ${yaml(answers.root)}
${SCRIPTS}agent:
  max_concurrent_agents: ${answers.maxAgents}
tool:
  runtime: claude
${agent}  # An agent without a life sign for so long is ended and tried again.
  stall_timeout_ms: 600000
server:
  # 0 switches the status page off.
  port: ${answers.port}
---

${PROMPT}`;
}
