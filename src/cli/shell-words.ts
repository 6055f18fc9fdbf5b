// Messages of operations, written for models, in words for people at a shell.

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bSendMessage \{"recipient":"all","type":"shutdown_request","content":"[^"]*"\}/g, '`tool team shutdown`'],
  [/\bTeamDelete \{"team_name":"([^"]+)","force":true\}/g, '`tool team delete $1 --force`'],
  [/\bTeamDelete \{"team_name":"([^"]+)"\}/g, '`tool team delete $1`'],
  [/\bTeamDelete\b(?! fails)/g, '`tool team delete <team>`'],
  [/\bcreate one with TeamCreate\b/g, '`tool team create <team>` creates one'],
  [/\bcreate a team with TeamCreate\b/g, 'create a team with `tool team create <team>`'],
  [/\b([Nn])ame one of them as "team_name"/g, '$1ame one of them with --team <name>'],
  [/\b([Aa])sk (it|team-lead) with SendMessage\b/g, '$1sk $2 with `tool team send`'],
  [/\bwith FileLease \{"path":"([^"]+)","release":true\}/g, 'with `tool team lease $1 --release`'],
  [
    /\bwith Task \{[^}]*\}, (?:one call each, )?then make the calls? that (?:it returns|they return, all in one message)/g,
    'with `tool team spawn`',
  ],
  [/\b([Ss])end (\S+) a change_request/g, '$1end it with `tool team send $2 change_request`'],
  [/\bwith Task\b(?! \{)/g, 'with `tool team spawn`'],
];

/** Names of tools and their parameters give way to the commands that do the same. */
export function shellWords(text: string): string {
  return WORDS.reduce((words, [said, typed]) => words.replace(said, typed), text);
}
