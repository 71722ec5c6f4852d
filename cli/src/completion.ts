import type { Command } from 'commander';
import { WrongUse } from './wrong-use.ts';

const SHELLS: Readonly<Record<string, (program: Command) => string>> = {
  ...{ bash, zsh, fish, powershell },
};

export function completion(program: Command, shell: string): string {
  const write = SHELLS[shell];
  if (write === undefined) throw new WrongUse(`Supported shells: bash, zsh, fish and powershell.`);
  return write(program);
}

interface Words {
  readonly name: string;
  readonly about: string;
  readonly options: readonly string[];
}

function wordsOf(program: Command): Words[] {
  const shared = program.options.map(({ long }) => long ?? '');
  return program.commands.map((command) => ({
    name: command.name(),
    about: command.description(),
    options: [...command.options.map(({ long }) => long ?? ''), ...shared],
  }));
}

function bash(program: Command): string {
  const commands = wordsOf(program);
  const cases = commands
    .map(({ name, options }) => `    ${name}) words="${options.join(' ')}" ;;`)
    .join('\n');
  return `_tapline() {
  local words
  case "\${COMP_WORDS[1]}" in
${cases}
    *) words="${commands.map(({ name }) => name).join(' ')}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tapline tapline`;
}

function zsh(program: Command): string {
  const commands = wordsOf(program);
  const names = commands.map(({ name, about }) => `    '${name}:${plain(about)}'`);
  const cases = commands.map(
    ({ name, options }) => `    ${name}) compadd -- ${options.join(' ')} ;;`,
  );
  return `#compdef tapline
_tapline() {
  local -a commands
  commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${cases.join('\n')}
  esac
}
compdef _tapline tapline`;
}

function fish(program: Command): string {
  return wordsOf(program)
    .flatMap(({ name, about, options }) => [
      `complete -c tapline -n __fish_use_subcommand -f -a ${name} -d '${plain(about)}'`,
      ...options.map(
        (option) =>
          `complete -c tapline -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`,
      ),
    ])
    .join('\n');
}

/**
 * Returns the completion script for PowerShell on any system. npm also installs the command as
 * `tapline.ps1`.
 */
function powershell(program: Command): string {
  const commands = wordsOf(program);
  const list = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ');
  const cases = commands.map(({ name, options }) => `    '${name}' = @(${list(options)})`);
  return `Register-ArgumentCompleter -Native -CommandName tapline, tapline.ps1 -ScriptBlock {
  param($word, $line, $cursor)
  $commands = @(${list(commands.map(({ name }) => name))})
  $options = @{
${cases.join('\n')}
  }
  $given = @($line.CommandElements | ForEach-Object { $_.ToString() })
  $command = if ($given.Count -gt 1) { $given[1] } else { '' }
  $words = $commands
  if ($options.ContainsKey($command) -and $word -ne $command) { $words = $options[$command] }
  $words | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`;
}

/** Removes characters that would end a quoted string. */
function plain(words: string): string {
  return words.replaceAll("'", '');
}
