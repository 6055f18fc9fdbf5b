// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell
// Over 400 lines: one table of commands.
import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import test, { after, before } from 'node:test';
import fc from 'fast-check';
import { type CommandContext, obviousWrites } from '../../src/guard/obvious-writes.ts';
import { gitRows } from '../../src/guard/rules/git-calls.ts';
import { COMMANDS, isOwned } from '../support/commands/commands.ts';
import { copyTemplate, createTemplate } from '../support/commands/scratch-project.ts';
import { tempDir } from '../support/temp.ts';

const FILES = [
  'README.md',
  'notes.txt',
  'src/api/users.ts',
  'src/api/orders.ts',
  'src/ui/a.tsx',
  'src/ui/b.tsx',
  'src/ui/.hidden.tsx',
  'docs/guide.md',
  'vendor/lib/.git/HEAD',
];

const ends: (() => void)[] = [];
let place: CommandContext;

before(() => {
  const home = realpathSync(tempDir({ after: (end: () => void) => ends.push(end) }));
  const root = join(home, 'shop');
  for (const path of FILES) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  place = { cwd: root, home, root, rows: gitRows('shared', 'src/api') };
});

after(() => {
  for (const end of ends) end();
});

/** Paths from the project's root; `/` at the end: a tree, `+`: a directory that is made. */
function read(command: string): readonly string[] {
  const { writes } = obviousWrites(command, place);
  return writes.map(({ path, tree, directory }) => {
    const inside = relative(place.root, path) || '.';
    return `${inside.startsWith('../..') ? path : inside}${tree ? '/' : ''}${directory === true ? '+' : ''}`;
  });
}

const RECOGNISED: readonly (readonly [command: string, ...writes: string[]])[] = [
  ['echo x > a', 'a'],
  ['echo x >> src/ui/a.tsx', 'src/ui/a.tsx'],
  ['echo x >| a 2> b', 'a', 'b'],
  ['make &> log', 'log'],
  ['make &>> log', 'log'],
  ['make >& log', 'log'],
  ['exec 3<> a', 'a'],
  ['> a', 'a'],
  ['exec > a', 'a'],
  ["cat > src/ui/a.tsx <<'EOF'\nrm b > c\nEOF", 'src/ui/a.tsx'],
  ['cat <<EOF > a\n$(touch b)\nEOF', 'b', 'a'],
  ['{ echo x; echo y; } > a', 'a'],
  ['(cd src/ui && echo x > a.tsx); echo y > b', 'src/ui/a.tsx', 'b'],
  ['for i in 1 2; do echo $i > a; done > b', 'b', 'a'],
  ['if true; then touch a; else touch b; fi', 'a', 'b'],
  ['while read -r x; do echo "$x" >> a; done < notes.txt', 'a'],
  ['case x in x) touch a;; esac', 'a'],
  ['x=$(touch a); echo "$(touch b)"', 'a', 'b'],
  ['ls | tee a b', 'a', 'b'],
  ['ls | tee -a -- -b', '-b'],
  ['ls > >(tee a)', 'a'],
  ['cp notes.txt a', 'a'],
  ['cp notes.txt src/ui', 'src/ui/notes.txt'],
  ['cp -r src/api new/', 'new/api/'],
  ['cp -a src/api docs', 'docs/api/'],
  ['cp -r src/api src', 'src/api'],
  ['cp notes.txt README.md docs', 'docs/notes.txt', 'docs/README.md'],
  ['cp -t docs notes.txt', 'docs/notes.txt'],
  ['cp --target-directory=docs notes.txt', 'docs/notes.txt'],
  ['cp -T notes.txt docs', 'docs'],
  ['cp "$X" a', 'a'],
  ['cp src/ui/*.tsx docs', 'docs/a.tsx', 'docs/b.tsx'],
  ['mv README.md docs/', 'README.md/', 'docs/README.md/'],
  ['mv src/ui src/gui', 'src/ui/', 'src/gui/'],
  ['install -m 644 -D notes.txt lib/notes.txt', 'lib/notes.txt'],
  ['install -d -m 755 lib', 'lib+'],
  ['rm a', 'a'],
  ['rm -rf src/ui docs', 'src/ui/', 'docs/'],
  ['rm -rf ./src/ui/..', 'src/'],
  ['rm src/ui/*.tsx', 'src/ui/a.tsx', 'src/ui/b.tsx'],
  ['rm -rf src/*', 'src/api/', 'src/ui/'],
  ['rm src/*/?.tsx', 'src/ui/a.tsx', 'src/ui/b.tsx'],
  ['rm "$X" a', 'a'],
  ['\\rm a', 'a'],
  ['/bin/rm a', 'a'],
  ['rm -rf /', '//'],
  ['rmdir a', 'a'],
  ['unlink a', 'a'],
  ['ln -s ../api src/ui', 'src/ui/api'],
  ['ln -sfn ../api src/link', 'src/link'],
  ['ln -s src/api/users.ts', 'users.ts'],
  ['touch -d yesterday a "b c" d\\ e', 'a', 'b c', 'd e'],
  ["touch $'a\\tb' '*.ts'", 'a\tb', '*.ts'],
  ['truncate -s 0 a', 'a'],
  ['mkdir -p src/new -m 755', 'src/new+'],
  ['chmod +x a', 'a'],
  ['chmod -x a', 'a'],
  ['chmod -R 755 docs', 'docs/'],
  ['chown me:us a', 'a'],
  ['dd if=/dev/zero of=a bs=1 count=1', 'a'],
  ["sed -i 's/a/b/' README.md", 'README.md'],
  ["sed -i.bak -e 's/a/b/' README.md notes.txt", 'README.md', 'notes.txt'],
  ["sed -i '' 's/a/b/' README.md", 'README.md'],
  ["sed -E -ni 's/a/b/p' README.md", 'README.md'],
  ["sed --in-place=.bak 's/a/b/' src/ui/*.tsx", 'src/ui/a.tsx', 'src/ui/b.tsx'],
  ["perl -pi -e 's/a/b/' README.md", 'README.md'],
  ["perl -i.bak -pe 's/a/b/' README.md", 'README.md'],
  ["perl -0777 -pi -e 's/a/b/' README.md", 'README.md'],
  ['git rm -r src/ui', 'src/ui/'],
  ['git mv README.md docs', 'README.md/', 'docs/README.md/'],
  ['git checkout -- src/ui/a.tsx', 'src/ui/a.tsx'],
  ['git checkout HEAD~1 -- README.md', 'README.md'],
  ['git restore -s HEAD~1 README.md', 'README.md'],
  ['git -C src restore ui/a.tsx', 'src/ui/a.tsx'],
  ['git restore --staged --worktree README.md', 'README.md'],
  ['cd src && touch a && cd ui; touch b', 'src/a', 'src/ui/b'],
  ['cd src || exit 1; touch a', 'src/a'],
  ['cd src && cd ..; touch a', 'a'],
  ['cd "$X"; touch a; cd ~/shop/docs; touch b', 'docs/b'],
  ['cd src & touch a', 'a'],
  ['cd src | touch a', 'a'],
  ['touch ~/shop/a', 'a'],
  ['touch /etc/hosts', '/etc/hosts'],
  ['sudo -n -u root touch a', 'a'],
  ['sudo rm -rf docs', 'docs/'],
  ['env -u Z X=y touch a', 'a'],
  ['X=y touch a', 'a'],
  ['command touch a', 'a'],
  ['nohup touch a &', 'a'],
  ['time touch a', 'a'],
  ['timeout -k 5 30 touch a', 'a'],
  ['nice -n 5 touch a', 'a'],
  ["bash -c 'cd src && touch a'", 'src/a'],
  ['sh -ec "touch a"', 'a'],
  ["bash -euo pipefail -c 'touch a'", 'a'],
  ["sudo bash -lc 'echo x > a'", 'a'],
];

for (const [command, ...writes] of RECOGNISED)
  test(`a write: ${command}`, () => assert.deepEqual(read(command), writes));

/** Uncertain, or no write: they pass. */
const PASSED = [
  'echo "a > b"',
  "echo 'rm a'",
  'echo a \\> b',
  'echo x # > a',
  '[[ a > b ]]',
  '(( a > b ))',
  'echo $(( 3 > 2 ))',
  'test 1 -gt 0',
  'make 2>&1',
  'make > /dev/null 2>&1',
  'make &> /dev/null',
  'echo x >&2',
  'exec 3>&-',
  'ls | tee /dev/stderr',
  'ls | tee -',
  'dd if=notes.txt of=/dev/null',
  'cat < notes.txt',
  'wc -l <<< "a > b"',
  "cat <<'EOF'\n$(rm a)\nrm b > c\nEOF",
  'echo x > "$OUT"',
  'echo x > $(mktemp)',
  'echo x > ${OUT:-a}',
  'touch $FILES',
  'touch src/{a,b}.ts',
  'rm *.nothing',
  'rm src/[ab].ts',
  'rm -rf src/**/[x]',
  'rm --help',
  'cp notes.txt',
  'cp -r src/. "$OUT"',
  'cp -r src/api/. docs',
  'cp notes.txt "$OUT"',
  'cp --parents src/api/users.ts docs',
  'mv "$A" "$B"',
  'cd "$X" && touch a',
  'cd - && touch a',
  'popd; touch a',
  'if cd src; then touch a; fi',
  'cd src && npm test || touch a',
  'for d in src docs; do cd $d; touch a; done',
  'f() { touch a; }',
  'sudo --user root touch a',
  'command -v rm a',
  'env $(cat .env) rm a',
  'rm -rf "$(git rev-parse --show-toplevel)/x"',
  'find . -name "*.log" -delete',
  'find . -name a -exec rm {} +',
  'ls | xargs rm',
  'bash -c "$X"',
  'bash script.sh',
  'bash -c "bash -c \'touch a\'"',
  "sed -n 's/a/b/p' README.md",
  "sed 's/-i/b/' README.md",
  "sed -i 's/a/b/' missing.md",
  "perl -ne 'print' README.md",
  'perl -i script.pl README.md',
  'git rm --cached README.md',
  'git restore --staged README.md',
  'git checkout HEAD -- :/docs',
  './rm a',
  'mv-all a b',
  'if x; then touch a',
  'touch a; )',
  '',
];

for (const command of PASSED) test(`it passes: ${command}`, () => assert.deepEqual(read(command), []));

/** Of an agent who owns src/api. */
const EVERYDAY = [
  'ls -la',
  'pwd && ls src | head -20',
  'cat package.json | jq .scripts',
  'head -50 src/ui/a.tsx; tail -n +10 README.md',
  'wc -l src/**/*.ts',
  'tree -L 2 -I node_modules',
  'find . -name "*.ts" -not -path "./node_modules/*" | head',
  "find src -type f -name '*.tsx' -exec grep -l useState {} +",
  'grep -rn "export const" src --include=*.ts | sort | uniq -c',
  'grep -E "a > b|c" README.md',
  'rg -n "=> void" src/ui',
  "awk '$1 > 3 { print $2 }' notes.txt",
  "awk -F, 'NR > 1 {s += $3} END {print s}' notes.txt",
  "sed -n '1,20p' src/ui/a.tsx",
  'diff <(sort a.txt) <(sort b.txt)',
  'npm test',
  'npm test 2>&1 | tail -40',
  'npm run build > /dev/null && echo ok',
  'npm ci --silent',
  'npm install',
  'npx tsc --noEmit -p . 2>&1 | head -30',
  'npx vitest run src/api --reporter=dot',
  'npx eslint src --ext .ts,.tsx',
  'npx prettier --check "src/**/*.ts"',
  'pytest -q -k "not slow"',
  'go test ./... && go vet ./...',
  'cargo test --quiet',
  'make test',
  'docker compose up -d && docker compose ps',
  'curl -s http://localhost:3000/api/users | jq .',
  'curl -sX POST localhost:3000/api/users -H \'Content-Type: application/json\' -d \'{"a": "b > c"}\'',
  'python3 -c "class A: pass"',
  'python3 -c "print(1 > 0)"',
  'python3 -c \'import json; print(json.load(open("package.json"))["name"])\'',
  "python3 - <<'EOF'\nimport re\nprint(re.sub('a', 'b', open('README.md').read()) > '')\nEOF",
  "python3 <<'EOF'\nwith open('src/api/users.ts') as f:\n    print(len(f.read()))\nEOF",
  'node -e "x > y"',
  'node -e "const x = () => 1; console.log(x() > 0)"',
  'node -p \'require("./package.json").version\'',
  "node --input-type=module -e \"import fs from 'fs'; console.log(fs.readdirSync('.'))\"",
  "node <<'EOF'\nconsole.log([1, 2].map((n) => n * 2));\nEOF",
  "ruby -e 'puts 1 > 0'",
  'git status --short',
  'git log --oneline -10',
  'git log -p -- src/ui/a.tsx | head -100',
  'git diff',
  'git diff HEAD~1 --stat',
  'git diff main...HEAD -- src',
  'git show HEAD:README.md',
  'git show main:src/ui/a.tsx | sed -n 1,10p',
  'git blame -L 1,10 README.md',
  'git branch -a',
  'git stash list',
  'git add src/api/users.ts',
  'git add src/api/users.ts src/api/orders.ts && git commit -m "Add users" -- src/api',
  'git commit -m "$(cat <<\'EOF\'\nAdd users\n\nThe list > the page; git stash\nEOF\n)" -- src/api/users.ts',
  'git checkout -- src/api/users.ts',
  'git restore src/api/users.ts',
  'git restore --staged src/api/users.ts',
  'git reset src/api/users.ts',
  'git rev-parse --abbrev-ref HEAD',
  'git ls-files | grep test',
  'git fetch origin && git merge-base main HEAD',
  'git grep -n "createUser" -- "*.ts"',
  'git push origin HEAD',
  'git -c core.pager=cat log -1',
  'cd /tmp && git clone https://example.com/x.git && cd x && git checkout main',
  'cd vendor/lib && git pull',
  "cat > src/api/users.ts <<'EOF'\nexport const users = (n: number) => n > 0;\nEOF",
  'cat >> src/api/orders.ts << EOF\nexport const total = `${1}`;\nEOF',
  'echo "export {};" > src/api/new.ts',
  'mkdir -p src/api/v2 && touch src/api/v2/index.ts',
  'mv src/api/users.ts src/api/people.ts',
  'cp src/ui/a.tsx src/api/a.ts',
  'rm -f src/api/orders.ts',
  "sed -i 's/users/people/g' src/api/*.ts",
  "cd src/api && sed -i 's/a/b/' users.ts && cd -",
  'cd src/api; ls; cat users.ts',
  '(cd src/ui && npm test)',
  'node server.js > /tmp/server.log 2>&1 &',
  'sleep 2; tail -5 /tmp/server.log; kill %1',
  "lsof -i :3000 | awk 'NR > 1 { print $2 }' | xargs kill",
  'ps aux | grep node | grep -v grep',
  'export NODE_ENV=test && npm test',
  'source .venv/bin/activate && pip list',
  'which node; node --version; command -v jq',
  'for f in src/api/*.ts; do echo "$f"; wc -l "$f"; done',
  'while ! curl -s localhost:3000; do sleep 1; done',
  'if [ -f package.json ]; then cat package.json; fi',
  '[ -d src/ui ] && echo yes || echo no',
  'test 1 -gt 0',
  '[[ "$a" > "$b" ]] && echo later',
  'i=0; (( i > 3 )) || echo small',
  "echo 'a > b' | tr '>' '<'",
  'printf "%s\\n" "x > y" | cat',
  'tsc --noEmit; echo "exit: $?"',
  'timeout 60 npm test || true',
  'time npm run build 2>&1 | tail -5',
  "psql -c 'select * from users where id > 3'",
  'sqlite3 app.db ".tables"',
  'tar -tzf a.tgz | head',
  'date +%s; env | sort | head',
  "bash -c 'npm test | tail -5'",
];

test(`${EVERYDAY.length} everyday commands write nothing of others`, () => {
  const problems = EVERYDAY.flatMap((command) => {
    const { git } = obviousWrites(command, place);
    const foreign = read(command).filter((path) => !/^(?:src\/api\/|\/tmp\/)/.test(path));
    return foreign.length > 0 || git !== null ? [`${command}: ${foreign.join(', ')} ${git}`] : [];
  });
  assert.deepEqual(problems, []);
});

test('the first refused call of git comes with its advice', () => {
  const git = (command: string, more: Partial<CommandContext> = {}) =>
    obviousWrites(command, { ...place, ...more }).git;
  assert.match(git('npm test && git add -A; git stash') ?? '', /^git add: it adds .* Add your own: git add src\/api$/);
  assert.match(git('git commit -am "$MESSAGE"') ?? '', /^git commit: /);
  assert.match(git('cd src && git checkout .') ?? '', /^git checkout: /);
  assert.match(git('git -C src stash') ?? '', /^git stash: /);
  assert.match(git("bash -c 'git pull'") ?? '', /^git pull: /);
  assert.match(git('sudo git clean -fd') ?? '', /^git clean: /);
  assert.match(git('GIT_EDITOR=true git rebase main') ?? '', /^git rebase: /);
  for (const command of [
    'git add "$FILE"',
    'git $X',
    'git',
    'echo git stash',
    'cd /tmp && git stash',
    'cd "$X" && git stash',
    'git -C "$X" stash',
    'git -C /tmp stash',
    'git --git-dir=/tmp/x.git stash',
    'git -C vendor/lib pull',
  ])
    assert.equal(git(command), null, command);
  assert.equal(git('git stash', { rows: [] }), null);
});

test('of the table of commands, only what may not run by itself is refused without need', () => {
  const template = createTemplate();
  try {
    const { project, outside } = copyTemplate(template.root, 'read');
    const root = realpathSync(project);
    const refused = COMMANDS.filter(({ command }) => {
      const text = command.replaceAll('@P@', root).replaceAll('@O@', outside);
      const { writes } = obviousWrites(text, { cwd: root, home: join(outside, 'home'), root, rows: [] });
      const inside = writes.map(({ path }) => relative(root, path)).filter((path) => !path.startsWith('..'));
      // A directory that exists is no write of `mkdir`.
      return inside.some((path) => !isOwned(path) && !['src', 'scripts'].includes(path));
    });
    assert.deepEqual(
      refused.flatMap(({ command, verdict }) => (verdict === 'allow' ? [command] : [])),
      ['true || echo x > src/components/x', 'false && touch src/components/x', 'exit 0; touch src/components/x'],
    );
    assert.ok(refused.length > 140, `only ${refused.length} are refused`);
  } finally {
    template.remove();
  }
});

test('any text is read without an error', () => {
  const word = fc.constantFrom(
    ...[
      'rm',
      'cp',
      'mv',
      'sed',
      'git',
      'cd',
      'env',
      'sudo',
      'bash',
      'tee',
      'checkout',
      '-C',
      '-i',
      '-c',
      '-t',
      '--',
      '-',
    ],
    ...[
      'a',
      '*',
      '?',
      '~',
      '>',
      '>&',
      '<<E\n',
      '\n',
      '|',
      '||',
      '&&',
      ';',
      '&',
      '(',
      ')',
      '{',
      '}',
      '$(',
      '`',
      '"',
      "'",
    ],
    ...[
      '$x',
      '${',
      '[[',
      '((',
      '))',
      'if',
      'then',
      'fi',
      'for',
      'case',
      'esac',
      '--target-directory',
      '--__proto__',
      '',
    ],
  );
  const line = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(fc.oneof(line, fc.string({ unit: 'binary', maxLength: 60 })), (text) => {
      for (const { path } of obviousWrites(text, place).writes) assert.ok(path.startsWith('/'));
    }),
    { numRuns: 1_000 },
  );
  for (const text of ['(', '{ ', '$(', '"$(', 'if x; then ', '! '])
    for (const end of ['', ')', '; }']) obviousWrites(`${text.repeat(3_000)}touch a${end.repeat(3_000)}`, place);
});
