// What operations say to models, as it is said to people at a shell.

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bSendMessage \{"recipient":"all","type":"shutdown_request","content":"[^"]*"\}/g, '`tool team shutdown`'],
  [/\bSendMessage shutdown_request to all\b/g, '`tool team shutdown`'],
  [/\bTeamDelete with "force": true/g, '`tool team delete <team> --force`'],
  [/\bTeamDelete \{"team_name":"([^"]+)"\}/g, '`tool team delete $1`'],
  [/\bTeamDelete\b(?! fails)/g, '`tool team delete <team>`'],
  [/\bcreate one with TeamCreate\b/g, '`tool team create <team>` creates one'],
  [/\bsay which with "team_name"/g, 'say which with --team <name>'],
  [/\bask it with SendMessage\b/g, 'ask it with `tool team send`'],
  [/\bby FileLease with "release": true/g, 'by `tool team lease <path> --release`'],
  [/\b([Ss])end (\S+) a change_request/g, '$1end it with `tool team send $2 change_request`'],
  [/\bwith Task\b(?! \{)/g, 'with `tool team spawn`'],
];

/** Names of tools and their parameters give way to the commands that do the same. */
export function shellWords(text: string): string {
  return WORDS.reduce((words, [said, typed]) => words.replace(said, typed), text);
}
